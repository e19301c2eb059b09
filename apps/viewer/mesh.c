#include "apps/viewer/mesh.h"

#include "base/log.h"

#include <cglm/cglm.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SMOOTH_COS     0.766F // of 40 degrees
#define SAME_COS       0.9999F
#define SKY_DIRECTIONS 48
#define SKY_SIZE       384    // of a depth picture
#define SKY_TRIANGLES  400000 // a larger mesh has no occlusion: it would take seconds
#define SKY_BIAS       0.012F // of the mesh's radius

// ---- normals ----

typedef struct builder {
	const tac_mesh *mesh;
	tac_vec3 *faces;   // unit normals
	int32_t *first;    // of each vertex in `around`
	int32_t *around;   // triangles at the vertices
	int32_t *variants; // of each vertex: the last one made of it; -1: none
	int32_t *earlier;  // of each variant: the one made before it
	viewer_vertex *vertices;
	uint32_t *indices;
	int count;
} builder;

static tac_vec3 corner(const tac_mesh *m, int32_t triangle, int k)
{
	return m->vertices[m->triangles[triangle].vertex[k % 3]];
}

static float angle_at(const tac_mesh *m, int32_t triangle, int32_t vertex)
{
	int k = 0;
	while (k < 2 && m->triangles[triangle].vertex[k] != vertex)
		k++;
	const tac_vec3 a = tac_vec3_sub(corner(m, triangle, k + 1), corner(m, triangle, k));
	const tac_vec3 b = tac_vec3_sub(corner(m, triangle, k + 2), corner(m, triangle, k));
	return atan2f(tac_vec3_length(tac_vec3_cross(a, b)), tac_vec3_dot(a, b));
}

static tac_vec3 smooth_normal(const builder *b, int32_t triangle, int32_t vertex)
{
	const tac_mesh *m = b->mesh;
	tac_vec3 sum = tac_vec3_zero();
	for (int32_t i = b->first[vertex]; i < b->first[vertex + 1]; i++) {
		const int32_t other = b->around[i];
		if (m->triangle_surface[other] == m->triangle_surface[triangle] &&
		    tac_vec3_dot(b->faces[other], b->faces[triangle]) > SMOOTH_COS)
			sum = tac_vec3_add(sum, tac_vec3_scale(b->faces[other], angle_at(m, other, vertex)));
	}
	const float length = tac_vec3_length(sum);
	return length > 0 ? tac_vec3_scale(sum, 1 / length) : b->faces[triangle];
}

static uint32_t variant(builder *b, int32_t triangle, int32_t vertex)
{
	const tac_vec3 n = smooth_normal(b, triangle, vertex);
	const int32_t surface = b->mesh->triangle_surface[triangle];
	for (int32_t i = b->variants[vertex]; i >= 0; i = b->earlier[i]) {
		const float *other = b->vertices[i].normal;
		if (b->vertices[i].surface == surface &&
		    n.x * other[0] + n.y * other[1] + n.z * other[2] > SAME_COS)
			return (uint32_t)i;
	}
	const tac_vec3 p = b->mesh->vertices[vertex];
	b->vertices[b->count] = (viewer_vertex){{p.x, p.y, p.z}, {n.x, n.y, n.z}, 1, surface};
	b->earlier[b->count] = b->variants[vertex];
	b->variants[vertex] = b->count;
	return (uint32_t)b->count++;
}

static void list_triangles(builder *b)
{
	const tac_mesh *m = b->mesh;
	for (int32_t t = 0; t < m->triangle_count; t++) {
		for (int k = 0; k < 3; k++)
			b->first[m->triangles[t].vertex[k] + 1]++;
		const tac_vec3 normal = tac_vec3_cross(tac_vec3_sub(corner(m, t, 1), corner(m, t, 0)),
						       tac_vec3_sub(corner(m, t, 2), corner(m, t, 0)));
		b->faces[t] = tac_vec3_normalize(normal);
	}
	for (int32_t v = 0; v < m->vertex_count; v++)
		b->first[v + 1] += b->first[v];
	for (int32_t t = m->triangle_count - 1; t >= 0; t--)
		for (int k = 0; k < 3; k++)
			b->around[--b->first[m->triangles[t].vertex[k] + 1]] = t;
	// Each end was decremented to its beginning: shift them back by one place.
	memmove(b->first, b->first + 1, (size_t)m->vertex_count * sizeof *b->first);
	b->first[m->vertex_count] = 3 * m->triangle_count;
}

