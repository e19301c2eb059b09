// The forces of materials through the whole tick, against closed forms: friction, texture, viscosity, smooth
// normals, blended stiffness.
#include "tests/support/limits.h"
#include "tests/support/servo_fixture.h"

#include "haptic/force/texture.h"

#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define BOX                                                                                                  \
	"scene: t\ntools: [{name: box, axes: 3, "                                                            \
	"shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
#define FLOOR                                                                                                \
	"objects: [{name: floor, material: m, position_m: [0, 0, -0.05], "                                   \
	"shapes: [{kind: box, size_m: [0.4, 0.4, 0.1], segments: 4}]}]\n"

// ---- friction ----

#define ROUGH                                                                                                \
	"materials: [{name: m, stiffness_N_per_m: 1000, static_friction: 0.5, "                              \
	"dynamic_friction: 0.3, friction_stiffness_N_per_m: 1000}]\n"

static void the_force_on_a_sliding_tool_leans_by_the_angle_of_friction(void)
{
	fixture f;
	fixture_build(&f, BOX ROUGH FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(-0.05, 0, 0.03));
	move_to(&f, tac_dvec3_make(-0.05, 0, 0.008), 200);
	move_to(&f, tac_dvec3_make(-0.03, 0, 0.008), 200); // 0.1 m/s
	double largest_ratio = 0;
	for (int i = 0; i < 300; i++) {
		const tac_snapshot *s = step_to(&f, tac_dvec3_make(-0.03 + 1e-4 * i, 0, 0.008));
		const tac_dvec3 force = f.hand.wrench.force_N;
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, atan(0.3), atan2(-force.x, force.z));
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, force.y);
		TEST_ASSERT_TRUE(s->friction.slipping);
		largest_ratio = fmax(largest_ratio, hypot(force.x, force.y) / force.z);
	}
	TEST_ASSERT_TRUE(largest_ratio < 0.301);
	fixture_fini(&f);
}

static void a_tool_that_sticks_is_held_within_the_cone_and_does_not_drift(void)
{
	fixture f;
	fixture_build(&f, BOX ROUGH FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
	// A load of 2 N holds up to 1 N, which bends the bristle by 1 mm. Shake by 0.4 mm.
	for (int i = 0; i < 2000; i++) {
		const double x = 4e-4 * sin(i * 0.05);
		const tac_snapshot *s = step_to(&f, tac_dvec3_make(x, 0, 0.008));
		TEST_ASSERT_FALSE(s->friction.slipping);
		TEST_ASSERT_DOUBLE_WITHIN(2e-3, -1000 * x, f.hand.wrench.force_N.x);
	}
	move_to(&f, tac_dvec3_make(0, 0, 0.008), 5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, f.hand.wrench.force_N.x);
	fixture_fini(&f);
}

// ---- work ----

// The work done on the hand along a closed path.
static double work_around(const char *text, int laps)
{
	fixture f;
	fixture_build(&f, text, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0.02, 0, 0.03));
	move_to(&f, tac_dvec3_make(0.02, 0, 0.008), 200);
	double work = 0;
	const int ticks = 2000;
	move_to(&f, tac_dvec3_make(0.02, 0, 0.008), 20);
	for (int i = 1; i <= laps * ticks; i++) {
		const double angle = 6.283185307179586 * i / ticks;
		const tac_dvec3 before = f.hand.state.T_base_tool.position;
		const tac_dvec3 acting = f.hand.wrench.force_N;
		step_to(&f, tac_dvec3_make(0.02 * cos(angle), 0.02 * sin(angle), 0.008));
		const tac_dvec3 moved = tac_dvec3_sub(f.hand.state.T_base_tool.position, before);
		// By the trapezoidal rule.
		work += 0.5 * tac_dvec3_dot(tac_dvec3_add(acting, f.hand.wrench.force_N), moved);
	}
	fixture_fini(&f);
	return work;
}

