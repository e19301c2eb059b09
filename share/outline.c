#include "share/outline.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 64 // along the longest side

// What a body may take of the outline.
typedef struct room {
	int32_t vertices, triangles;
} room;

// Sums of the vertices in each cell.
typedef struct cell {
	double sum[3];
	int32_t count;
	int32_t vertex; // of the outline's body
} cell;

static void add_exact(tac_outline *o, tac_outline_body *b, const tac_mesh *mesh)
{
	b->vertex_count = mesh->vertex_count;
	b->triangle_count = mesh->triangle_count;
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		const tac_vec3 v = mesh->vertices[i];
		memcpy(o->vertices[b->vertex + i], (float[]){v.x, v.y, v.z}, 3 * sizeof(float));
	}
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		for (int k = 0; k < 3; k++)
			o->triangles[b->triangle + i][k] = (uint16_t)mesh->triangles[i].vertex[k];
}

static int32_t cell_along(float value, float from, double size, int32_t cells)
{
	const int32_t number = (int32_t)(((double)value - (double)from) / size);
	return number < 0 ? 0 : number >= cells ? cells - 1 : number;
}

static cell *cell_of(cell *table, const tac_mesh *mesh, int32_t vertex, double size, int32_t cells)
{
	const tac_vec3 v = mesh->vertices[vertex], from = mesh->bounds_min;
	const int32_t x = cell_along(v.x, from.x, size, cells), y = cell_along(v.y, from.y, size, cells),
		      z = cell_along(v.z, from.z, size, cells);
	return &table[((size_t)z * (size_t)cells + (size_t)y) * (size_t)cells + (size_t)x];
}

// False: it does not fit. Writes within the room alone.
static bool add_clustered(tac_outline *o, tac_outline_body *b, const tac_mesh *mesh, cell *table,
			  int32_t cells, room most)
{
	const tac_vec3 side = tac_vec3_sub(mesh->bounds_max, mesh->bounds_min);
	const double size = fmax(fmax((double)side.x, (double)side.y), (double)side.z) / cells;
	const size_t count = (size_t)cells * (size_t)cells * (size_t)cells;
	memset(table, 0, count * sizeof *table);
	b->vertex_count = b->triangle_count = 0;
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		cell *c = cell_of(table, mesh, i, size, cells);
		const tac_vec3 v = mesh->vertices[i];
		c->sum[0] += (double)v.x;
		c->sum[1] += (double)v.y;
		c->sum[2] += (double)v.z;
		c->count++;
	}
	for (size_t i = 0; i < count; i++) {
		cell *c = &table[i];
		if (c->count == 0)
			continue;
		if (b->vertex_count == most.vertices)
			return false;
		c->vertex = b->vertex_count++;
		for (int k = 0; k < 3; k++)
			o->vertices[b->vertex + c->vertex][k] = (float)(c->sum[k] / c->count);
	}
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		int32_t v[3];
		for (int k = 0; k < 3; k++)
			v[k] = cell_of(table, mesh, mesh->triangles[i].vertex[k], size, cells)->vertex;
		if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
			continue;
		if (b->triangle_count == most.triangles)
			return false;
		for (int k = 0; k < 3; k++)
			o->triangles[b->triangle + b->triangle_count][k] = (uint16_t)v[k];
		b->triangle_count++;
	}
	return true;
}

static void add_body(tac_outline *o, tac_outline_body *b, const tac_mesh *mesh, cell *table, room most)
{
	if (!mesh)
		return;
	if (mesh->vertex_count <= most.vertices && mesh->triangle_count <= most.triangles) {
		add_exact(o, b, mesh);
		return;
	}
	for (int32_t cells = CELLS_MAX; cells > 0; cells = cells > 16 ? cells - 16 : cells / 2)
		if (add_clustered(o, b, mesh, table, cells, most))
			return;
	b->vertex_count = b->triangle_count = 0;
}

tac_result tac_outline_make(const tac_world *world, tac_outline *out_outline)
{
	tac_outline *o = out_outline;
	*o = (tac_outline){0};
	cell *table = malloc(sizeof(cell) * CELLS_MAX * CELLS_MAX * CELLS_MAX);
	if (!table) {
		tac_log(TAC_LOG_ERROR, "share: expected memory for the outline of the scene, found none");
		return TAC_ERROR_MEMORY;
	}
	const int32_t tools = world->scene->tool_count, bodies = tools + world->scene->object_count;
	room left = {TAC_OUTLINE_VERTICES, TAC_OUTLINE_TRIANGLES};
	for (int32_t i = 0; i < bodies; i++) {
		const tac_world_body *body = i < tools ? &world->tools[i] : &world->objects[i - tools];
		tac_outline_body *b = &o->bodies[o->body_count++];
		*b = (tac_outline_body){.is_tool = i < tools,
					.vertex = TAC_OUTLINE_VERTICES - left.vertices,
					.triangle = TAC_OUTLINE_TRIANGLES - left.triangles,
					.T_world = i < tools ? tac_dpose_identity()
							     : tac_world_object_pose(world, i - tools, 0)};
		const char *name = body->name ? body->name : "";
		memcpy(b->name, name, strnlen(name, sizeof b->name - 1));
		// Each body gets an equal part of what is left; what it does not need is for those that
		// follow.
		add_body(o, b, body->mesh, table,
			 (room){left.vertices / (bodies - i), left.triangles / (bodies - i)});
		left.vertices -= b->vertex_count;
		left.triangles -= b->triangle_count;
	}
	free(table);
	return TAC_OK;
}

static bool in_range(int32_t first, int32_t count, int32_t most)
{
	return first >= 0 && count >= 0 && first <= most && count <= most - first;
}

static bool body_valid(const tac_outline *o, const tac_outline_body *b)
{
	if (memchr(b->name, 0, sizeof b->name) == NULL || !tac_dvec3_finite(b->T_world.position) ||
	    !isfinite(b->T_world.rotation.x + b->T_world.rotation.y + b->T_world.rotation.z +
		      b->T_world.rotation.w) ||
	    !in_range(b->vertex, b->vertex_count, TAC_OUTLINE_VERTICES) ||
	    !in_range(b->triangle, b->triangle_count, TAC_OUTLINE_TRIANGLES))
		return false;
	for (int32_t i = 0; i < b->vertex_count; i++)
		for (int k = 0; k < 3; k++)
			if (!isfinite(o->vertices[b->vertex + i][k]))
				return false;
	for (int32_t i = 0; i < b->triangle_count; i++)
		for (int k = 0; k < 3; k++)
			if (o->triangles[b->triangle + i][k] >= b->vertex_count)
				return false;
	return true;
}

bool tac_outline_valid(const tac_outline *outline)
{
	if (outline->body_count < 0 || outline->body_count > TAC_OUTLINE_BODIES)
		return false;
	for (int32_t i = 0; i < outline->body_count; i++)
		if (!body_valid(outline, &outline->bodies[i]))
			return false;
	return true;
}
