// What the hand feels: standard experiments, each with the force that the exact shape would give. A device
// follows a path; nothing reacts to the force. The columns:
//  - direction: largest angle between the force and the ideal one, degrees
//  - ripple: peak to peak of the force's magnitude less the ideal one's, N
//  - jump: largest change of the force in a tick, N, and its largest share of the bound K (0.5 m/s T + 3
//  |dx|)
//  - above 50 Hz: largest part of the error that a mean over 21 ms leaves, N
// and the same for CHAI3D's finger proxy where its plugin is there and the tool is a sphere. Without an
// ideal, as on scanned meshes, only jumps and dropouts are counted.
#include "apps/commands/render_chai3d.h"
#include "base/log.h"
#include "base/rng.h"
#include "haptic/servo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS           INT64_C(1000000)
#define K            1000.0 // N/m
#define SLEW         0.5    // m/s
#define ARM_M        0.03
#define TICKS        2600
#define BEGIN        600  // the tool is in place and begins to move
#define SETTLED      700  // it slides: from here on the force is compared
#define HALF_MEAN    10   // ticks
#define R_M          0.03 // of curved shapes
#define TIP_M        0.002
#define CORNER_TIP_M 0.005

typedef struct experiment experiment;

struct experiment {
	const char *name;
	const char *tool, *material, *object; // YAML; the object's pose and shapes
	tac_dpose (*path)(const experiment *e, int tick);
	tac_dvec3 (*ideal)(tac_dpose device, int tick); // NULL: not known
	double speed_m_per_s;
	int axes;
	bool torque; // the ideal is a torque, not a force
};

// ---- a device on a path ----

typedef struct follower {
	tac_device base;
	tac_dpose T;
} follower;

static tac_device_status follower_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	*out_state = (tac_device_state){.time_ns = now_ns, .T_base_tool = ((follower *)device)->T};
	return TAC_DEVICE_OK;
}

static tac_device_status follower_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device, (void)now_ns, (void)wrench;
	return TAC_DEVICE_OK;
}

static void follower_enable(tac_device *device, bool on)
{
	(void)device, (void)on;
}

// ---- paths: down to the depth by tick 300, at rest until BEGIN, then along ----

static tac_dpose at(double x, double y, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_identity());
}

static double down(int tick, double from, double to)
{
	return from + (to - from) * fmin(1, tick / 300.0);
}

static double travel(const experiment *e, int tick)
{
	return e->speed_m_per_s * 1e-3 * fmax(0, tick - BEGIN);
}

// Over the top of the floor z = 0, 2 mm deep; `TIP_M` is the radius or half height of the tool.
static tac_dpose along_floor(const experiment *e, int tick)
{
	return at(-0.09 + travel(e, tick), 0.0013, down(tick, 0.015, TIP_M - 0.002));
}

static tac_dvec3 ideal_floor(tac_dpose device, int tick)
{
	(void)tick;
	return tac_dvec3_make(0, 0, K * fmax(0, TIP_M - device.position.z));
}

static tac_dpose around(const experiment *e, int tick)
{
	const double angle = 0.1 + travel(e, tick) / R_M, r = down(tick, R_M + 0.012, R_M + TIP_M - 0.002);
	return at(r * sin(angle), 0.0013, r * cos(angle));
}

static tac_dvec3 outwards(tac_dvec3 from_axis)
{
	const double depth = R_M + TIP_M - tac_dvec3_length(from_axis);
	return tac_dvec3_scale(tac_dvec3_normalize(from_axis), K * fmax(0, depth));
}

static tac_dvec3 ideal_cylinder(tac_dpose device, int tick)
{
	(void)tick;
	return outwards(tac_dvec3_make(device.position.x, 0, device.position.z));
}

static tac_dvec3 ideal_ball(tac_dpose device, int tick)
{
	(void)tick;
	return outwards(device.position);
}

// The inner side of a torus, a saddle: ring of 40 mm, tube of 20 mm, on the side towards the axis.
static tac_dpose inside_torus(const experiment *e, int tick)
{
	const double angle = travel(e, tick) / 0.018, r = down(tick, 0.005, 0.02);
	return at(r * cos(angle), r * sin(angle), 0.002);
}

