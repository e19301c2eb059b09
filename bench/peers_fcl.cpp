// FCL: BVHModel<OBBRSS>, its fastest bounding volume for meshes in contact.
#include "bench/peer.h"

#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/math/bv/OBBRSS.h>
#include <fcl/narrowphase/collision.h>

typedef fcl::BVHModel<fcl::OBBRSSd> model;

static void *build(const tac_mesh *mesh, bool)
{
	model *m = new model;
	m->beginModel(mesh->triangle_count, mesh->vertex_count);
	std::vector<fcl::Vector3d> vertices;
	std::vector<fcl::Triangle> triangles;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		vertices.emplace_back(mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z);
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		triangles.emplace_back(mesh->triangles[i].vertex[0], mesh->triangles[i].vertex[1],
				       mesh->triangles[i].vertex[2]);
	m->addSubModel(vertices, triangles);
	m->endModel();
	return new std::shared_ptr<model>(m);
}

static void destroy(void *body)
{
	delete static_cast<std::shared_ptr<model> *>(body);
}

static long query(void *fixed, void *moving, const tac_rigid *motion, bool first)
{
	fcl::Transform3d T = fcl::Transform3d::Identity();
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			T.linear()(i, j) = motion->R.m[i][j];
	T.translation() = fcl::Vector3d(motion->t.x, motion->t.y, motion->t.z);
	fcl::CollisionRequestd request(first ? 1 : 100000000, false);
	fcl::CollisionResultd result;
	return (long)fcl::collide(static_cast<std::shared_ptr<model> *>(fixed)->get(),
				  fcl::Transform3d::Identity(),
				  static_cast<std::shared_ptr<model> *>(moving)->get(), T, request, result);
}

extern const peer peer_fcl;
const peer peer_fcl = {"FCL OBBRSS", build, destroy, nullptr, query};
