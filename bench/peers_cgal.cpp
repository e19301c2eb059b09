// CGAL: the AABB tree of the fixed mesh, queried with every triangle of the moved one that overlaps the
// tree's box; exact predicates, inexact constructions.
#include "bench/peer.h"

#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <iterator>
#include <vector>

typedef CGAL::Exact_predicates_inexact_constructions_kernel K;
typedef std::vector<K::Triangle_3>::iterator iterator;
typedef CGAL::AABB_tree<CGAL::AABB_traits<K, CGAL::AABB_triangle_primitive<K, iterator>>> tree;

struct body {
	std::vector<K::Triangle_3> triangles;
	tree *t;
};

static void *build(const tac_mesh *mesh, bool moving)
{
	body *b = new body;
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		K::Point_3 p[3];
		for (int k = 0; k < 3; k++) {
			tac_vec3 v = mesh->vertices[mesh->triangles[i].vertex[k]];
			p[k] = K::Point_3(v.x, v.y, v.z);
		}
		b->triangles.emplace_back(p[0], p[1], p[2]);
	}
	b->t = nullptr;
	if (!moving) {
		b->t = new tree(b->triangles.begin(), b->triangles.end());
		b->t->build();
	}
	return b;
}

static void destroy(void *body_)
{
	body *b = static_cast<body *>(body_);
	delete b->t;
	delete b;
}

static long query(void *fixed, void *moving, const tac_rigid *motion, bool first)
{
	const tree &t = *static_cast<body *>(fixed)->t;
	const tac_mat3 &r = motion->R;
	CGAL::Aff_transformation_3<K> T(r.m[0][0], r.m[0][1], r.m[0][2], motion->t.x, r.m[1][0], r.m[1][1],
					r.m[1][2], motion->t.y, r.m[2][0], r.m[2][1], r.m[2][2], motion->t.z);
	const CGAL::Bbox_3 box = t.bbox();
	long hits = 0;
	std::vector<tree::Primitive_id> found;
	for (const K::Triangle_3 &triangle : static_cast<body *>(moving)->triangles) {
		K::Triangle_3 moved = triangle.transform(T);
		if (!CGAL::do_overlap(moved.bbox(), box))
			continue;
		if (first) {
			if (t.do_intersect(moved))
				return 1;
			continue;
		}
		found.clear();
		t.all_intersected_primitives(moved, std::back_inserter(found));
		hits += (long)found.size();
	}
	return hits;
}

extern const peer peer_cgal;
const peer peer_cgal = {"CGAL AABB tree", build, destroy, nullptr, query};
