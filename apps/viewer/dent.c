#include "apps/viewer/dent.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

tac_result viewer_dent_init(viewer_dent *d, const tac_world *world, int32_t object, const viewer_mesh *mesh)
{
	*d = (viewer_dent){.object = object};
	const tac_mesh *m = world->objects[object].mesh;
	const tac_compliance *c = world->objects[object].compliance;
	if (!c || c->bound_count != m->vertex_count)
		return TAC_OK;
	bool memory = viewer_mesh_vertices(m, &d->vertices, &d->indices, &d->count);
	if (memory) {
		d->rest = calloc((size_t)d->count + 1, sizeof *d->rest);
		d->source = calloc((size_t)d->count + 1, sizeof *d->source);
		d->moved = calloc((size_t)c->vertex_count, sizeof *d->moved);
		memory = d->rest && d->source && d->moved;
	}
	if (!memory) {
		viewer_dent_fini(d);
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for %d triangles, found none",
			m->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	d->compliance = c;
	d->index_count = 3 * m->triangle_count;
	for (int32_t t = 0; t < m->triangle_count; t++) {
		for (int k = 0; k < 3; k++)
			d->source[d->indices[3 * t + k]] = m->triangles[t].vertex[k];
	}
	// With the ambient occlusion that was computed for it.
	glBindBuffer(GL_ARRAY_BUFFER, mesh->vertex_buffer);
	glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)((size_t)d->count * sizeof *d->rest), d->rest);
	memcpy(d->vertices, d->rest, (size_t)d->count * sizeof *d->rest);
	return TAC_OK;
}

void viewer_dent_fini(viewer_dent *d)
{
	free(d->rest);
	free(d->vertices);
	free(d->source);
	free(d->indices);
	free(d->moved);
	*d = (viewer_dent){0};
}

static float size_of(const tac_tissue_force *f)
{
	return tac_vec3_length_squared(f->force_N);
}

static const tac_snapshot_dent *dent_of(const tac_snapshot_tissue *t, int32_t object)
{
	for (int32_t i = 0; i < t->dent_count; i++) {
		if (t->dents[i].object == object)
			return &t->dents[i];
	}
	return NULL;
}

// The largest forces of all tools, sorted.
static int gather(const viewer_dent *d, const tac_snapshot *const *snapshots, tac_tissue_force *out)
{
	int count = 0;
	for (int tool = 0; tool < TAC_SCENE_TOOLS; tool++) {
		const tac_snapshot *s = snapshots[tool];
		const tac_snapshot_dent *dent =
			s && s->tissue.present ? dent_of(&s->tissue, d->object) : NULL;
		for (int32_t i = 0; dent && i < dent->count; i++) {
			const tac_tissue_force *f = &s->tissue.forces[dent->first + i];
			int at = count;
			if (at == VIEWER_DENT_FORCES && !(size_of(&out[--at]) < size_of(f)))
				continue;
			count = at == count ? count + 1 : count;
			for (; at > 0 && size_of(&out[at - 1]) < size_of(f); at--)
				out[at] = out[at - 1];
			out[at] = *f;
		}
	}
	return count;
}

void viewer_dent_displace(const tac_compliance *c, const tac_tissue_force *forces, int count,
			  tac_vec3 *out_moved)
{
	tac_compliance_force acting[VIEWER_DENT_FORCES];
	memset(out_moved, 0, (size_t)c->vertex_count * sizeof *out_moved);
	for (int k = 0; k < count; k++)
		acting[k] = (tac_compliance_force){forces[k].point, tac_dvec3_from_vec3(forces[k].force_N)};
	enum { TOGETHER = 256 };
	for (int32_t first = 0; first < c->node_count; first += TOGETHER) {
		int32_t nodes[TOGETHER];
		tac_dvec3 moved[TOGETHER];
		const int32_t left = c->node_count - first, some = left < TOGETHER ? left : TOGETHER;
		for (int32_t i = 0; i < some; i++)
			nodes[i] = first + i;
		tac_compliance_displace(c, acting, count, nodes, some, moved);
		for (int32_t i = 0; i < some; i++)
			out_moved[first + i] = tac_vec3_from_dvec3(moved[i]);
	}
}

static void move_vertices(viewer_dent *d)
{
	for (int i = 0; i < d->count; i++) {
		const tac_compliance_binding *b = &d->compliance->bound[d->source[i]];
		tac_vec3 p = tac_vec3_load(d->rest[i].position);
		for (int k = 0; k < 3; k++)
			p = tac_vec3_add_scaled(p, b->weight[k], d->moved[b->vertex[k]]);
		tac_vec3_store(d->vertices[i].position, p);
		tac_vec3_store(d->vertices[i].normal, tac_vec3_zero());
	}
}

static void find_normals(viewer_dent *d)
{
	for (int t = 0; t < d->index_count; t += 3) {
		viewer_vertex *v[3];
		tac_vec3 p[3];
		for (int k = 0; k < 3; k++) {
			v[k] = &d->vertices[d->indices[t + k]];
			p[k] = tac_vec3_load(v[k]->position);
		}
		const tac_vec3 n = tac_vec3_cross(tac_vec3_sub(p[1], p[0]), tac_vec3_sub(p[2], p[0]));
		for (int k = 0; k < 3; k++)
			tac_vec3_store(v[k]->normal, tac_vec3_add(tac_vec3_load(v[k]->normal), n));
	}
	for (int i = 0; i < d->count; i++)
		tac_vec3_store(d->vertices[i].normal,
			       tac_vec3_normalize(tac_vec3_load(d->vertices[i].normal)));
}

void viewer_dent_update(viewer_dent *d, const viewer_mesh *mesh, const tac_snapshot *const *snapshots)
{
	if (!d->compliance)
		return;
	tac_tissue_force forces[VIEWER_DENT_FORCES];
	const int count = gather(d, snapshots, forces);
	if (count == 0 && !d->dented)
		return;
	const viewer_vertex *shape = d->rest;
	if (count > 0) {
		viewer_dent_displace(d->compliance, forces, count, d->moved);
		move_vertices(d);
		find_normals(d);
		shape = d->vertices;
	}
	d->dented = count > 0;
	glBindBuffer(GL_ARRAY_BUFFER, mesh->vertex_buffer);
	glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)((size_t)d->count * sizeof *shape), shape);
}
