#include "apps/viewer/patches.h"

#include "base/log.h"
#include "rt/clock.h"

#include <stddef.h>
#include <stdlib.h>

#define SETTLE_NS (2 * TAC_NS_PER_S)

static GLsizeiptr vertex_bytes(int32_t count)
{
	return (GLsizeiptr)((size_t)count * sizeof(tac_surface_vertex));
}

static GLsizeiptr index_bytes(int32_t count)
{
	return (GLsizeiptr)((size_t)count * sizeof(uint16_t));
}

// ---- buffers ----

static void set_attributes(const viewer_mesh *m)
{
	const GLsizei stride = (GLsizei)sizeof(tac_surface_vertex);
	glBindVertexArray(m->array);
	glBindBuffer(GL_ARRAY_BUFFER, m->vertex_buffer);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, m->index_buffer);
	viewer_gl_attribute(0, 3, GL_FLOAT, GL_FALSE, stride, offsetof(tac_surface_vertex, position_m));
	viewer_gl_attribute(1, 3, GL_FLOAT, GL_FALSE, stride, offsetof(tac_surface_vertex, normal));
	viewer_gl_attribute(2, 1, GL_FLOAT, GL_FALSE, stride, offsetof(tac_surface_vertex, open));
	viewer_gl_attribute(3, 1, GL_INT, GL_FALSE, stride, offsetof(tac_surface_vertex, label));
}

static void copy(GLuint from, GLuint to, GLsizeiptr source, GLsizeiptr target, GLsizeiptr bytes)
{
	glBindBuffer(GL_COPY_READ_BUFFER, from);
	glBindBuffer(GL_COPY_WRITE_BUFFER, to);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, source, target, bytes);
}

// Moves all patches into larger buffers, one behind the other, with room for so many more.
static void enlarge(viewer_patches *p, int32_t vertices, int32_t indices)
{
	GLuint old_vertices = p->mesh.vertex_buffer, old_indices = p->mesh.index_buffer;
	for (int32_t i = 0; i < p->brick_count; i++) {
		vertices += p->bricks[i].vertex_room;
		indices += p->bricks[i].index_room;
	}
	p->vertex_room = 2 * vertices;
	p->index_room = 2 * indices;
	glGenBuffers(1, &p->mesh.vertex_buffer);
	glBindBuffer(GL_COPY_WRITE_BUFFER, p->mesh.vertex_buffer);
	glBufferData(GL_COPY_WRITE_BUFFER, vertex_bytes(p->vertex_room), NULL, GL_DYNAMIC_DRAW);
	glGenBuffers(1, &p->mesh.index_buffer);
	glBindBuffer(GL_COPY_WRITE_BUFFER, p->mesh.index_buffer);
	glBufferData(GL_COPY_WRITE_BUFFER, index_bytes(p->index_room), NULL, GL_DYNAMIC_DRAW);
	p->vertex_end = p->index_end = 0;
	for (int32_t i = 0; i < p->brick_count; i++) {
		viewer_patch *b = &p->bricks[i];
		if (b->vertex_count > 0) {
			copy(old_vertices, p->mesh.vertex_buffer, vertex_bytes(b->vertex),
			     vertex_bytes(p->vertex_end), vertex_bytes(b->vertex_count));
			copy(old_indices, p->mesh.index_buffer, index_bytes(b->index),
			     index_bytes(p->index_end), index_bytes(b->index_count));
		}
		b->vertex = p->vertex_end;
		b->index = p->index_end;
		p->vertex_end += b->vertex_room;
		p->index_end += b->index_room;
	}
	glDeleteBuffers(1, &old_vertices);
	glDeleteBuffers(1, &old_indices);
	set_attributes(&p->mesh);
}

// ---- updates ----

