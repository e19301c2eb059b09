#include "apps/session/mesh_scene.h"

#include "apps/session/options.h"
#include "apps/session/units.h"
#include "collision/mesh_load.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMFORTABLE_M 0.1   // size of a scene that needs no scaling of the device's workspace
#define PRESS_M       0.01  // how far the hand aims below the surface, in the device's frame
#define CLEAR_M       0.02  // how far above it the path begins and ends
#define BALL_M        0.003 // radius of the ball, in the device's frame
#define COLUMNS       15    // of the grid on which the hand looks for the surface, along x and y

// The largest extents for which the workspace is not scaled, as factors of COMFORTABLE_M.
#define UNSCALED_MIN 0.5
#define UNSCALED_MAX 1.5

typedef struct meshes {
	tac_mesh *objects[TAC_SCENE_OBJECTS];
	double scales[TAC_SCENE_OBJECTS]; // metres per unit of each file
	int32_t count;
	tac_mesh *tool;        // NULL: the ball
	double tool_scale;     // metres per unit of the tool's file
	tac_dvec3 low, high;   // bounds of the objects in the files' common frame, m
	double workspace;      // of the mapping from device to world
	tac_dvec3 to_centre_m; // from the files' frame, scaled, to the world
	double tool_below_m;   // from the tool's origin down to its lowest point
	tac_dvec3 tool_to_centre_m;
} meshes;

// ---- files ----

static bool load(const char *path, tac_mesh **out_mesh)
{
	if (strlen(path) >= TAC_SCENE_TEXT || strpbrk(path, "\"\\\n")) {
		fprintf(stderr,
			"tactus: %s: expected a mesh file whose path has fewer than %d characters, without "
			"quotes, backslashes and line breaks\n",
			path, TAC_SCENE_TEXT);
		return false;
	}
	return tac_mesh_load(path, NULL, out_mesh) >= TAC_OK;
}

static bool load_all(const mesh_scene_def *def, meshes *m)
{
	for (int32_t i = 0; i < def->file_count; i++) {
		if (!load(def->files[i], &m->objects[i]))
			return false;
		m->count = i + 1;
	}
	return !def->tool || load(def->tool, &m->tool);
}

static void unload(meshes *m)
{
	for (int32_t i = 0; i < m->count; i++)
		tac_mesh_destroy(&m->objects[i]);
	tac_mesh_destroy(&m->tool);
}

// ---- size ----

