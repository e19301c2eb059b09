// Physics of your own: blocks with mass, moved by the Open Dynamics Engine on a thread of its own at 500 Hz,
// are pushed, stacked and tipped over with the tool, and push back. Each physics step takes the contact
// forces from the newest snapshot, applies them to the blocks, and sends the blocks' new poses to the live
// world. The haptic loop neither waits for the physics nor knows of it.
//	own_physics [DEVICE]
#include "devices/registry.h"
#include "haptic/live.h"
#include "haptic/play.h"
#include "haptic/scene_builder.h"
#include "rt/clock.h"

#include <math.h>
#include <ode/ode.h>
#include <stdio.h>

#define BLOCKS     3
#define SIDE_M     0.03
#define MASS_KG    0.15
#define PHYSICS_NS INT64_C(2000000)

typedef struct physics {
	dWorldID world;
	dSpaceID space;
	dJointGroupID joints;
	dBodyID blocks[BLOCKS]; // objects 1 … of the scene; object 0 is the table
	int block_count;
	double friction;
	tac_dvec3 device_m, device_m_per_s; // in the last snapshot, and its velocity since the one before
	int64_t device_ns;
} physics;

// ---- the blocks in ODE ----

static void touch(void *user, dGeomID a, dGeomID b)
{
	const physics *p = user;
	dContact contacts[8];
	const int count = dCollide(a, b, 8, &contacts[0].geom, sizeof contacts[0]);
	for (int i = 0; i < count; i++) {
		contacts[i].surface.mode = dContactApprox1;
		contacts[i].surface.mu = p->friction;
		dJointAttach(dJointCreateContact(p->world, p->joints, &contacts[i]), dGeomGetBody(a),
			     dGeomGetBody(b));
	}
}

// The table is the plane through the origin with this unit normal.
static void physics_init(physics *p, tac_dvec3 table_normal, double friction)
{
	*p = (physics){.friction = friction};
	dInitODE2(0);
	p->world = dWorldCreate();
	p->space = dSimpleSpaceCreate(NULL);
	p->joints = dJointGroupCreate(0);
	dWorldSetGravity(p->world, 0, 0, -9.81);
	dWorldSetQuickStepNumIterations(p->world, 50);
	dCreatePlane(p->space, table_normal.x, table_normal.y, table_normal.z, 0);
}

static void place(dBodyID body, tac_dpose pose)
{
	const dQuaternion q = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
	dBodySetPosition(body, pose.position.x, pose.position.y, pose.position.z);
	dBodySetQuaternion(body, q);
}

static void physics_add(physics *p, tac_dpose pose, tac_dvec3 size_m, double mass_kg)
{
	const dBodyID body = dBodyCreate(p->world);
	const dGeomID geom = dCreateBox(p->space, size_m.x, size_m.y, size_m.z);
	dMass mass;
	dMassSetBoxTotal(&mass, mass_kg, size_m.x, size_m.y, size_m.z);
	dBodySetMass(body, &mass);
	dGeomSetBody(geom, body);
	place(body, pose);
	p->blocks[p->block_count++] = body;
}

static tac_dpose pose_of(dBodyID body)
{
	const dReal *x = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
	return tac_dpose_make(tac_dvec3_make(x[0], x[1], x[2]), (tac_dquat){q[1], q[2], q[3], q[0]});
}

static void physics_fini(physics *p)
{
	dJointGroupDestroy(p->joints);
	dSpaceDestroy(p->space);
	dWorldDestroy(p->world);
	dCloseODE();
}

// ---- both ways ----

static void add_force(dBodyID body, tac_dvec3 force_N, tac_dvec3 at_m)
{
	dBodyAddForceAtPos(body, force_N.x, force_N.y, force_N.z, at_m.x, at_m.y, at_m.z);
}

