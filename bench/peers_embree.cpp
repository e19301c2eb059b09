// Embree: rtcCollide over user geometries, one primitive a triangle. It has no instances, so a moved body is
// rebuilt for every pose; that is not timed. The caller supplies the triangle test: here the exact one.
#include "bench/peer.h"
#include "collision/geometry/tritri.h"

#include <embree3/rtcore.h>
#include <vector>

struct body {
	const tac_mesh *mesh;
	std::vector<tac_tri64> triangles;
	RTCScene scene;
};

static RTCDevice device()
{
	static RTCDevice d = rtcNewDevice("threads=1");
	return d;
}

static void bounds(const RTCBoundsFunctionArguments *arguments)
{
	const tac_tri64 &t = static_cast<body *>(arguments->geometryUserPtr)->triangles[arguments->primID];
	RTCBounds *b = arguments->bounds_o;
	float low[3], high[3];
	for (int k = 0; k < 3; k++) {
		double l = t.v[0][k], h = l;
		for (int i = 1; i < 3; i++) {
			l = t.v[i][k] < l ? t.v[i][k] : l;
			h = t.v[i][k] > h ? t.v[i][k] : h;
		}
		low[k] = (float)l - 1e-6f;
		high[k] = (float)h + 1e-6f;
	}
	b->lower_x = low[0];
	b->lower_y = low[1];
	b->lower_z = low[2];
	b->upper_x = high[0];
	b->upper_y = high[1];
	b->upper_z = high[2];
}

static void commit(body *b)
{
	if (b->scene)
		rtcReleaseScene(b->scene);
	b->scene = rtcNewScene(device());
	RTCGeometry g = rtcNewGeometry(device(), RTC_GEOMETRY_TYPE_USER);
	rtcSetGeometryUserPrimitiveCount(g, (unsigned)b->triangles.size());
	rtcSetGeometryUserData(g, b);
	rtcSetGeometryBoundsFunction(g, bounds, nullptr);
	rtcCommitGeometry(g);
	rtcAttachGeometryByID(b->scene, g, 0);
	rtcReleaseGeometry(g);
	rtcCommitScene(b->scene);
}

static void place(void *moving, const tac_rigid *motion)
{
	body *b = static_cast<body *>(moving);
	for (int32_t i = 0; i < b->mesh->triangle_count; i++)
		for (int k = 0; k < 3; k++) {
			tac_vec3 v = b->mesh->vertices[b->mesh->triangles[i].vertex[k]];
			const double x[3] = {v.x, v.y, v.z};
			const double t[3] = {motion->t.x, motion->t.y, motion->t.z};
			for (int r = 0; r < 3; r++)
				b->triangles[i].v[k][r] = motion->R.m[r][0] * x[0] +
							  motion->R.m[r][1] * x[1] +
							  motion->R.m[r][2] * x[2] + t[r];
		}
	commit(b);
}

static void *build(const tac_mesh *mesh, bool)
{
	body *b = new body;
	b->mesh = mesh;
	b->scene = nullptr;
	b->triangles.resize(mesh->triangle_count);
	tac_rigid identity = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
	place(b, &identity);
	return b;
}

static void destroy(void *body_)
{
	body *b = static_cast<body *>(body_);
	rtcReleaseScene(b->scene);
	delete b;
}

struct collected {
	body *a, *b;
	long hits;
	bool first;
};

static void collide(void *user, RTCCollision *collisions, unsigned count)
{
	collected *c = static_cast<collected *>(user);
	for (unsigned i = 0; i < count && !(c->first && c->hits); i++)
		c->hits += tac_tritri_closed(&c->a->triangles[collisions[i].primID0],
					     &c->b->triangles[collisions[i].primID1]);
}

static long query(void *fixed, void *moving, const tac_rigid *, bool first)
{
	collected c = {static_cast<body *>(fixed), static_cast<body *>(moving), 0, first};
	rtcCollide(c.a->scene, c.b->scene, collide, &c);
	return c.hits;
}

extern const peer peer_embree;
const peer peer_embree = {"Embree (collide only)", build, destroy, place, query};