bool viewer_mesh_vertices(const tac_mesh *m, viewer_vertex **out_vertices, uint32_t **out_indices,
			  int *out_count)
{
	const size_t triangles = (size_t)m->triangle_count + 1, vertices = (size_t)m->vertex_count + 2;
	builder b = {
		.mesh = m,
		.faces = calloc(triangles, sizeof *b.faces),
		.first = calloc(vertices, sizeof *b.first),
		.around = calloc(3 * triangles, sizeof *b.around),
		.variants = malloc(vertices * sizeof *b.variants),
		.earlier = calloc(3 * triangles, sizeof *b.earlier),
		.vertices = calloc(3 * triangles, sizeof *b.vertices),
		.indices = calloc(3 * triangles, sizeof *b.indices),
	};
	const bool memory =
		b.faces && b.first && b.around && b.variants && b.earlier && b.vertices && b.indices;
	if (memory) {
		memset(b.variants, 0xff, vertices * sizeof *b.variants);
		list_triangles(&b);
		for (int32_t t = 0; t < m->triangle_count; t++)
			for (int k = 0; k < 3; k++)
				b.indices[3 * t + k] = variant(&b, t, m->triangles[t].vertex[k]);
		*out_vertices = b.vertices;
		*out_indices = b.indices;
		*out_count = b.count;
	} else {
		free(b.vertices);
		free(b.indices);
	}
	free(b.faces);
	free(b.first);
	free(b.around);
	free(b.variants);
	free(b.earlier);
	return memory;
}

// ---- ambient occlusion ----

// Direction i of a spiral that covers the sphere evenly.
static void direction(int i, vec3 out)
{
	const float z = 1 - (2 * (float)i + 1) / SKY_DIRECTIONS, r = sqrtf(1 - z * z);
	const float turn = (float)i * 2.39996323F; // the golden angle
	out[0] = r * cosf(turn);
	out[1] = r * sinf(turn);
	out[2] = z;
}

