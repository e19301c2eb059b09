// ODE: two triangle meshes through dCollide. It reports merged contacts, not pairs of triangles. Where many
// contacts lie close together its table overflows, and sometimes one of its assertions ends the query.
#include "bench/peer.h"

#include <csetjmp>
#include <cstdarg>
#include <ode/ode.h>
#include <vector>

struct body {
	std::vector<float> vertices;
	std::vector<dTriIndex> indices;
	dTriMeshDataID data;
	dGeomID geom;
};

static jmp_buf failed;

static void fail(int, const char *, va_list)
{
	longjmp(failed, 1);
}

static void discard_message(int, const char *, va_list)
{
}

static bool start()
{
	dSetDebugHandler(fail);
	dSetMessageHandler(discard_message);
	return dInitODE2(0) != 0;
}

static void *build(const tac_mesh *mesh, bool)
{
	static bool started = start();
	(void)started;
	body *b = new body;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		b->vertices.insert(b->vertices.end(),
				   {mesh->vertices[i].x, mesh->vertices[i].y, mesh->vertices[i].z});
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		for (int k = 0; k < 3; k++)
			b->indices.push_back((dTriIndex)mesh->triangles[i].vertex[k]);
	b->data = dGeomTriMeshDataCreate();
	dGeomTriMeshDataBuildSingle(b->data, b->vertices.data(), 3 * sizeof(float), mesh->vertex_count,
				    b->indices.data(), (int)b->indices.size(), 3 * sizeof(dTriIndex));
	b->geom = dCreateTriMesh(0, b->data, 0, 0, 0);
	return b;
}

static void destroy(void *body_)
{
	body *b = static_cast<body *>(body_);
	dGeomDestroy(b->geom);
	dGeomTriMeshDataDestroy(b->data);
	delete b;
}

static long query(void *fixed, void *moving, const tac_rigid *motion, bool first)
{
	static std::vector<dContactGeom> contacts(65535);
	dGeomID geom = static_cast<body *>(moving)->geom;
	dMatrix3 R;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			R[4 * i + j] = motion->R.m[i][j];
		R[4 * i + 3] = 0;
	}
	dGeomSetRotation(geom, R);
	dGeomSetPosition(geom, motion->t.x, motion->t.y, motion->t.z);
	int flags = first ? (int)(CONTACTS_UNIMPORTANT | 1) : 65535;
	if (setjmp(failed) != 0)
		return -1;
	return dCollide(static_cast<body *>(fixed)->geom, geom, flags, contacts.data(), sizeof contacts[0]);
}

extern const peer peer_ode;
const peer peer_ode = {"ODE", build, destroy, nullptr, query};