static tac_dvec3 ideal_torus(tac_dpose device, int tick)
{
	(void)tick;
	const tac_dvec3 p = device.position;
	const tac_dvec3 ring = tac_dvec3_scale(tac_dvec3_normalize(tac_dvec3_make(p.x, p.y, 0)), 0.04);
	const tac_dvec3 from = tac_dvec3_sub(p, ring);
	const double depth = 0.02 + TIP_M - tac_dvec3_length(from);
	return tac_dvec3_scale(tac_dvec3_normalize(from), K * fmax(0, depth));
}

// A cube of 100 mm: over the edge at x = z = 50 mm, or over the vertex, on an arc 2 mm below the rounded
// cube.
static tac_dpose over_corner(const experiment *e, int tick, bool vertex)
{
	const double r = CORNER_TIP_M - 0.002, s = travel(e, tick), flat = 0.03, arc = 1.5707963 * r;
	const double z = down(tick, 0.07, 0.05 + r);
	if (s < flat)
		return at(0.02 + s, vertex ? 0.02 + s : 0.0031, z);
	const double angle = fmin(1.5707963, (s - flat) / arc * 1.5707963);
	const double rest = fmax(0, s - flat - arc), x = 0.05 + r * sin(angle) * (vertex ? 0.70710678 : 1);
	return at(x, vertex ? x : 0.0031, 0.05 + r * cos(angle) - rest);
}

static tac_dpose over_edge(const experiment *e, int tick)
{
	return over_corner(e, tick, false);
}

static tac_dpose over_vertex(const experiment *e, int tick)
{
	return over_corner(e, tick, true);
}

static tac_dvec3 ideal_cube(tac_dpose device, int tick)
{
	(void)tick;
	double p[3], q[3];
	tac_dvec3_store(p, device.position);
	for (int k = 0; k < 3; k++)
		q[k] = fmax(-0.05, fmin(0.05, p[k]));
	const tac_dvec3 off = tac_dvec3_sub(device.position, tac_dvec3_load(q));
	const double depth = CORNER_TIP_M - tac_dvec3_length(off);
	return tac_dvec3_scale(tac_dvec3_normalize(off), K * fmax(0, depth));
}

// Along the bottom of a right-angled groove whose walls are inclined by 45 degrees.
static tac_dpose along_groove(const experiment *e, int tick)
{
	const double contact = TIP_M * 1.41421356; // height of the tip's centre when it touches both walls
	return at(down(tick, 0, 0.0005), -0.08 + travel(e, tick), down(tick, 0.015, contact - 0.002));
}

static tac_dvec3 ideal_groove(tac_dpose device, int tick)
{
	(void)tick;
	const tac_dvec3 p = device.position;
	const double s = 0.70710678118654752;
	// Normals (s, 0, s) and (-s, 0, s) are perpendicular: each wall pushes on its own.
	const double a = fmax(0, TIP_M - s * (p.x + p.z)), b = fmax(0, TIP_M - s * (p.z - p.x));
	return tac_dvec3_make(K * s * (a - b), 0, K * s * (a + b));
}

// Presses up to 4 mm deep and releases, twice a second.
static tac_dpose press(const experiment *e, int tick)
{
	(void)e;
	return at(0, 0.0013,
		  TIP_M - 0.002 -
			  (tick < BEGIN ? down(tick, -0.012, 0) : 0.002 * sin(0.0125664 * (tick - BEGIN))));
}

static tac_dvec3 ideal_friction(tac_dpose device, int tick)
{
	const double load = K * fmax(0, TIP_M - device.position.z);
	// It slips once the bristle of 1000 N/m is bent by 0.5 load; then 0.3 of the load.
	const double bend = 1e-4 * fmax(0, tick - BEGIN);
	return tac_dvec3_make(K * bend <= 0.5 * load ? -K * bend : -0.3 * load, 0, load);
}

// A box of 20 mm, pressed with 2 N, turns about the vertical at 0.5 rad/s.
static tac_dpose twist(const experiment *e, int tick)
{
	(void)e;
	tac_dpose T = at(0.001, 0.002, down(tick, 0.02, 0.008));
	T.rotation = tac_dquat_exp(tac_dvec3_make(0, 0, 5e-4 * fmax(0, tick - BEGIN)));
	return T;
}