static void work_along_a_closed_path_is_zero_without_friction_and_friction_times_length_with_it(void)
{
	const double length = 6.283185307179586 * 0.02;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, work_around(BOX "materials: [{name: m}]\n" FLOOR, 1));
	// A load of 2 N, slipping except for the first 0.6 mm.
	TEST_ASSERT_DOUBLE_WITHIN(0.001, -0.3 * 2 * 2 * length, work_around(BOX ROUGH FLOOR, 2));
	// The force of a texture has a potential.
	TEST_ASSERT_DOUBLE_WITHIN(
		2e-6, 0,
		work_around(BOX "materials: [{name: m, texture: bumps, texture_height_m: 0.0003, "
				"texture_wavelength_m: 0.01}]\n" FLOOR,
			    1));
}

// ---- texture ----

static void the_slope_of_a_texture_is_the_gradient_of_its_height(void)
{
	tac_material m = tac_material_default();
	m.texture_height_m = 3e-4;
	m.texture_wavelength_m = 7e-3;
	m.texture_along = tac_dvec3_make(1, 2, -0.5);
	for (m.texture = TAC_TEXTURE_NONE; m.texture <= TAC_TEXTURE_BUMPS; m.texture++) {
		for (int i = 0; i < 100; i++) {
			const tac_dvec3 p = tac_dvec3_make(1e-3 * i, -2e-4 * i, 3e-4 * i);
			const tac_texture_sample t = tac_texture_at(&m, p, NULL);
			TEST_ASSERT_TRUE(t.height_m <= 0 && t.height_m >= -3e-4 - 1e-12);
			for (int axis = 0; axis < 3; axis++) {
				const double h = 1e-7;
				double d[3] = {0};
				d[axis] = h;
				const double up =
					tac_texture_at(&m, tac_dvec3_add(p, tac_dvec3_load(d)), NULL)
						.height_m;
				const double down =
					tac_texture_at(&m, tac_dvec3_sub(p, tac_dvec3_load(d)), NULL)
						.height_m;
				TEST_ASSERT_DOUBLE_WITHIN(1e-6, (up - down) / (2 * h),
							  tac_dvec3_get(t.slope, axis));
			}
		}
	}
}