// The reaction to one contact. A force that is held through the step would make a light block tremble at the
// tool, so it is that of the contact's spring at the end of the step: block and device go on until then, the
// device by `ahead_m`.
static void react(dBodyID body, const tac_snapshot *s, const tac_snapshot_contact *c, double share,
		  tac_dvec3 ahead_m, double h)
{
	const tac_dvec3 in_block =
		tac_dpose_apply_point(tac_dpose_inverse(s->T_world_objects[c->object]), c->point_m);
	const tac_dvec3 now = tac_dpose_apply_point(pose_of(body), in_block);
	dVector3 v;
	dBodyGetPointVel(body, now.x, now.y, now.z, v);
	const tac_dvec3 moved =
		tac_dvec3_add_scaled(tac_dvec3_sub(now, c->point_m), h, tac_dvec3_make(v[0], v[1], v[2]));
	const double force_N =
		tac_dvec3_dot(c->force_N, c->normal) +
		share * s->stiffness_N_per_m * tac_dvec3_dot(tac_dvec3_sub(moved, ahead_m), c->normal);
	add_force(body, tac_dvec3_scale(c->normal, -fmax(force_N, 0)), now);
}

static void apply_reactions(physics *p, const tac_snapshot *s, double h)
{
	double sum_N[TAC_SNAPSHOT_OBJECTS] = {0};
	const double since_s = (double)(s->time_ns - p->device_ns) / 1e9;
	const tac_dvec3 x = s->T_world_device.position;
	if (p->device_ns > 0 && since_s > 0)
		p->device_m_per_s = tac_dvec3_scale(tac_dvec3_sub(x, p->device_m), 1 / since_s);
	const tac_dvec3 ahead = tac_dvec3_scale(p->device_m_per_s, h);
	p->device_m = x;
	p->device_ns = s->time_ns;
	for (int32_t i = 0; i < s->contact_count; i++)
		sum_N[s->contacts[i].object] += tac_dvec3_length(s->contacts[i].force_N);
	for (int32_t i = 0; i < s->contact_count; i++) {
		const tac_snapshot_contact *c = &s->contacts[i];
		const double force_N = tac_dvec3_length(c->force_N);
		if (c->object >= 1 && c->object <= p->block_count && force_N > 0)
			react(p->blocks[c->object - 1], s, c, force_N / sum_N[c->object], ahead, h);
	}
	const int32_t rubbed = s->contact_count > 0 ? s->contacts[0].object : 0;
	if (rubbed >= 1 && rubbed <= p->block_count)
		add_force(p->blocks[rubbed - 1], tac_dvec3_scale(s->friction.force_N, -1),
			  s->friction.point_m);
}

// One step of the physics. A block that the tool stopped is put back to where it is felt.
static void physics_step(physics *p, tac_live *live, const tac_snapshot *s, int64_t step_ns)
{
	const double h = (double)step_ns / 1e9;
	for (int i = 0; s && i < p->block_count; i++) {
		if (s->live.blocked >> (i + 1) & 1u)
			place(p->blocks[i], s->T_world_objects[i + 1]);
	}
	if (s)
		apply_reactions(p, s, h);
	dSpaceCollide(p->space, p, touch);
	dWorldQuickStep(p->world, h);
	dJointGroupEmpty(p->joints);
	for (int i = 0; i < p->block_count; i++)
		tac_live_move(live, i + 1, pose_of(p->blocks[i]), step_ns);
}

// ---- the scene ----

static void add_box(tac_scene *scene, const char *name, tac_dpose pose, tac_dvec3 size_m)
{
	tac_scene_object *object = tac_scene_add_object(scene, name);
	tac_scene_shape *box = tac_scene_object_add_shape(object, TAC_SCENE_BOX);
	box->size_m = size_m;
	box->segments = 1;
	object->position_m = pose.position;
	object->rotation_rad = tac_dquat_log(pose.rotation);
	TAC_SCENE_SET(object->material, "wood");
}