// The bounds of the objects whose `scales` are above 0 or, with `unscaled`, of the others in units of the
// files. False: there are none.
static bool find_bounds(const meshes *m, const double *scales, bool unscaled, tac_dvec3 *out_low,
			tac_dvec3 *out_high)
{
	bool found = false;
	for (int32_t i = 0; i < m->count; i++) {
		if ((scales[i] > 0) == unscaled)
			continue;
		const double scale = unscaled ? 1 : scales[i];
		const tac_dvec3 low = tac_dvec3_scale(tac_dvec3_from_vec3(m->objects[i]->bounds_min), scale),
				high = tac_dvec3_scale(tac_dvec3_from_vec3(m->objects[i]->bounds_max), scale);
		*out_low = found ? tac_dvec3_min(*out_low, low) : low;
		*out_high = found ? tac_dvec3_max(*out_high, high) : high;
		found = true;
	}
	return found;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(char note[MESH_SCENE_NOTE], const char *format, ...)
{
	const size_t used = strlen(note);
	va_list args;
	va_start(args, format);
	vsnprintf(note + used, MESH_SCENE_NOTE - used, format, args);
	va_end(args);
}

static const char *reason(double scale)
{
	return scale == 1 ? "metres" : scale == 1e-3 ? "taken as millimetres" : "chosen for the hand";
}

// Files without a scale of their own get one together, because they lie in one frame.
static void choose_scales(const mesh_scene_def *def, meshes *m, char out_note[MESH_SCENE_NOTE])
{
	char length[3][UNITS_TEXT];
	tac_dvec3 low, high;
	double common = 0;
	bool equal = true;
	out_note[0] = '\0';
	if (find_bounds(m, def->scales, true, &low, &high))
		common = tac_mesh_plausible_scale(tac_dvec3_max_component(tac_dvec3_sub(high, low)));
	for (int32_t i = 0; i < m->count; i++) {
		m->scales[i] = def->scales[i] > 0 ? def->scales[i] : common;
		equal = equal && def->scales[i] == def->scales[0];
	}
	const char *how = m->count == 1 ? "--units or --scale" : "--units, --scale or FILE@UNIT";
	for (int32_t i = 0; i < (equal ? 1 : m->count); i++) {
		append(out_note, "%s%.6g", i > 0 ? ", " : equal ? "scale " : "scales ", m->scales[i]);
		if (def->scales[i] > 0)
			append(out_note, " (as given)");
		else
			append(out_note, " (%s; %s changes it)", reason(m->scales[i]), how);
	}
	find_bounds(m, m->scales, false, &m->low, &m->high);
	const tac_dvec3 size = tac_dvec3_sub(m->high, m->low);
	for (int i = 0; i < 3; i++)
		units_length(tac_dvec3_get(size, i), length[i]);
	append(out_note, ": %s x %s x %s", length[0], length[1], length[2]);
}

static void choose_tool_scale(const mesh_scene_def *def, meshes *m, char note[MESH_SCENE_NOTE])
{
	char length[UNITS_TEXT];
	const tac_dvec3 low = tac_dvec3_from_vec3(m->tool->bounds_min),
			high = tac_dvec3_from_vec3(m->tool->bounds_max);
	const double tool_size = tac_dvec3_max_component(tac_dvec3_sub(high, low));
	// A tool in other units than the objects: 0.01 m beside 64 mm would be 10 um.
	const bool fits = tac_mesh_plausible_scale(m->scales[0] * tool_size) == 1;
	m->tool_scale = def->tool_scale > 0 ? def->tool_scale
			: fits              ? m->scales[0]
					    : tac_mesh_plausible_scale(tool_size);
	m->tool_to_centre_m = tac_dvec3_scale(tac_dvec3_add(low, high), -0.5 * m->tool_scale);
	m->tool_below_m = 0.5 * m->tool_scale * (high.z - low.z);
	if (m->tool_scale != m->scales[0])
		append(note, "; scale of the tool %.6g: %s", m->tool_scale,
		       units_length(m->tool_scale * tool_size, length));
}

static void choose_sizes(const mesh_scene_def *def, meshes *m, char out_note[MESH_SCENE_NOTE])
{
	choose_scales(def, m, out_note);
	const double largest = tac_dvec3_max_component(tac_dvec3_sub(m->high, m->low));
	const double comfort = largest / COMFORTABLE_M;
	m->workspace =
		comfort >= UNSCALED_MIN && comfort <= UNSCALED_MAX ? 1 : fmin(fmax(comfort, 1e-3), 1e3);
	m->to_centre_m = tac_dvec3_scale(tac_dvec3_add(m->low, m->high), -0.5);
	m->tool_below_m = BALL_M * m->workspace;
	if (m->tool)
		choose_tool_scale(def, m, out_note);
}

// ---- aim ----

// A corner of a triangle in the files' common frame, m.
static tac_dvec3 corner(const meshes *m, int32_t object, int32_t triangle, int k)
{
	const tac_mesh *mesh = m->objects[object];
	const tac_vec3 vertex = mesh->vertices[mesh->triangles[triangle].vertex[k]];
	return tac_dvec3_scale(tac_dvec3_from_vec3(vertex), m->scales[object]);
}

// Height of the triangle above the point (x, y), m. False: it is not above that point.
static bool height_above(const tac_dvec3 v[3], double x, double y, double *out_z)
{
	double weight[3], sum = 0, z = 0;
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 a = v[(k + 1) % 3], b = v[(k + 2) % 3];
		weight[k] = (a.x - x) * (b.y - y) - (b.x - x) * (a.y - y);
		sum += weight[k];
		z += weight[k] * v[k].z;
	}
	if (sum == 0)
		return false;
	for (int k = 0; k < 3; k++) {
		if (weight[k] / sum < 0)
			return false;
	}
	*out_z = z / sum;
	return true;
}

