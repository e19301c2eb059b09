// Sphere faces: the parts of a mesh that lie on a sphere, such as a ball or a socket. Where one of them is
// inside another of nearly the same radius, thousands of their triangles are within micrometres of each
// other; the distance of the two centres says as much (collision/continuous/nested.h).
//
// A face grows from a seed over ordinary edges within one surface, as long as its triangles lie between two
// spheres about one centre that are no further apart than a tolerance. The centre is the algebraic
// least-squares fit to its vertices (for circles I. Kasa, "A circle fitting procedure and its error
// analysis", 1976), repeated as the face grows. A face must be a cap: a part of the sphere within a cone. One
// with holes, or of another outline, stays what it is, since the cone would add what is not there.
#ifndef TAC_COLLISION_GEOMETRY_SPHERE_FACES_H
#define TAC_COLLISION_GEOMETRY_SPHERE_FACES_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SPHERE_FACES_MAX 4
// Cells along an edge of the cube around a face's centre, in which its triangles are found by direction.
#define TAC_SPHERE_FACE_CELLS 8

typedef struct tac_sphere_face {
	tac_dvec3 centre;    // m, in the mesh's frame
	double inner, outer; // every point of the face is between these distances from the centre, m
	// The face is within the cone from the centre around `axis`, unit, whose half angle has this cosine;
	// -1: it is a whole sphere.
	tac_dvec3 axis;
	double cosine;
	int32_t triangle_count;
	// A triangle in or near each cell of the cube, by its side and its two other coordinates.
	int32_t cells[6][TAC_SPHERE_FACE_CELLS][TAC_SPHERE_FACE_CELLS];
} tac_sphere_face;

typedef struct tac_sphere_faces {
	int32_t count;
	tac_sphere_face faces[TAC_SPHERE_FACES_MAX];
	uint8_t *of_triangle; // for each triangle of the mesh: its face plus 1; 0: none. NULL without faces
} tac_sphere_faces;

// Finds the faces of the mesh with many triangles, the largest ones if there are more than
// TAC_SPHERE_FACES_MAX. `tolerance` (m, > 0): outer - inner is at most that. *out_faces is NULL where there
// is none; otherwise the caller owns it. TAC_ERROR_MEMORY without a log line. Thread: setup.
tac_result tac_sphere_faces_find(const tac_mesh *mesh, double tolerance, tac_sphere_faces **out_faces);

// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_sphere_faces_destroy(tac_sphere_faces **faces);

// The most neighbours that tac_sphere_face_triangle visits.
#define TAC_SPHERE_FACE_WALK 64

// The triangle of the face in a direction from its centre, or one close to it. Thread: RT.
int32_t tac_sphere_face_triangle(const tac_sphere_face *face, const tac_mesh *mesh, tac_dvec3 direction);

#ifdef __cplusplus
}
#endif

#endif
