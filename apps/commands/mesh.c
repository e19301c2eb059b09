// tactus mesh FILE: describes the contents of a mesh file, as text or as JSON.
#include "apps/commands/commands.h"
#include "apps/session/json.h"
#include "apps/session/options.h"
#include "collision/mesh_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
// Surfaces beyond these are only counted; JSON lists all.
#define LISTED_SURFACES 20

static void print_json(const char *path, const tac_mesh *m)
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
	printf(", \"bounds_min\": [%.9g, %.9g, %.9g], \"bounds_max\": [%.9g, %.9g, %.9g]",
	       (double)m->bounds_min.x, (double)m->bounds_min.y, (double)m->bounds_min.z,
	       (double)m->bounds_max.x, (double)m->bounds_max.y, (double)m->bounds_max.z);
	printf(", \"area_m2\": %.9g", tac_mesh_area(m));
	if (tac_mesh_is_watertight(m))
		printf(", \"volume_m3\": %.9g", tac_mesh_volume(m));
	else
		printf(", \"volume_m3\": null");
	printf(", \"surfaces\": [");
	for (int32_t i = 0; i < m->surface_count; i++) {
		printf("%s{\"name\": ", i ? ", " : "");
		json_print_string(stdout, m->surfaces[i].name);
		printf(", \"triangles\": %d}", m->surfaces[i].triangle_count);
	}
	printf("]}\n");
}

static void print_text(const char *path, const tac_mesh *m)
{
	printf("%s\n", path);
	printf("  triangles   %d", m->triangle_count);
	printf(" (%d degenerate dropped, %d duplicates kept)\n", m->degenerate_triangles,
	       m->duplicate_triangles);
	printf("  vertices    %d", m->vertex_count);
	printf(" (%d welded, %d unused dropped)\n", m->welded_vertices, m->unused_vertices);
	printf("  edges       %d (%d open, %d non-manifold, %d flipped)\n", m->edge_count, m->open_edges,
	       m->non_manifold_edges, m->flipped_edges);
	printf("  bounds      %.6g %.6g %.6g to %.6g %.6g %.6g m\n", (double)m->bounds_min.x,
	       (double)m->bounds_min.y, (double)m->bounds_min.z, (double)m->bounds_max.x,
	       (double)m->bounds_max.y, (double)m->bounds_max.z);
	printf("  area        %.6g m^2\n", tac_mesh_area(m));
	if (tac_mesh_is_watertight(m))
		printf("  volume      %.6g m^3\n", tac_mesh_volume(m));
	printf("  watertight  %s\n", tac_mesh_is_watertight(m) ? "yes" : "no");
	printf("  surfaces    %d\n", m->surface_count);
	for (int32_t i = 0; i < m->surface_count && i < LISTED_SURFACES; i++)
		printf("    %-4d %s%s%d triangles\n", i, m->surfaces[i].name,
		       m->surfaces[i].name[0] ? ", " : "", m->surfaces[i].triangle_count);
	if (m->surface_count > LISTED_SURFACES)
		printf("    and %d more; --json lists all\n", m->surface_count - LISTED_SURFACES);
	char confinement[256];
	tac_mesh_load_confinement(confinement, sizeof confinement);
	printf("  importer    %s\n", confinement);
}

int cmd_mesh(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false;
	double crease_deg = 30;
	const option_def options[] = {
		{"file", OPTION_POSITIONAL, &path, 0, 0, NULL, "FILE",
		 "a mesh file in OBJ, STL, PLY, OFF, glTF, GLB, 3MF or another format of assimp; lengths in "
		 "metres"},
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{"crease", OPTION_NUMBER, &crease_deg, 0, 180, NULL, "DEGREES",
		 "if the file names no parts, divide it into surfaces at edges sharper than this angle"},
		{0},
	};
	const command_line line = {"tactus mesh", "describe a mesh file", options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;

	tac_mesh_load_def def = tac_mesh_load_def_default();
	def.crease_angle_rad = crease_deg * PI / 180;
	tac_mesh *mesh;
	if (tac_mesh_load(path, &def, &mesh) < 0)
		return EXIT_BAD_INPUT;
	if (json)
		print_json(path, mesh);
	else
		print_text(path, mesh);
	tac_mesh_destroy(&mesh);
	return EXIT_SUCCESS;
}