// The highest surface in each column of a grid over the bounds, m; -HUGE_VAL: none.
typedef struct heights {
	double z[COLUMNS][COLUMNS];
} heights;

static double column_x(const meshes *m, int i)
{
	return m->low.x + (m->high.x - m->low.x) * (i + 0.5) / COLUMNS;
}

static double column_y(const meshes *m, int j)
{
	return m->low.y + (m->high.y - m->low.y) * (j + 0.5) / COLUMNS;
}

// The first and last of the columns that lie between `low` and `high`, of an extent that begins at `begin`.
static void column_range(double begin, double extent, double low, double high, int *out_first, int *out_last)
{
	const double per_column = extent > 0 ? COLUMNS / extent : 0;
	*out_first = (int)fmax(floor((low - begin) * per_column - 0.5), 0);
	*out_last = (int)fmin(ceil((high - begin) * per_column), COLUMNS - 1);
}

static void look_down_on(const meshes *m, int32_t object, heights *h)
{
	const tac_dvec3 size = tac_dvec3_sub(m->high, m->low);
	for (int32_t t = 0; t < m->objects[object]->triangle_count; t++) {
		tac_dvec3 v[3], low = m->high, high = m->low;
		for (int k = 0; k < 3; k++) {
			v[k] = corner(m, object, t, k);
			low = tac_dvec3_min(low, v[k]);
			high = tac_dvec3_max(high, v[k]);
		}
		int i0, i1, j0, j1;
		column_range(m->low.x, size.x, low.x, high.x, &i0, &i1);
		column_range(m->low.y, size.y, low.y, high.y, &j0, &j1);
		double z;
		for (int i = i0; i <= i1; i++) {
			for (int j = j0; j <= j1; j++) {
				if (height_above(v, column_x(m, i), column_y(m, j), &z) && z > h->z[i][j])
					h->z[i][j] = z;
			}
		}
	}
}

// The column with a surface that is nearest to (i, j), measured in columns; the middle one if none has any.
static void nearest_column(const heights *h, int i, int j, int *out_i, int *out_j)
{
	double least = HUGE_VAL;
	*out_i = *out_j = COLUMNS / 2;
	for (int a = 0; a < COLUMNS; a++) {
		for (int b = 0; b < COLUMNS; b++) {
			const double distance = hypot(a - i, b - j);
			if (isfinite(h->z[a][b]) && distance < least) {
				least = distance;
				*out_i = a;
				*out_j = b;
			}
		}
	}
}

// The tool's origin in the world, with the tool `above_m` over the surface in the column.
static tac_dvec3 over_column(const meshes *m, const heights *h, int i, int j, double above_m)
{
	const double z = isfinite(h->z[i][j]) ? h->z[i][j] : m->high.z;
	const tac_dvec3 surface = tac_dvec3_make(column_x(m, i), column_y(m, j), z);
	return tac_dvec3_add(tac_dvec3_add(surface, m->to_centre_m),
			     tac_dvec3_make(0, 0, m->tool_below_m + above_m));
}

static void write_point(FILE *file, double time_s, tac_dvec3 at)
{
	fprintf(file, "  - {time_s: %g, position_m: [%.9g, %.9g, %.9g]}\n", time_s, at.x, at.y, at.z);
}