// An orthographic view from direction `from` with the whole mesh in the cube [-1, 1].
static void view_from(const tac_mesh *m, vec3 from, mat4 out)
{
	const tac_vec3 low = m->bounds_min, high = m->bounds_max;
	vec3 centre = {(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2};
	const float radius = tac_vec3_length(tac_vec3_sub(high, low)) / 2 + 1e-9F;
	vec3 eye, up = {0, 0, 1};
	if (fabsf(from[2]) > 0.9F)
		glm_vec3_copy((vec3){1, 0, 0}, up);
	glm_vec3_scale(from, 2 * radius, eye);
	glm_vec3_add(eye, centre, eye);
	mat4 view, projection;
	glm_lookat(eye, centre, up, view);
	glm_ortho(-radius, radius, -radius, radius, radius, 3 * radius, projection);
	glm_mat4_mul(projection, view, out);
}

// Adds the direction's contribution to each vertex: to `total`, and to `open` if nothing hides it.
static void add_direction(const float *depths, mat4 T, vec3 from, float bias, const viewer_vertex *v,
			  int count, float *open, float *total)
{
	for (int i = 0; i < count; i++) {
		const float facing = glm_vec3_dot((float *)(uintptr_t)v[i].normal, from);
		if (facing <= 0.05F)
			continue;
		vec3 at;
		for (int k = 0; k < 3; k++)
			at[k] = v[i].position[k] + bias * v[i].normal[k];
		vec4 clip;
		glm_mat4_mulv(T, (vec4){at[0], at[1], at[2], 1}, clip);
		int x = (int)((clip[0] * 0.5F + 0.5F) * SKY_SIZE),
		    y = (int)((clip[1] * 0.5F + 0.5F) * SKY_SIZE);
		x = x < 0 ? 0 : x >= SKY_SIZE ? SKY_SIZE - 1 : x;
		y = y < 0 ? 0 : y >= SKY_SIZE ? SKY_SIZE - 1 : y;
		total[i] += facing;
		if (clip[2] * 0.5F + 0.5F <= depths[y * SKY_SIZE + x] + 0.004F)
			open[i] += facing;
	}
}

static void compute_occlusion(const viewer_mesh *mesh, const tac_mesh *m, GLuint program, viewer_vertex *v,
			      int count)
{
	viewer_gl_depth target;
	float *depths = malloc((size_t)SKY_SIZE * SKY_SIZE * sizeof *depths);
	float *open = calloc((size_t)count, sizeof *open), *total = calloc((size_t)count, sizeof *total);
	const bool ready = viewer_gl_depth_init(&target, SKY_SIZE, false);
	const float bias = SKY_BIAS * tac_vec3_length(tac_vec3_sub(m->bounds_max, m->bounds_min)) / 2;
	for (int i = 0; ready && depths && open && total && i < SKY_DIRECTIONS; i++) {
		vec3 from;
		mat4 T;
		direction(i, from);
		view_from(m, from, T);
		glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
		glViewport(0, 0, SKY_SIZE, SKY_SIZE);
		glEnable(GL_DEPTH_TEST);
		glClear(GL_DEPTH_BUFFER_BIT);
		glUseProgram(program);
		glUniformMatrix4fv(glGetUniformLocation(program, "T_clip_body"), 1, GL_FALSE, T[0]);
		viewer_mesh_draw(mesh);
		glReadPixels(0, 0, SKY_SIZE, SKY_SIZE, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
		add_direction(depths, T, from, bias, v, count, open, total);
	}
	for (int i = 0; open && total && i < count; i++)
		v[i].open = total[i] > 0 ? open[i] / total[i] : 1;
	viewer_gl_depth_fini(&target);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	free(depths);
	free(open);
	free(total);
}

// ---- upload ----

tac_result viewer_mesh_init(viewer_mesh *m, const tac_mesh *mesh, GLuint depth_program)
{
	*m = (viewer_mesh){.index_count = 3 * mesh->triangle_count};
	viewer_vertex *vertices;
	uint32_t *indices;
	int count;
	if (!viewer_mesh_vertices(mesh, &vertices, &indices, &count)) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for %d triangles, found none",
			mesh->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	glGenVertexArrays(1, &m->array);
	glBindVertexArray(m->array);
	glGenBuffers(1, &m->vertex_buffer);
	glBindBuffer(GL_ARRAY_BUFFER, m->vertex_buffer);
	const GLsizeiptr bytes = (GLsizeiptr)((size_t)count * sizeof *vertices);
	glBufferData(GL_ARRAY_BUFFER, bytes, vertices, GL_STATIC_DRAW);
	glGenBuffers(1, &m->index_buffer);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, m->index_buffer);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)m->index_count * sizeof *indices), indices,
		     GL_STATIC_DRAW);
	const GLsizei stride = (GLsizei)sizeof *vertices;
	viewer_gl_attribute(0, 3, GL_FLOAT, GL_FALSE, stride, offsetof(viewer_vertex, position));
	viewer_gl_attribute(1, 3, GL_FLOAT, GL_FALSE, stride, offsetof(viewer_vertex, normal));
	viewer_gl_attribute(2, 1, GL_FLOAT, GL_FALSE, stride, offsetof(viewer_vertex, open));
	viewer_gl_attribute(3, 1, GL_INT, GL_FALSE, stride, offsetof(viewer_vertex, surface));
	if (depth_program && mesh->triangle_count <= SKY_TRIANGLES) {
		compute_occlusion(m, mesh, depth_program, vertices, count);
		glBindBuffer(GL_ARRAY_BUFFER, m->vertex_buffer);
		glBufferSubData(GL_ARRAY_BUFFER, 0, bytes, vertices);
	}
	free(vertices);
	free(indices);
	return TAC_OK;
}

void viewer_mesh_fini(viewer_mesh *m)
{
	glDeleteVertexArrays(1, &m->array);
	glDeleteBuffers(1, &m->vertex_buffer);
	glDeleteBuffers(1, &m->index_buffer);
	free(m->part_indices);
	free(m->part_offsets);
	free(m->part_vertices);
	*m = (viewer_mesh){0};
}

void viewer_mesh_draw(const viewer_mesh *m)
{
	glBindVertexArray(m->array);
	if (m->part_count > 0)
		glMultiDrawElementsBaseVertex(GL_TRIANGLES, m->part_indices, GL_UNSIGNED_SHORT,
					      m->part_offsets, m->part_count, m->part_vertices);
	else
		glDrawElements(GL_TRIANGLES, m->index_count, GL_UNSIGNED_INT, NULL);
}