static tac_dvec3 ideal_twist(tac_dpose device, int tick)
{
	const double radius = 0.02 * (sqrt(2) + asinh(1)) / 6; // mean distance from the centre of a square
	const double load = K * fmax(0, 0.01 - device.position.z), k = K * radius * radius;
	const double bend = 5e-4 * fmax(0, tick - BEGIN);
	const double torque = k * bend <= 0.5 * load * radius ? k * bend : 0.3 * load * radius;
	return tac_dvec3_make(0, 0, -torque);
}

static tac_dvec3 ideal_texture(tac_dpose device, int tick)
{
	(void)tick;
	const double k = 6.283185307179586 / 0.002, h = 5e-5;
	const double height = 0.5 * h * (cos(k * device.position.x) - 1),
		     slope = -0.5 * h * k * sin(k * device.position.x);
	const double load = K * fmax(0, TIP_M - device.position.z + height);
	return tac_dvec3_make(-load * slope, 0, load);
}

// The waves pass so fast that nothing but their mean may be felt.
static tac_dvec3 ideal_fast_texture(tac_dpose device, int tick)
{
	(void)tick;
	return tac_dvec3_make(0, 0, K * fmax(0, TIP_M - device.position.z - 2.5e-5));
}

// A plate that rises through a tool at rest and sinks again, 40 mm/s.
static tac_dpose at_rest(const experiment *e, int tick)
{
	(void)e, (void)tick;
	return at(0.001, 0.002, 0.007);
}

static tac_dvec3 ideal_plate(tac_dpose device, int tick)
{
	const double t = fmod(1e-3 * tick, 1), surface = 0.04 * (t <= 0.5 ? t : 1 - t);
	return tac_dvec3_make(0, 0, K * fmax(0, surface + TIP_M - device.position.z));
}

// A box of 10 mm lies flat on a plate of many triangles.
static tac_dpose flat(const experiment *e, int tick)
{
	return at(-0.08 + travel(e, tick), 0.0013, down(tick, 0.02, 0.003));
}

static tac_dvec3 ideal_flat(tac_dpose device, int tick)
{
	(void)tick;
	return tac_dvec3_make(0, 0, K * fmax(0, 0.005 - device.position.z));
}

// A random smooth hand: drawn to one place after another, up to 9 mm below a surface of 40 mm radius.
static tac_dpose wander(const experiment *e, int tick)
{
	static tac_rng rng, turns;
	static tac_dvec3 p, v, w, goal;
	static tac_dquat q;
	if (tick == 0) {
		rng = tac_rng_seed(7, 3);
		turns = tac_rng_seed(7, 4);
		p = goal = tac_dvec3_make(0, 0, 0.09);
		v = w = tac_dvec3_zero();
		q = tac_dquat_identity();
	}
	if (tick % 400 == 399)
		goal = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0.02, 0.05));
	const tac_dvec3 to = tac_dvec3_sub(goal, p);
	const double speed = fmin(0.12, 5 * tac_dvec3_length(to));
	v = tac_dvec3_lerp(tac_dvec3_scale(tac_dvec3_normalize(to), speed), v, 0.98);
	p = tac_dvec3_add_scaled(p, 1e-3, v);
	if (e->axes == 6) {
		w = tac_dvec3_scale(tac_dvec3_add_scaled(w, 0.05, tac_rng_unit_f64(&turns)), 0.99);
		q = tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, 1e-3)), q));
	}
	return tac_dpose_make(p, q);
}

// ---- the table ----

#define SPHERE    "{kind: solids, solids: \"sphere:r=0.002\"}"
#define CORNER    "{kind: solids, solids: \"sphere:r=0.005\"}"
#define CAPSULE   "{kind: solids, solids: \"capsule:r=0.003,h=0.02\"}"
#define BOX(size) "{kind: box, size_m: [" size "], segments: 1}"
#define FLOOR(n)  "position_m: [0, 0, -0.02], shapes: [{kind: box, size_m: [0.4, 0.2, 0.04], segments: " n "}]"
#define CYLINDER(n)                                                                                          \
	"shapes: [{kind: cylinder, radius_m: 0.03, height_m: 0.1, rings: 8, segments: " n                    \
	", rotation_rad: [1.5707963267948966, 0, 0]}]"