static void the_force_of_grooves_is_the_gradient_of_their_energy(void)
{
	const double K = 800, H = 2e-4, L = 0.004, d = 0.003;
	fixture f;
	fixture_build(&f,
		      BOX "materials: [{name: m, stiffness_N_per_m: 800, texture: grooves, "
			  "texture_height_m: 0.0002, texture_wavelength_m: 0.004}]\n" FLOOR,
		      "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.007), 200);
	for (int i = 0; i < 400; i++) {
		const double x = 2e-5 * i, phase = 6.283185307179586 * x / L;
		step_to(&f, tac_dvec3_make(x, 0.001, 0.007));
		const double h = 0.5 * H * (cos(phase) - 1),
			     slope = -0.5 * H * 6.283185307179586 / L * sin(phase);
		assert_near(tac_dvec3_make(-K * (d + h) * slope, 0, K * (d + h)), f.hand.wrench.force_N,
			    2e-3);
	}
	fixture_fini(&f);
}

// ---- viscosity ----

static void viscosity_drags_along_the_surface_and_not_against_it(void)
{
	fixture f;
	fixture_build(&f, BOX "materials: [{name: m, viscosity_N_s_per_m: 2}]\n" FLOOR, "wide",
		      tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
	for (int i = 0; i < 300; i++) { // 0.1 m/s along (0.6, 0.8)
		step_to(&f, tac_dvec3_make(6e-5 * i, 8e-5 * i, 0.008));
		if (i > 60) // the filter has settled
			assert_near(tac_dvec3_make(-0.12, -0.16, 2), f.hand.wrench.force_N, 1e-3);
	}
	fixture_fini(&f);
}

// The amplitude of the force's component at `hz`, over `count` samples at `rate`.
static double amplitude(const double *force, int count, double hz, double rate)
{
	double c = 0, s = 0;
	for (int i = 0; i < count; i++) {
		const double a = 6.283185307179586 * hz / rate * i;
		c += force[i] * cos(a) / count;
		s += force[i] * sin(a) / count;
	}
	return 2 * hypot(c, s);
}

// Strokes over grooves of 0.5 mm at `hz` waves a second; returns the largest component below 0.9 hz, and at
// hz.
static void stroke_grooves(double hz, double rate, double *out_below, double *out_at)
{
	enum { COUNT = 400 };
	tac_servo_def def = tac_servo_def_default();
	def.period_ns = llround(1e9 / rate);
	fixture f;
	fixture_build(&f,
		      "scene: t\ntools: [{name: box, axes: 3, limits: {max_speed_m_per_s: 100}, "
		      "shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n"
		      "materials: [{name: m, stiffness_N_per_m: 1000, texture: grooves, "
		      "texture_height_m: 0.00005, texture_wavelength_m: 0.0005}]\n"
		      "objects: [{name: floor, material: m, position_m: [0, 0, -0.05], "
		      "shapes: [{kind: box, size_m: [2, 0.4, 0.1], segments: 2}]}]\n",
		      "wide", def);
	double force[2][COUNT] = {{0}};
	for (int i = -700; i < COUNT + 100; i++) {
		f.now_ns = (i + 700) * def.period_ns;
		const double z = i < -500 ? 0.03 - 0.022 * (i + 700) / 200 : 0.008;
		step_to(&f, tac_dvec3_make(-0.5 + 0.0005 * hz / rate * fmax(i, 0), 0, z));
		if (i >= 100) {
			force[0][i - 100] = f.hand.wrench.force_N.x;
			force[1][i - 100] = f.hand.wrench.force_N.z;
		}
	}
	*out_below = *out_at = 0;
	for (int axis = 0; axis < 2; axis++) {
		for (double below = rate / COUNT; below < fmin(0.9 * hz, 0.45 * rate); below += rate / COUNT)
			*out_below = fmax(*out_below, amplitude(force[axis], COUNT, below, rate));
		*out_at = fmax(*out_at, amplitude(force[axis], COUNT, hz, rate));
	}
	fixture_fini(&f);
}

static void a_texture_is_never_felt_below_its_true_frequency(void)
{
	for (double rate = 1000; rate <= 4000; rate *= 4) {
		for (double hz = 0.04 * rate; hz < 1.3 * rate; hz += 0.06 * rate) {
			double below, at;
			stroke_grooves(hz, rate, &below, &at);
			// Exact: 2 N times the slope, 0.05 pi.
			if (hz <= 0.2 * rate)
				TEST_ASSERT_DOUBLE_WITHIN(0.02, 1.95 * 0.314159, at);
			TEST_ASSERT_TRUE(below < 0.01);
		}
	}
}

// ---- twisting ----

// A box of 20 mm pressed with 2 N and turned about the vertical. Friction that is spread evenly over a square
// of side a acts at a mean radius of 0.3826 a, (sqrt 2 + asinh 1) / 6.
static void friction_resists_twisting_with_the_patchs_own_radius(void)
{
	fixture f;
	fixture_build(&f,
		      "scene: t\ntools: [{name: box, "
		      "shapes: [{kind: box, size_m: [0.02, 0.02, 0.02], segments: 1}]}]\n" ROUGH FLOOR,
		      "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0.001, 0.002, 0.03));
	move_to(&f, tac_dvec3_make(0.001, 0.002, 0.008), 200);
	const double radius = 0.02 * (sqrt(2) + asinh(1)) / 6;
	double most = 0;
	for (int i = 0; i < 1000; i++) {
		f.hand.state.T_base_tool.rotation = tac_dquat_exp(tac_dvec3_make(0, 0, 5e-4 * i));
		step_to(&f, tac_dvec3_make(0.001, 0.002, 0.008));
		most = fmax(most, -f.hand.wrench.torque_Nm.z);
		if (i > 500)
			TEST_ASSERT_DOUBLE_WITHIN(0.02 * 0.3 * 2 * radius, -0.3 * 2 * radius,
						  f.hand.wrench.torque_Nm.z);
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * 0.5 * 2 * radius, 0.5 * 2 * radius, most);
	// A turn back releases the bristle, and the torque changes its sign.
	for (int i = 1000; i > 500; i--) {
		f.hand.state.T_base_tool.rotation = tac_dquat_exp(tac_dvec3_make(0, 0, 5e-4 * i));
		step_to(&f, tac_dvec3_make(0.001, 0.002, 0.008));
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.02 * 0.3 * 2 * radius, 0.3 * 2 * radius, f.hand.wrench.torque_Nm.z);
	fixture_fini(&f);
}

static void a_tool_with_three_axes_gets_no_torque(void)
{
	fixture f;
	fixture_build(&f, BOX ROUGH FLOOR, "wide", tac_servo_def_default());
	step_to(&f, tac_dvec3_make(0, 0, 0.03));
	move_to(&f, tac_dvec3_make(0, 0, 0.008), 200);
	for (int i = 0; i < 200; i++) {
		step_to(&f, tac_dvec3_make(5e-5 * i, 0, 0.008));
		assert_near(tac_dvec3_zero(), f.hand.wrench.torque_Nm, 0);
	}
	fixture_fini(&f);
}

// ---- stiffness ----

static void stiffness_is_the_mean_of_the_materials_weighted_by_load(void)
{
	fixture f;
	fixture_build(&f,
		      BOX
		      "materials: [{name: a, stiffness_N_per_m: 400}, {name: b, stiffness_N_per_m: 1200}]\n"
		      "objects:\n"
		      "- {name: left, material: a, position_m: [-0.05, 0, -0.05], "
		      "shapes: [{kind: box, segments: 1}]}\n"
		      "- {name: right, material: b, position_m: [0.05, 0, -0.05], "
		      "shapes: [{kind: box, segments: 1}]}\n",
		      "wide", tac_servo_def_default());
	const struct {
		double x, stiffness, tolerance;
	} expect[] = {{-0.03, 400, 1e-6}, {0.03, 1200, 1e-6}, {0, 800, 50}};
	for (int i = 0; i < 3; i++) {
		move_to(&f, tac_dvec3_make(expect[i].x, 0, 0.03), 100);
		const tac_snapshot *s = move_to(&f, tac_dvec3_make(expect[i].x, 0, 0.008), 200);
		TEST_ASSERT_DOUBLE_WITHIN(expect[i].tolerance, expect[i].stiffness, s->stiffness_N_per_m);
		TEST_ASSERT_DOUBLE_WITHIN(1e-3, s->stiffness_N_per_m * 0.002, f.hand.wrench.force_N.z);
	}
	fixture_fini(&f);
}

// ---- smooth normals ----

#define BALL_M   0.05
#define K        500.0 // N/m
#define UNDER_M  0.046 // distance of the device's path from the centre of the ball
#define STEP_RAD 5e-4  // per tick

typedef struct stroke_result {
	double error_rad; // of the force's direction relative to the exact sphere's normal
	double jump_rad;  // largest change of the direction per tick
	double step_N;    // largest change of the force per tick
	double max_N;     // largest force
} stroke_result;

// Strokes over a coarse ball at a depth of 4 mm with a tip of 1 mm radius.
static stroke_result stroke(const char *tip, const char *smooth)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "scene: t\ntools: [{name: tip, axes: 3, shapes: [%s]}]\n"
		 "materials: [{name: m, stiffness_N_per_m: 500%s}]\n"
		 "objects: [{name: ball, material: m, "
		 "shapes: [{kind: sphere, radius_m: 0.05, subdivisions: 2}]}]\n",
		 tip, smooth);
	fixture f;
	fixture_build(&f, text, "wide", tac_servo_def_default());
	stroke_result out = {0};
	tac_dvec3 before = tac_dvec3_zero();
	step_to(&f, tac_dvec3_make(0.012, 0, 0.07));
	for (int i = 0; i < 2000; i++) {
		const double angle = 0.2 + STEP_RAD * i;
		const double radius = i < 200 ? 0.07 - (0.07 - UNDER_M) * i / 200 : UNDER_M;
		const tac_dvec3 at = tac_dvec3_make(radius * sin(angle), 0.004, radius * cos(angle));
		step_to(&f, at);
		const tac_dvec3 force = f.hand.wrench.force_N;
		if (i >= 400) {
			out.max_N = fmax(out.max_N, tac_dvec3_length(force));
			const tac_dvec3 n = tac_dvec3_normalize(force);
			out.error_rad =
				fmax(out.error_rad, acos(fmin(tac_dvec3_dot(n, tac_dvec3_normalize(at)), 1)));
			if (i > 400) {
				const double cosine = tac_dvec3_dot(n, tac_dvec3_normalize(before));
				out.jump_rad = fmax(out.jump_rad, acos(fmin(cosine, 1)));
				out.step_N = fmax(out.step_N, tac_dvec3_length(tac_dvec3_sub(force, before)));
			}
		}
		before = force;
	}
	fixture_fini(&f);
	return out;
}

// With smooth normals the force rotates as the device moves around the ball, and changes by at most the
// stiffness times the device's motion, over edges, too. (The normals of the coarse ball rotate up to 1.3
// times as fast as those of the exact one.) A faceted tip touches with one corner after the other: the
// touching point may jump by the length of a facet, and the normal by that over the ball's radius.
#define NORMAL_RATE 1.3

static void with_smooth_normals_the_facets_of_a_ball_are_not_felt(void)
{
	static const struct {
		const char *name, *shape;
		double facet_m; // longest edge of the tip
	} tips[] = {
		{"round tip", "{kind: solids, solids: \"sphere:r=0.001\"}", 0},
		{"mesh tip", "{kind: body, radius_m: 0.001, bump_m: 0, subdivisions: 1}", 6.2e-4},
	};
	for (int i = 0; i < 2; i++) {
		const stroke_result flat = stroke(tips[i].shape, ", smooth: false"),
				    smooth = stroke(tips[i].shape, "");
		printf("%s: facets: error %.4f rad, jumps %.5f rad, %.4f N; smooth: %.4f, %.5f, %.4f\n",
		       tips[i].name, flat.error_rad, flat.jump_rad, flat.step_N, smooth.error_rad,
		       smooth.jump_rad, smooth.step_N);
		const double motion_m = STEP_RAD * UNDER_M, facet_rad = tips[i].facet_m / BALL_M;
		TEST_ASSERT_TRUE(flat.error_rad > 0.1 && flat.jump_rad > 0.1);
		TEST_ASSERT_TRUE(flat.step_N > 10 * K * motion_m);
		TEST_ASSERT_TRUE(smooth.error_rad < 0.02);
		TEST_ASSERT_TRUE(smooth.jump_rad <= NORMAL_RATE * STEP_RAD + facet_rad);
		TEST_ASSERT_TRUE(smooth.step_N <= K * motion_m + smooth.max_N * facet_rad);
	}
}

// What a stroke over a smooth shape feels like, beside the exact shape.
typedef struct ripple {
	double direction_rad, magnitude, fast_N; // largest errors; magnitude relative; fast: above 50 Hz
} ripple;

enum { STROKE = 1500, SLOW = 10 };

// Slides a round tip of 2 mm, 2 mm deep, at 0.1 m/s around the y axis over a body of radius 30 mm; `ball`:
// the body is a ball, otherwise a cylinder. A tip with six axes turns by 1 rad/s as well.
static ripple slide_around(const char *tip, int axes, const char *shape, bool ball)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "scene: t\ntools: [{name: tip, axes: %d, shapes: [%s]}]\n"
		 "materials: [{name: m, stiffness_N_per_m: 1000}]\nobjects: [{name: o, material: m, shapes: "
		 "[%s]}]\n",
		 axes, tip, shape);
	fixture f;
	fixture_build(&f, text, "wide", tac_servo_def_default());
	static tac_dvec3 errors[STROKE];
	ripple out = {0};
	step_to(&f, tac_dvec3_make(0, 0.0013, 0.045));
	move_to(&f, tac_dvec3_make(0, 0.0013, 0.03), 200);
	for (int i = 0; i < STROKE; i++) {
		const double angle = 1e-4 / 0.03 * i;
		const tac_dvec3 at = tac_dvec3_make(0.03 * sin(angle), 0.0013, 0.03 * cos(angle));
		if (axes == 6)
			f.hand.state.T_base_tool.rotation =
				tac_dquat_exp(tac_dvec3_make(6e-4 * i, 8e-4 * i, 0));
		step_to(&f, at);
		const tac_dvec3 radial = tac_dvec3_make(at.x, ball ? at.y : 0, at.z);
		const double depth = 0.032 - tac_dvec3_length(radial);
		const tac_dvec3 ideal = tac_dvec3_scale(tac_dvec3_normalize(radial), 1000 * depth);
		const tac_dvec3 force = f.hand.wrench.force_N;
		errors[i] = tac_dvec3_sub(force, ideal);
		out.direction_rad = fmax(out.direction_rad, tac_dvec3_length(tac_dvec3_cross(force, ideal)) /
								    tac_dvec3_dot(force, ideal));
		out.magnitude =
			fmax(out.magnitude, fabs(tac_dvec3_length(force) / tac_dvec3_length(ideal) - 1));
	}
	// What a mean over 21 ms leaves.
	for (int i = SLOW; i < STROKE - SLOW; i++) {
		tac_dvec3 mean = tac_dvec3_zero();
		for (int k = -SLOW; k <= SLOW; k++)
			mean = tac_dvec3_add_scaled(mean, 1.0 / (2 * SLOW + 1), errors[i + k]);
		out.fast_N = fmax(out.fast_N, tac_dvec3_length(tac_dvec3_sub(errors[i], mean)));
	}
	fixture_fini(&f);
	return out;
}

