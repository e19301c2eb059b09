// tactus mesh FILE: describes the contents of a mesh file, as text or as JSON.
#include "apps/commands/commands.h"
#include "apps/session/json.h"
#include "apps/session/options.h"
#include "apps/session/units.h"
#include "collision/mesh_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
// Surfaces beyond these are only counted; JSON lists all.
#define LISTED_SURFACES 20

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_json(const char *path, const tac_mesh *m, double scale)
{
	printf("{\"file\": ");
	json_print_string(stdout, path);
	printf(", \"triangles\": %d, \"vertices\": %d, \"edges\": %d", m->triangle_count, m->vertex_count,
	       m->edge_count);
	printf(", \"open_edges\": %d, \"non_manifold_edges\": %d, \"flipped_edges\": %d", m->open_edges,
	       m->non_manifold_edges, m->flipped_edges);
	printf(", \"degenerate_triangles\": %d, \"duplicate_triangles\": %d", m->degenerate_triangles,
	       m->duplicate_triangles);
	printf(", \"welded_vertices\": %d, \"unused_vertices\": %d", m->welded_vertices, m->unused_vertices);
	printf(", \"watertight\": %s", tac_mesh_is_watertight(m) ? "true" : "false");
	const tac_dvec3 low = tac_dvec3_scale(tac_dvec3_from_vec3(m->bounds_min), scale),
			high = tac_dvec3_scale(tac_dvec3_from_vec3(m->bounds_max), scale);
	printf(", \"bounds_min\": [%.9g, %.9g, %.9g], \"bounds_max\": [%.9g, %.9g, %.9g]", low.x, low.y,
	       low.z, high.x, high.y, high.z);
	printf(", \"area_m2\": %.9g", scale * scale * tac_mesh_area(m));
	if (tac_mesh_is_watertight(m))
		printf(", \"volume_m3\": %.9g", scale * scale * scale * tac_mesh_volume(m));
	else
		printf(", \"volume_m3\": null");
	printf(", \"surfaces\": [");
	for (int32_t i = 0; i < m->surface_count; i++) {
		printf("%s{\"name\": ", i ? ", " : "");
		json_print_string(stdout, m->surfaces[i].name);
		printf(", \"triangles\": %d}", m->surfaces[i].triangle_count);
	}
	printf("], \"scale\": %.9g, \"plausible_scale\": %.9g}\n", scale,
	       scale * tac_mesh_plausible_scale(scale * tac_mesh_size(m)));
}

// What the mesh is good for, and what to do about its faults.
static void print_verdict(const tac_mesh *m, double scale)
{
	const int32_t faulty = m->non_manifold_edges + m->flipped_edges;
	char hint[160];
	printf("  verdict     ");
	if (tac_mesh_is_watertight(m) && tac_mesh_volume(m) > 0)
		printf("a closed solid, ready to be touched\n");
	else if (tac_mesh_is_watertight(m))
		printf("closed, but it faces inwards: turn its triangles over in a mesh editor\n");
	else if (m->open_edges > 0)
		printf("a surface with %d open edge%s: it can be touched, but a tool may get through the "
		       "holes\n",
		       m->open_edges, plural(m->open_edges));
	else
		printf("a surface with %d faulty edge%s: it can be touched, but its inside is not known\n",
		       faulty, plural(faulty));
	units_hint(scale * tac_mesh_size(m), hint, sizeof hint);
	if (hint[0])
		printf("              %s\n", hint);
}

static void print_surfaces(const tac_mesh *m, bool by_crease, double crease_deg)
{
	printf("  surfaces    %d", m->surface_count);
	if (by_crease)
		printf(" (the file names no parts: divided at edges sharper than %g degrees, see --crease)",
		       crease_deg);
	printf("\n");
	for (int32_t i = 0; i < m->surface_count && i < LISTED_SURFACES; i++)
		printf("    %-4d %s%s%d triangle%s\n", i, m->surfaces[i].name,
		       m->surfaces[i].name[0] ? ", " : "", m->surfaces[i].triangle_count,
		       plural(m->surfaces[i].triangle_count));
	if (m->surface_count > LISTED_SURFACES)
		printf("    and %d more; --json lists all\n", m->surface_count - LISTED_SURFACES);
}