#define BALL(n) "shapes: [{kind: sphere, radius_m: 0.03, subdivisions: " n "}]"
#define MESH(name, scale)                                                                                    \
	"shapes: [{kind: mesh, file: \"" TACTUS_FEEL_MESHES "/" name ".off\", scale: " scale "}]"
#define ROUGH ", static_friction: 0.5, dynamic_friction: 0.3, friction_stiffness_N_per_m: 1000"

static const experiment experiments[] = {
	{"plane", SPHERE, "", FLOOR("16"), along_floor, ideal_floor, 0.05, 3, false},
	{"cylinder of 16 facets", SPHERE, "", CYLINDER("16"), around, ideal_cylinder, 0.05, 3, false},
	{"cylinder of 32 facets", SPHERE, "", CYLINDER("32"), around, ideal_cylinder, 0.05, 3, false},
	{"cylinder of 128 facets", SPHERE, "", CYLINDER("128"), around, ideal_cylinder, 0.05, 3, false},
	{"ball of 1,280 facets", SPHERE, "", BALL("3"), around, ideal_ball, 0.05, 3, false},
	{"ball of 20,480 facets", SPHERE, "", BALL("5"), around, ideal_ball, 0.05, 3, false},
	{"saddle: inside a torus", SPHERE, "",
	 "shapes: [{kind: torus, radius_m: 0.04, minor_radius_m: 0.02, segments: 96, rings: 48}]",
	 inside_torus, ideal_torus, 0.05, 3, false},
	{"cube's edge", CORNER, "", "shapes: [{kind: box, segments: 8}]", over_edge, ideal_cube, 0.02, 3,
	 false},
	{"cube's vertex", CORNER, "", "shapes: [{kind: box, segments: 8}]", over_vertex, ideal_cube, 0.02, 3,
	 false},
	{"groove", SPHERE, "",
	 "shapes: [{kind: box, size_m: [0.2, 0.2, 0.2], segments: 4, position_m: [0.14142135623731, 0, 0], "
	 "rotation_rad: [0, 0.7853981633974483, 0]}, {kind: box, size_m: [0.2, 0.2, 0.2], segments: 4, "
	 "position_m: [-0.14142135623731, 0, 0], rotation_rad: [0, 0.7853981633974483, 0]}]",
	 along_groove, ideal_groove, 0.05, 3, false},
	{"press and release", SPHERE, "", FLOOR("16"), press, ideal_floor, 0, 3, false},
	{"friction", SPHERE, ROUGH, FLOOR("16"), along_floor, ideal_friction, 0.1, 3, false},
	{"friction against turning", BOX("0.02, 0.02, 0.02"), ROUGH, FLOOR("16"), twist, ideal_twist, 0, 6,
	 true},
	{"texture, 50 Hz", SPHERE,
	 ", texture: grooves, texture_height_m: 0.00005, texture_wavelength_m: 0.002", FLOOR("16"),
	 along_floor, ideal_texture, 0.1, 3, false},
	{"texture, 980 Hz", SPHERE,
	 ", texture: grooves, texture_height_m: 0.00005, texture_wavelength_m: 0.0001", FLOOR("16"),
	 along_floor, ideal_fast_texture, 0.098, 3, false},
	{"plate that comes and goes", SPHERE, "",
	 "position_m: [0, 0, -0.01], path: [{time_s: 0}, {time_s: 0.5, position_m: [0, 0, 0.02]}, {time_s: "
	 "1}], "
	 "shapes: [{kind: box, size_m: [0.1, 0.1, 0.02], segments: 8}]",
	 at_rest, ideal_plate, 0, 3, false},
	{"box flat on 49,152 triangles", "{kind: box, size_m: [0.01, 0.01, 0.01], segments: 16}", "",
	 "position_m: [0, 0, -0.01], shapes: [{kind: box, size_m: [0.2, 0.2, 0.02], segments: 64}]", flat,
	 ideal_flat, 0.08, 6, false},
	{"bumpy body, sphere", SPHERE, "",
	 "shapes: [{kind: body, radius_m: 0.04, bump_m: 0.004, subdivisions: 5}]", wander, NULL, 0, 3, false},
	{"bumpy body, box", BOX("0.01, 0.012, 0.014"), "",
	 "shapes: [{kind: body, radius_m: 0.04, bump_m: 0.004, subdivisions: 5}]", wander, NULL, 0, 6, false},
	{"bumpy body, capsule, friction", CAPSULE, ROUGH,
	 "shapes: [{kind: body, radius_m: 0.04, bump_m: 0.004, subdivisions: 5}]", wander, NULL, 0, 6, false},
	{"bunny, sphere", SPHERE, "", MESH("bunny", "0.15"), wander, NULL, 0, 3, false},
	{"bunny, capsule", CAPSULE, "", MESH("bunny", "0.15"), wander, NULL, 0, 6, false},
	{"dragon, sphere", SPHERE, "", MESH("dragon", "0.3"), wander, NULL, 0, 3, false},
	{"dragon, box", BOX("0.01, 0.012, 0.014"), "", MESH("dragon", "0.3"), wander, NULL, 0, 6, false},
};