// Facets of 1.5 mm and coarser ones, with the default material: vibration is felt from 0.01 N on.
static void over_curved_surfaces_neither_facets_nor_their_flatness_are_felt(void)
{
	static const struct {
		const char *name, *shape;
		bool ball;
		double direction_deg, magnitude;
	} shapes[] = {
		{"cylinder, 32 facets",
		 "{kind: cylinder, radius_m: 0.03, height_m: 0.1, segments: 32, rings: 8, rotation_rad: "
		 "[1.5707963, 0, 0]}",
		 false, 0.1, 0.01},
		{"cylinder, 128 facets",
		 "{kind: cylinder, radius_m: 0.03, height_m: 0.1, segments: 128, rings: 8, rotation_rad: "
		 "[1.5707963, 0, 0]}",
		 false, 0.1, 0.01},
		{"ball, 1280 facets", "{kind: sphere, radius_m: 0.03, subdivisions: 3}", true, 0.4, 0.01},
		{"ball, 20480 facets", "{kind: sphere, radius_m: 0.03, subdivisions: 5}", true, 0.1, 0.01},
	};
	static const struct {
		const char *name, *shape;
		int axes;
		double direction_deg, fast_N; // more than the shape's own; on coarser facets than 1.5 mm
	} tips[] = {
		{"round tip, 3 axes", "{kind: solids, solids: \"sphere:r=0.002\"}", 3, 0, 0.01},
		{"round tip, 6 axes", "{kind: solids, solids: \"sphere:r=0.002\"}", 6, 0, 0.01},
		{"mesh tip, 6 axes", "{kind: body, radius_m: 0.002, bump_m: 0, subdivisions: 4}", 6, 0.4,
		 0.02},
	};
	for (int k = 0; k < 3 * 4; k++) {
		const int i = k % 4, t = k / 4;
		if (TAC_TEST_SANITIZED && t > 0 && i < 3)
			continue;
		const ripple r = slide_around(tips[t].shape, tips[t].axes, shapes[i].shape, shapes[i].ball);
		const double degrees = r.direction_rad * 57.29577951;
		printf("%s on %s: direction within %.4f degrees, magnitude %.3f %%, above 50 Hz %.4f N\n",
		       tips[t].name, shapes[i].name, degrees, 100 * r.magnitude, r.fast_N);
		TEST_ASSERT_TRUE(degrees < fmax(shapes[i].direction_deg, tips[t].direction_deg));
		TEST_ASSERT_TRUE(r.magnitude < shapes[i].magnitude);
		TEST_ASSERT_TRUE(r.fast_N < (i == 0 ? tips[t].fast_N : 0.01));
	}
}