static void print_text(const char *path, const tac_mesh *m, double scale, double crease_deg)
{
	char length[3][UNITS_TEXT];
	bool named = false;
	for (int32_t i = 0; i < m->surface_count; i++)
		named |= m->surfaces[i].name[0] != '\0';
	printf("%s\n", path);
	printf("  triangles   %d", m->triangle_count);
	printf(" (%d degenerate dropped, %d duplicate%s kept)\n", m->degenerate_triangles,
	       m->duplicate_triangles, plural(m->duplicate_triangles));
	printf("  vertices    %d", m->vertex_count);
	printf(" (%d welded, %d unused dropped)\n", m->welded_vertices, m->unused_vertices);
	printf("  edges       %d (%d open, %d non-manifold, %d flipped)\n", m->edge_count, m->open_edges,
	       m->non_manifold_edges, m->flipped_edges);
	const tac_dvec3 low = tac_dvec3_scale(tac_dvec3_from_vec3(m->bounds_min), scale),
			high = tac_dvec3_scale(tac_dvec3_from_vec3(m->bounds_max), scale);
	const tac_dvec3 size = tac_dvec3_sub(high, low);
	printf("  size        %s x %s x %s (scale %g)\n", units_length(size.x, length[0]),
	       units_length(size.y, length[1]), units_length(size.z, length[2]), scale);
	printf("  bounds      %.6g %.6g %.6g to %.6g %.6g %.6g m\n", low.x, low.y, low.z, high.x, high.y,
	       high.z);
	printf("  area        %.6g m^2\n", scale * scale * tac_mesh_area(m));
	if (tac_mesh_is_watertight(m))
		printf("  volume      %.6g m^3\n", scale * scale * scale * tac_mesh_volume(m));
	printf("  watertight  %s\n", tac_mesh_is_watertight(m) ? "yes" : "no");
	print_surfaces(m, !named && m->surface_count > 1, crease_deg);
	char confinement[256];
	tac_mesh_load_confinement(confinement, sizeof confinement);
	printf("  importer    %s\n", confinement);
	print_verdict(m, scale);
}

int cmd_mesh(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false;
	double crease_deg = 30, scale = (double)NAN;
	int units = 0;
	const option_def options[] = {
		{"file", OPTION_POSITIONAL, &path, 0, 0, NULL, "FILE",
		 "a mesh file in OBJ, STL, PLY, OFF, glTF, GLB, 3MF or another format of assimp"},
		{"units", OPTION_CHOICE, &units, 0, 0, units_names, NULL,
		 "the unit of the file's lengths; auto: metres"},
		{"scale", OPTION_NUMBER, &scale, UNITS_SCALE_MIN, UNITS_SCALE_MAX, NULL, "FACTOR",
		 "metres per unit of the file, instead of --units"},
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{"crease", OPTION_NUMBER, &crease_deg, 0, 180, NULL, "DEGREES",
		 "if the file names no parts, divide it into surfaces at edges sharper than this angle"},
		{0},
	};
	const command_line line = {"tactus mesh", "describe a mesh file", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	if (!units_parse(line.command, units, scale, &scale))
		return EXIT_BAD_INPUT;
	scale = scale > 0 ? scale : 1;

	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.crease_angle_rad = crease_deg * PI / 180;
	tac_mesh *mesh;
	if (tac_mesh_load(path, &def, &mesh) < 0)
		return EXIT_BAD_INPUT;
	if (json)
		print_json(path, mesh, scale);
	else
		print_text(path, mesh, scale, crease_deg);
	tac_mesh_destroy(&mesh);
	return EXIT_SUCCESS;
}