// ---- measures ----

typedef struct record {
	tac_dpose device[TICKS];
	tac_dvec3 force[TICKS], ideal[TICKS];
} record;

static double step_bound(const experiment *e, const record *r, int i)
{
	const double moved =
		tac_dvec3_length(tac_dvec3_sub(r->device[i].position, r->device[i - 1].position));
	const double turned = tac_dvec3_length(tac_dquat_log(
		tac_dquat_mul(r->device[i].rotation, tac_dquat_conjugate(r->device[i - 1].rotation))));
	return K * (SLEW * 1e-3 + 3 * (moved + (e->axes == 6 ? ARM_M : 0) * turned)) *
	       (e->torque ? ARM_M : 1);
}

static tac_dvec3 error_at(const record *r, int i)
{
	return tac_dvec3_sub(r->force[i], r->ideal[i]);
}

static double above_50_hz(const record *r, int i)
{
	tac_dvec3 mean = tac_dvec3_zero();
	for (int k = -HALF_MEAN; k <= HALF_MEAN; k++)
		mean = tac_dvec3_add_scaled(mean, 1.0 / (2 * HALF_MEAN + 1), error_at(r, i + k));
	return tac_dvec3_length(tac_dvec3_sub(error_at(r, i), mean));
}

static void print_measures(const experiment *e, const record *r)
{
	double direction = 0, low = HUGE_VAL, high = -HUGE_VAL, jump = 0, share = 0, fast = 0;
	int dropouts = 0, strong = -TICKS;
	bool vanished = false;
	for (int i = SETTLED; i < TICKS; i++) {
		const double length = tac_dvec3_length(r->force[i]), ideal = tac_dvec3_length(r->ideal[i]);
		const double step = tac_dvec3_length(tac_dvec3_sub(r->force[i], r->force[i - 1]));
		jump = fmax(jump, step);
		share = fmax(share, step / step_bound(e, r, i));
		if (length > 1) {
			dropouts += vanished && i - strong <= 10;
			strong = i;
			vanished = false;
		}
		vanished |= length == 0;
		low = fmin(low, length - ideal);
		high = fmax(high, length - ideal);
		if (length * ideal > 0)
			direction = fmax(direction,
					 atan2(tac_dvec3_length(tac_dvec3_cross(r->force[i], r->ideal[i])),
					       tac_dvec3_dot(r->force[i], r->ideal[i])));
		if (i > SETTLED + HALF_MEAN && i < TICKS - HALF_MEAN)
			fast = fmax(fast, above_50_hz(r, i));
	}
	if (e->ideal)
		printf(" %9.3f %8.4f", direction * 57.29577951, high - low);
	else
		printf(" %9s %8s", "-", "-");
	printf(" %7.3f %6.2f", jump, share);
	if (e->ideal)
		printf(" %8.4f", fast);
	else
		printf(" %8s", "-");
	printf(" %4d", dropouts);
}

static void note(const experiment *e, record *r, int tick, tac_dpose device, tac_dvec3 force)
{
	r->device[tick] = device;
	r->force[tick] = force;
	r->ideal[tick] = e->ideal ? e->ideal(device, tick) : tac_dvec3_zero();
}