// Gives a patch that has outgrown its place another one.
static void place(viewer_patches *p, viewer_patch *b, int32_t vertices, int32_t indices)
{
	if (vertices <= b->vertex_room && indices <= b->index_room)
		return;
	const int32_t vertex_room = vertices + vertices / 4 + 8, index_room = indices + indices / 4 + 24;
	*b = (viewer_patch){0};
	if (p->vertex_end + vertex_room > p->vertex_room || p->index_end + index_room > p->index_room)
		enlarge(p, vertex_room, index_room);
	*b = (viewer_patch){p->vertex_end, vertex_room, 0, p->index_end, index_room, 0};
	p->vertex_end += vertex_room;
	p->index_end += index_room;
}

static void upload(viewer_patches *p, const tac_surface_update *u)
{
	for (int32_t i = 0; i < u->patch_count; i++) {
		const tac_surface_patch *patch = &u->patches[i];
		viewer_patch *b = &p->bricks[patch->brick];
		place(p, b, patch->vertex_count, patch->index_count);
		b->vertex_count = patch->vertex_count;
		b->index_count = patch->index_count;
		if (patch->index_count == 0)
			continue;
		glBindBuffer(GL_COPY_WRITE_BUFFER, p->mesh.vertex_buffer);
		glBufferSubData(GL_COPY_WRITE_BUFFER, vertex_bytes(b->vertex), vertex_bytes(b->vertex_count),
				u->vertices + patch->first_vertex);
		glBindBuffer(GL_COPY_WRITE_BUFFER, p->mesh.index_buffer);
		glBufferSubData(GL_COPY_WRITE_BUFFER, index_bytes(b->index), index_bytes(b->index_count),
				u->indices + patch->first_index);
	}
}

static void list_parts(viewer_patches *p)
{
	viewer_mesh *m = &p->mesh;
	m->part_count = 0;
	for (int32_t i = 0; i < p->brick_count; i++) {
		const viewer_patch *b = &p->bricks[i];
		if (b->index_count == 0)
			continue;
		m->part_indices[m->part_count] = b->index_count;
		m->part_offsets[m->part_count] = (const void *)(uintptr_t)index_bytes(b->index);
		m->part_vertices[m->part_count++] = b->vertex;
	}
}

void viewer_patches_take(viewer_patches *p)
{
	const tac_surface_update *u;
	bool any = false;
	while (p->surface && (u = tac_surface_read(p->surface))) {
		upload(p, u);
		p->lost = u->lost;
		any = true;
	}
	if (any)
		list_parts(p);
}

void viewer_patches_settle(viewer_patches *p)
{
	const int64_t end_ns = tac_clock_now_ns() + SETTLE_NS;
	viewer_patches_take(p);
	while (p->surface && !tac_surface_settled(p->surface) && tac_clock_now_ns() < end_ns) {
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
		viewer_patches_take(p);
	}
}

// ---- set-up ----

tac_result viewer_patches_init(viewer_patches *p, tac_surface *surface)
{
	*p = (viewer_patches){0};
	if (!surface)
		return TAC_OK;
	const tac_field_size size = tac_field_size_of(tac_surface_field(surface));
	const size_t bricks = (size_t)size.bricks[0] * (size_t)size.bricks[1] * (size_t)size.bricks[2];
	viewer_mesh *m = &p->mesh;
	p->bricks = calloc(bricks, sizeof *p->bricks);
	m->part_indices = calloc(bricks, sizeof *m->part_indices);
	m->part_offsets = calloc(bricks, sizeof *m->part_offsets);
	m->part_vertices = calloc(bricks, sizeof *m->part_vertices);
	if (!p->bricks || !m->part_indices || !m->part_offsets || !m->part_vertices) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for %zu bricks, found none", bricks);
		return TAC_ERROR_MEMORY;
	}
	p->brick_count = (int32_t)bricks;
	p->surface = surface;
	glGenVertexArrays(1, &m->array);
	enlarge(p, 1024, 4096);
	viewer_patches_settle(p);
	return TAC_OK;
}

void viewer_patches_fini(viewer_patches *p)
{
	viewer_mesh_fini(&p->mesh);
	free(p->bricks);
	*p = (viewer_patches){0};
}
