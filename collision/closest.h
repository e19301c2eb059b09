// Closest: distances between points, segments and triangles in double precision, with the closest features.
// Closest points by Voronoi regions (C. Ericson, "Real-Time Collision Detection", 2005, 5.1.5 and 5.1.9). Use
// coordinates local to the contact: errors are relative to the magnitude of the coordinates.
//
// Thread: RT, every function.
#ifndef TAC_COLLISION_CLOSEST_H
#define TAC_COLLISION_CLOSEST_H

#include "base/algebra.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The Voronoi region of a point: the feature of the triangle that is closest to it.
typedef enum tac_closest_region {
	TAC_CLOSEST_VERTEX = 0, // + k: vertex k
	TAC_CLOSEST_EDGE = 3,   // + k: inside the edge from vertex k to vertex (k + 1) % 3
	TAC_CLOSEST_FACE = 6,
} tac_closest_region;

// The closest features of two triangles.
typedef enum tac_feature_pair {
	TAC_FEATURES_NONE,
	TAC_FEATURES_VERTEX_FACE, // vertex of the moving body, face of the fixed one
	TAC_FEATURES_FACE_VERTEX, // face of the moving body, vertex of the fixed one
	TAC_FEATURES_EDGE_EDGE,
} tac_feature_pair;

// The point of the triangle closest to `p`. *out_region is a tac_closest_region, plus k for a vertex or edge.
tac_dvec3 tac_closest_on_triangle(tac_dvec3 p, const tac_dvec3 triangle[3], int *out_region);

// The closest points of the segments p1 q1 and p2 q2. Returns whether both lie strictly inside their
// segments.
bool tac_closest_of_segments(tac_dvec3 p1, tac_dvec3 q1, tac_dvec3 p2, tac_dvec3 q2, tac_dvec3 *out_1,
			     tac_dvec3 *out_2);

typedef struct tac_closest {
	double distance; // 0 if the triangles intersect
	tac_feature_pair kind;
	int moving, fixed;         // index of the vertex or edge of each triangle; 0 for a face
	tac_dvec3 point, on_fixed; // the closest points of the moving and of the fixed triangle
} tac_closest;

// The distance of two triangles. Triangles that cross (tac_triangles_cross) have distance 0 and kind
// TAC_FEATURES_NONE.
//
// tac_distance_triangles (collision/engines/bvh8_distance.h) serves the distance queries of the engine wide
// instead: it decides intersection exactly and names no features. The two round differently, so neither can
// replace the other without changing recorded results.
tac_closest tac_closest_of_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3]);

// Whether an edge of one triangle passes through the other; touching counts. Returns false for coplanar
// triangles: tac_closest_of_triangles finds their distance 0 from the vertices and edges.
bool tac_triangles_cross(const tac_dvec3 a[3], const tac_dvec3 b[3]);

#ifdef __cplusplus
}
#endif

#endif