static bool run(const experiment *e, const tac_world *world, record *r)
{
	follower hand = {.base = {.info = {.name = "path",
					   .position_axes = 3,
					   .rotation_axes = 3,
					   .force_axes = 3,
					   .torque_axes = 3,
					   .max_force_N = 1e3,
					   .max_torque_Nm = 1e3},
				  .read = follower_read,
				  .write = follower_write,
				  .enable = follower_enable}};
	tac_servo_def def = tac_servo_def_default();
	def.world = world;
	def.device = &hand.base;
	tac_servo *servo;
	if (tac_servo_create(&def, &servo) < TAC_OK)
		return false;
	for (int i = 0; i < TICKS; i++) {
		hand.T = e->path(e, i);
		tac_servo_step(servo, i * MS, NULL);
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		note(e, r, i, hand.T, e->torque ? s->sent.torque_Nm : s->sent.force_N);
	}
	tac_servo_destroy(&servo);
	return true;
}

// False: CHAI3D is not there, or cannot do this.
static bool run_chai3d(const experiment *e, const tac_world *world, record *r)
{
	chai3d_scene *scene;
	if (e->torque || !chai3d_scene_create(world, &scene))
		return false;
	bool good = true;
	tac_dvec3 last = tac_dvec3_zero();
	for (int i = 0; i < TICKS && good; i++) {
		const tac_dpose T = e->path(e, i);
		const tac_dvec3 v =
			i ? tac_dvec3_scale(tac_dvec3_sub(T.position, last), 1e3) : tac_dvec3_zero();
		chai3d_result result;
		good = chai3d_scene_step(scene, i * MS, T, v, &result);
		if (good)
			note(e, r, i, T, result.force_N);
		last = T.position;
	}
	chai3d_scene_destroy(&scene);
	return good;
}

static void no_log(void *user, tac_log_level level, const char *text)
{
	(void)user, (void)level, (void)text;
}

static bool report(const experiment *e, bool *chai3d, record *r)
{
	char text[2048];
	snprintf(
		text, sizeof text,
		"scene: feel\nmaterials: [{name: m, stiffness_N_per_m: 1000%s}]\ntools: [{name: t, axes: %d, "
		"shapes: [%s], limits: {max_force_N: 500, max_torque_Nm: 100, engage_s: 0.001, "
		"max_speed_m_per_s: 100}}]\nobjects: [{name: o, material: m, %s}]\n",
		e->material, e->axes, e->tool, e->object);
	tac_scene *scene;
	tac_world *world;
	if (tac_scene_parse(text, strlen(text), "feel", &scene) < TAC_OK)
		return false;
	bool good = true;
	if (tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK) {
		printf("%-30s no mesh\n", e->name);
	} else {
		printf("%-30s", e->name);
		good = run(e, world, r);
		if (good)
			print_measures(e, r);
		const bool sphere = strcmp(e->tool, SPHERE) == 0 || strcmp(e->tool, CORNER) == 0;
		if (good && *chai3d && sphere) {
			*chai3d = run_chai3d(e, world, r);
			printf(" |");
			if (*chai3d)
				print_measures(e, r);
		}
		printf("\n");
		tac_world_destroy(&world);
	}
	tac_scene_destroy(&scene);
	return good;
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL; // part of the name of an experiment
	record *r = malloc(sizeof *r);
	if (!r)
		return EXIT_FAILURE;
	tac_log_set(no_log, NULL);
	printf("1000 N/m, 1 kHz, 2 N unless the shape says otherwise; force in N (torque in Nm where it "
	       "turns).\n"
	       "Right of the bar: CHAI3D, where its plugin is there and the tool is a sphere.\n");
	printf("%-30s %9s %8s %7s %6s %8s %4s\n", "", "direction", "ripple", "jump", "/bound", "> 50 Hz",
	       "out");
	bool good = true, chai3d = true;
	for (size_t i = 0; i < sizeof experiments / sizeof *experiments && good; i++) {
		if (!only || strstr(experiments[i].name, only))
			good = report(&experiments[i], &chai3d, r);
	}
	free(r);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
