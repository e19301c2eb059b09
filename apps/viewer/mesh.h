// Viewer mesh: a mesh on the graphics driver, with smooth normals and ambient occlusion. Normals are averaged
// over the triangles of one surface that meet at less than 40 degrees, so that round shapes look round and
// edges stay sharp. Ambient occlusion, the fraction of the sky that each vertex sees, is computed once from
// depth pictures of the mesh from all sides.
#ifndef TAC_APPS_VIEWER_MESH_H
#define TAC_APPS_VIEWER_MESH_H

#include "apps/viewer/gl.h"
#include "base/result.h"
#include "collision/mesh.h"

#include <stdint.h>

typedef struct viewer_vertex {
	float position[3], normal[3];
	float open; // fraction of the sky that is visible, 0 … 1
	int32_t surface;
} viewer_vertex;

typedef struct viewer_mesh {
	GLuint array, vertex_buffer, index_buffer;
	GLsizei index_count;
	// Of a mesh in parts (apps/viewer/patches.h), with indices of 16 bits from the part's first vertex.
	GLsizei part_count;
	GLsizei *part_indices;
	const void **part_offsets;
	GLint *part_vertices;
} viewer_mesh;

// The vertices and triangles of `mesh`, with `open` = 1. The caller frees both. False: no memory.
// Thread: any.
bool viewer_mesh_vertices(const tac_mesh *mesh, viewer_vertex **out_vertices, uint32_t **out_indices,
			  int *out_count);

// Uploads `mesh`. `depth_program` is the program of shaders/depth.vert, for the ambient occlusion; 0: none.
// TAC_ERROR_MEMORY with a log line. Thread: the visual one.
tac_result viewer_mesh_init(viewer_mesh *m, const tac_mesh *mesh, GLuint depth_program);
void viewer_mesh_fini(viewer_mesh *m);
void viewer_mesh_draw(const viewer_mesh *m);

#endif