// Down to the surface near the middle, around it through four points, and up again.
static void write_hand(FILE *file, const meshes *m)
{
	static const int stroke[][2] = {{0, 0}, {3, 0}, {0, 3}, {-3, 0}, {0, -3}, {0, 0}};
	heights h;
	for (int i = 0; i < COLUMNS; i++) {
		for (int j = 0; j < COLUMNS; j++)
			h.z[i][j] = -HUGE_VAL;
	}
	for (int32_t i = 0; i < m->count; i++)
		look_down_on(m, i, &h);
	int i, j;
	nearest_column(&h, COLUMNS / 2, COLUMNS / 2, &i, &j);
	const int from_i = i, from_j = j;
	double time_s = 0;
	fprintf(file, "  hand:\n");
	write_point(file, time_s, over_column(m, &h, i, j, CLEAR_M * m->workspace));
	for (size_t k = 0; k < sizeof stroke / sizeof stroke[0]; k++) {
		time_s += 1.5;
		nearest_column(&h, from_i + stroke[k][0], from_j + stroke[k][1], &i, &j);
		write_point(file, time_s, over_column(m, &h, i, j, -PRESS_M * m->workspace));
	}
	write_point(file, time_s + 1, over_column(m, &h, from_i, from_j, CLEAR_M * m->workspace));
}

// ---- the scene ----

// The file's name without folder and ending, as the name of an object.
static void write_name(FILE *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const size_t length = strcspn(name, ".");
	if (length == 0)
		fprintf(file, "mesh");
	else
		fprintf(file, "\"%.*s\"", (int)(length < TAC_SCENE_NAME ? length : TAC_SCENE_NAME - 1), name);
}

static void write_mesh_shape(FILE *file, const char *path, double scale, tac_dvec3 position_m)
{
	fprintf(file,
		"  shapes: [{kind: mesh, file: \"%s\", scale: %.17g, position_m: [%.17g, %.17g, %.17g]}]\n",
		path, scale, position_m.x, position_m.y, position_m.z);
}

static void write_tool(FILE *file, const mesh_scene_def *def, const meshes *m)
{
	fprintf(file, "tools:\n- name: %s\n  axes: %d\n", m->tool ? "probe" : "ball", m->tool ? 6 : 3);
	if (m->workspace != 1)
		fprintf(file, "  mapping: {workspace_scale: %.9g}\n", m->workspace);
	if (m->tool)
		write_mesh_shape(file, def->tool, m->tool_scale, m->tool_to_centre_m);
	else
		fprintf(file, "  shapes: [{kind: solids, solids: \"sphere:r=%.9g\"}]\n",
			BALL_M * m->workspace);
	write_hand(file, m);
}

static void write_scene(FILE *file, const mesh_scene_def *def, const meshes *m)
{
	// The hand feels the stiffness times the scale of the workspace (docs/forces.md).
	fprintf(file,
		"scene: a mesh\nmaterials:\n- {name: plain, stiffness_N_per_m: %.9g, "
		"friction_stiffness_N_per_m: %.9g, static_friction: 0.2,\n"
		"   dynamic_friction: 0.15, smooth: true}\n",
		800 / m->workspace, 1000 / m->workspace);
	write_tool(file, def, m);
	fprintf(file, "objects:\n");
	for (int32_t i = 0; i < m->count; i++) {
		fprintf(file, "- name: ");
		write_name(file, def->files[i]);
		fprintf(file, "\n  material: plain\n");
		write_mesh_shape(file, def->files[i], m->scales[i], m->to_centre_m);
	}
	const double w = m->workspace;
	fprintf(file, "cameras: [{name: front, eye_m: [%.9g, %.9g, %.9g]}]\n", 0.05 * w, -0.2 * w, 0.12 * w);
}

int mesh_scene_build(const mesh_scene_def *def, char out_note[MESH_SCENE_NOTE], tac_scene **out_scene)
{
	meshes m = {0};
	int code = EXIT_BAD_INPUT;
	*out_scene = NULL;
	if (load_all(def, &m)) {
		char *text = NULL;
		size_t bytes = 0;
		choose_sizes(def, &m, out_note);
		FILE *file = open_memstream(&text, &bytes);
		if (file) {
			write_scene(file, def, &m);
			if (fclose(file) == 0 && tac_scene_parse(text, bytes, "mesh", out_scene) >= TAC_OK)
				code = EXIT_SUCCESS;
		}
		free(text);
	}
	unload(&m);
	return code;
}
