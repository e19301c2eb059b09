// FCL's continuous collision for bench/ccd.c: conservative advancement of two BVHModel<OBBRSS>, the only type
// of mesh for which FCL has it.
#include "collision/sweep.h"

#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/math/bv/OBBRSS.h>
#include <fcl/narrowphase/continuous_collision.h>

typedef fcl::BVHModel<fcl::OBBRSSd> model;

static fcl::Transform3d transform(const tac_drigid *T)
{
	fcl::Transform3d out = fcl::Transform3d::Identity();
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			out.linear()(i, j) = T->R.m[i][j];
	out.translation() = fcl::Vector3d(T->t.x, T->t.y, T->t.z);
	return out;
}

extern "C" {

void *fcl_body(const tac_mesh *mesh);
void fcl_body_free(void *body);
double fcl_sweep(void *fixed, void *moving, const tac_drigid *from, const tac_drigid *to);

void *fcl_body(const tac_mesh *mesh)
{
	model *m = new model;
	std::vector<fcl::Vector3d> vertices;
	std::vector<fcl::Triangle> triangles;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		vertices.emplace_back(mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z);
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		triangles.emplace_back(mesh->triangles[i].vertex[0], mesh->triangles[i].vertex[1],
				       mesh->triangles[i].vertex[2]);
	m->beginModel(mesh->triangle_count, mesh->vertex_count);
	m->addSubModel(vertices, triangles);
	m->endModel();
	return m;
}

void fcl_body_free(void *body)
{
	delete static_cast<model *>(body);
}

double fcl_sweep(void *fixed, void *moving, const tac_drigid *from, const tac_drigid *to)
{
	fcl::ContinuousCollisionRequestd request(100, 1e-5, fcl::CCDM_LINEAR, fcl::GST_LIBCCD,
						 fcl::CCDC_CONSERVATIVE_ADVANCEMENT);
	fcl::ContinuousCollisionResultd result;
	fcl::Transform3d identity = fcl::Transform3d::Identity();
	fcl::continuousCollide(static_cast<model *>(moving), transform(from), transform(to),
			       static_cast<model *>(fixed), identity, identity, request, result);
	return result.is_collide ? result.time_of_contact : 1;
}
}
