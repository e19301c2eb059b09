// Bullet: GImpact's quantized trees, then its triangle test, as in its collision algorithm without contacts.
#include "bench/peer.h"

#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletCollisionCommon.h>
#include <vector>

struct body {
	std::vector<int> indices;
	std::vector<btScalar> vertices;
	btTriangleIndexVertexArray *array;
	btGImpactMeshShape *shape;
};

static void *build(const tac_mesh *mesh, bool)
{
	body *b = new body;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		b->vertices.insert(b->vertices.end(),
				   {mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z});
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		for (int k = 0; k < 3; k++)
			b->indices.push_back(mesh->triangles[i].vertex[k]);
	b->array =
		new btTriangleIndexVertexArray(mesh->triangle_count, b->indices.data(), 3 * sizeof(int),
					       mesh->vertex_count, b->vertices.data(), 3 * sizeof(btScalar));
	b->shape = new btGImpactMeshShape(b->array);
	b->shape->setMargin(0);
	b->shape->updateBound();
	return b;
}

static void destroy(void *body_)
{
	body *b = static_cast<body *>(body_);
	delete b->shape;
	delete b->array;
	delete b;
}

static long query(void *fixed, void *moving, const tac_rigid *motion, bool first)
{
	const btGImpactMeshShapePart *a = static_cast<body *>(fixed)->shape->getMeshPart(0);
	const btGImpactMeshShapePart *b = static_cast<body *>(moving)->shape->getMeshPart(0);
	btTransform T;
	const tac_mat3 &r = motion->R;
	T.setBasis(btMatrix3x3(r.m[0][0], r.m[0][1], r.m[0][2], r.m[1][0], r.m[1][1], r.m[1][2], r.m[2][0],
			       r.m[2][1], r.m[2][2]));
	T.setOrigin(btVector3(motion->t.x, motion->t.y, motion->t.z));
	btPairSet pairs;
	btGImpactBoxSet::find_collision(a->getBoxSet(), btTransform::getIdentity(), b->getBoxSet(), T, pairs);
	long hits = 0;
	a->lockChildShapes();
	b->lockChildShapes();
	for (int i = 0; i < pairs.size() && !(first && hits); i++) {
		btPrimitiveTriangle p, q;
		a->getPrimitiveTriangle(pairs[i].m_index1, p);
		b->getPrimitiveTriangle(pairs[i].m_index2, q);
		q.applyTransform(T);
		p.buildTriPlane();
		q.buildTriPlane();
		GIM_TRIANGLE_CONTACT contact;
		if (p.overlap_test_conservative(q) && p.find_triangle_collision_clip_method(q, contact))
			hits++;
	}
	a->unlockChildShapes();
	b->unlockChildShapes();
	return hits;
}

extern const peer peer_bullet;
const peer peer_bullet = {"Bullet GImpact", build, destroy, nullptr, query};
