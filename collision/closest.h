// Distances between points, segments and triangles in double precision, with the features that realise them.
// Closest point by Voronoi regions (C. Ericson, "Real-Time Collision Detection", 2005, 5.1.5 and 5.1.9). Work
// in coordinates local to the contact: the accuracy is that of the coordinates' magnitude.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CCD_DISTANCE_H
#define TAC_COLLISION_CCD_DISTANCE_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where on a triangle a closest point lies.
typedef enum tac_ccd_region {
	TAC_CCD_REGION_VERTEX = 0, // + k: vertex k
	TAC_CCD_REGION_EDGE = 3,   // + k: inside the edge from vertex k to vertex (k + 1) % 3
	TAC_CCD_REGION_FACE = 6,
} tac_ccd_region;

// The features of two triangles that are closest.
typedef enum tac_ccd_kind {
	TAC_CCD_NONE,
	TAC_CCD_VERTEX_FACE, // vertex of the moving body, face of the fixed one
	TAC_CCD_FACE_VERTEX, // face of the moving body, vertex of the fixed one
	TAC_CCD_EDGE_EDGE,
} tac_ccd_kind;

// The point of the triangle closest to `p`; *out_region as above.
tac_dvec3 tac_ccd_closest_on_triangle(tac_dvec3 p, const tac_dvec3 triangle[3], int *out_region);

// The closest points of the segments p1 q1 and p2 q2. True when both lie inside their segments.
bool tac_ccd_closest_of_segments(tac_dvec3 p1, tac_dvec3 q1, tac_dvec3 p2, tac_dvec3 q2, tac_dvec3 *out_1,
				 tac_dvec3 *out_2);

typedef struct tac_ccd_closest {
	double distance; // 0 when they intersect
	tac_ccd_kind kind;
	int moving, fixed;         // which vertex or edge of the triangle; 0 for a face
	tac_dvec3 point, on_fixed; // on the moving and on the fixed triangle
} tac_ccd_closest;

// The distance of two triangles. Intersecting ones have the distance 0 and the kind TAC_CCD_NONE.
tac_ccd_closest tac_ccd_closest_of_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3]);

// True when an edge of one triangle passes through the other; touching counts. Coplanar triangles answer
// false: their distance says it.
bool tac_ccd_triangles_cross(const tac_dvec3 a[3], const tac_dvec3 b[3]);

#ifdef __cplusplus
}
#endif

#endif