// Over edges and vertices of a cube, whose material is smooth, the force is that of the exact shape.
static void edges_sharper_than_the_crease_angle_are_exact(void)
{
	static const tac_dvec3 paths[][4] = {
		{{0.03, 0.003, 0.053}, {0.05, 0.003, 0.053}, {0.053, 0.003, 0.05}, {0.053, 0.003, 0.03}},
		{{0.03, 0.03, 0.053}, {0.0515, 0.0515, 0.0515}, {0.053, 0.045, 0.045}, {0.053, 0.03, 0.03}}};
	for (int p = 0; p < 2; p++) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: tip, axes: 3, "
			      "shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
			      "materials: [{name: m, stiffness_N_per_m: 1000, smooth: true}]\n"
			      "objects: [{name: o, material: m, shapes: [{kind: box, segments: 8}]}]\n",
			      "wide", tac_servo_def_default());
		step_to(&f, tac_dvec3_make(0.03, paths[p][0].y, 0.07));
		move_to(&f, paths[p][0], 200);
		double most = 0;
		for (int leg = 0; leg < 3; leg++) {
			for (int i = 1; i <= 200; i++) {
				const tac_dvec3 at =
					tac_dvec3_lerp(paths[p][leg], paths[p][leg + 1], i / 200.0);
				step_to(&f, at);
				const tac_dvec3 ideal = tac_dvec3_scale(
					tac_dvec3_sub(outside_cube(at, 0.05, 0.005), at), 1000);
				// Where the path turns, the SCO leaves its last 10 um to the next tick.
				if (i > 1)
					most = fmax(most,
						    tac_dvec3_length(
							    tac_dvec3_cross(f.hand.wrench.force_N, ideal)) /
							    tac_dvec3_dot(f.hand.wrench.force_N, ideal));
				assert_near(ideal, f.hand.wrench.force_N, 0.01);
			}
		}
		printf("%s: direction within %.4f degrees\n", p ? "vertex" : "edge", most * 57.29577951);
		TEST_ASSERT_TRUE(most < 0.1 / 57.29577951);
		fixture_fini(&f);
	}
}