// A table along the plane with this normal, and the blocks where the physics has them.
static tac_scene *make_scene(const physics *p, tac_dquat tilt, tac_dvec3 size_m)
{
	tac_scene *scene;
	if (tac_scene_create("blocks with mass", &scene) < TAC_OK)
		return NULL;
	tac_scene_add_material(scene, "wood")->stiffness_N_per_m = 500;
	tac_scene_tool *tool = tac_scene_add_tool(scene, "finger");
	tool->axes = 3;
	tac_scene_tool_add_shape(tool, TAC_SCENE_SPHERE)->radius_m = 0.005;
	const tac_dvec3 below =
		tac_dquat_rotate(tilt, tac_dvec3_make(0, 0, -0.011)); // blocks sink in a little
	add_box(scene, "table", tac_dpose_make(below, tilt), tac_dvec3_make(0.4, 0.4, 0.02));
	for (int i = 0; i < p->block_count; i++) {
		char name[] = "block 1";
		name[6] = (char)('1' + i);
		add_box(scene, name, pose_of(p->blocks[i]), size_m);
	}
	return scene;
}

// ---- the program ----

// A stack of two and a block beside it; the simulated hand pushes the upper block off the lower one, and then
// the single one along the table.
static const tac_sim_waypoint path[] = {
	{.position_m = {-0.05, 0, 0.045}},
	{.time_ns = 1000000000, .position_m = {0.005, 0, 0.045}},
	{.time_ns = 1500000000, .position_m = {-0.05, 0, 0.06}},
	{.time_ns = 2000000000, .position_m = {-0.05, 0.06, 0.015}},
	{.time_ns = 3500000000, .position_m = {0.01, 0.06, 0.015}},
};

static void follow(physics *p, tac_live *live, tac_servo *servo, double seconds)
{
	const int64_t begin_ns = tac_clock_now_ns();
	for (int64_t k = 1; k * PHYSICS_NS < (int64_t)(1e9 * seconds); k++) {
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		physics_step(p, live, s, PHYSICS_NS);
		if (s && k % 250 == 0) {
			printf("%4.1f s  force %5.2f N ", (double)k * PHYSICS_NS / 1e9,
			       tac_dvec3_length(s->sent.force_N));
			for (int i = 0; i < p->block_count; i++) {
				const tac_dvec3 x = pose_of(p->blocks[i]).position;
				printf("  block %d at %4.0f %4.0f %4.0f mm", i + 1, 1e3 * x.x, 1e3 * x.y,
				       1e3 * x.z);
			}
			printf("\n");
		}
		tac_clock_sleep_until_ns(begin_ns + k * PHYSICS_NS);
	}
}

int main(int argc, char **argv)
{
	const tac_dvec3 size = {SIDE_M, SIDE_M, SIDE_M},
			places[BLOCKS] = {{0, 0, SIDE_M / 2}, {0, 0, 3 * SIDE_M / 2}, {0, 0.06, SIDE_M / 2}};
	const tac_open_def hand = {.sim_path = path, .sim_waypoints = sizeof path / sizeof *path};
	physics p;
	physics_init(&p, tac_dvec3_make(0, 0, 1), 0.3);
	for (int i = 0; i < BLOCKS; i++)
		physics_add(&p, tac_dpose_make(places[i], tac_dquat_identity()), size, MASS_KG);
	tac_scene *scene = make_scene(&p, tac_dquat_identity(), size);
	tac_live_def live_def = tac_live_def_default();
	tac_servo_def servo = tac_servo_def_default();
	tac_play *play;
	if (!scene || tac_world_build(scene, tac_collider_find("wide"), &live_def.world) < TAC_OK ||
	    tac_live_create(&live_def, &servo.live) < TAC_OK ||
	    tac_registry_open(argc > 1 ? argv[1] : "sim:omega3", &hand, &servo.device) < TAC_OK ||
	    tac_play_start(&servo, NULL, &play) < TAC_OK)
		return 1;
	follow(&p, servo.live, tac_play_servo(play), argc > 1 ? 3600 : 4);
	tac_play_destroy(&play);
	tac_device_destroy(&servo.device);
	tac_live_destroy(&servo.live);
	tac_world_destroy(&live_def.world);
	tac_scene_destroy(&scene);
	physics_fini(&p);
	return 0;
}