// Around the edge on an arc, at speeds at which the SCO leaves its last 10 um to the next tick.
static void edges_are_exact_in_every_tick_at_every_speed(void)
{
	static const double steps_m[] = {5e-6, 2e-5, 3e-5, 4e-5, 5e-5, 1e-4};
	for (int k = 0; k < 6; k++) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: tip, axes: 3, "
			      "shapes: [{kind: solids, solids: \"sphere:r=0.005\"}]}]\n"
			      "materials: [{name: m, stiffness_N_per_m: 1000}]\n"
			      "objects: [{name: o, material: m, shapes: [{kind: box, segments: 8}]}]\n",
			      "wide", tac_servo_def_default());
		step_to(&f, tac_dvec3_make(0.049, 0.0031, 0.07));
		move_to(&f, tac_dvec3_make(0.049, 0.0031, 0.053), 200);
		double most = 0;
		for (double s = 0; s < 0.001 + 1.5707963 * 0.003; s += steps_m[k]) {
			const double angle = fmax(s - 0.001, 0) / 0.003;
			const tac_dvec3 at = tac_dvec3_make(0.049 + fmin(s, 0.001) + 0.003 * sin(angle),
							    0.0031, 0.05 + 0.003 * cos(angle));
			step_to(&f, at);
			const tac_dvec3 ideal =
				tac_dvec3_scale(tac_dvec3_sub(outside_cube(at, 0.05, 0.005), at), 1000);
			most = fmax(most, tac_dvec3_length(tac_dvec3_cross(f.hand.wrench.force_N, ideal)) /
						  tac_dvec3_dot(f.hand.wrench.force_N, ideal));
		}
		printf("edge, %.0f um a tick: direction within %.4f degrees\n", 1e6 * steps_m[k],
		       most * 57.29577951);
		TEST_ASSERT_TRUE(most < 0.1 / 57.29577951);
		fixture_fini(&f);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_force_on_a_sliding_tool_leans_by_the_angle_of_friction);
	RUN_TEST(a_tool_that_sticks_is_held_within_the_cone_and_does_not_drift);
	RUN_TEST(work_along_a_closed_path_is_zero_without_friction_and_friction_times_length_with_it);
	RUN_TEST(the_slope_of_a_texture_is_the_gradient_of_its_height);
	RUN_TEST(the_force_of_grooves_is_the_gradient_of_their_energy);
	RUN_TEST(a_texture_is_never_felt_below_its_true_frequency);
	RUN_TEST(friction_resists_twisting_with_the_patchs_own_radius);
	RUN_TEST(a_tool_with_three_axes_gets_no_torque);
	RUN_TEST(viscosity_drags_along_the_surface_and_not_against_it);
	RUN_TEST(stiffness_is_the_mean_of_the_materials_weighted_by_load);
	RUN_TEST(with_smooth_normals_the_facets_of_a_ball_are_not_felt);
	RUN_TEST(over_curved_surfaces_neither_facets_nor_their_flatness_are_felt);
	RUN_TEST(edges_sharper_than_the_crease_angle_are_exact);
	RUN_TEST(edges_are_exact_in_every_tick_at_every_speed);
	return UNITY_END();
}
