// The needle against sums by hand, closed forms and the balance of energy. The work of the hand is computed
// here, from the wrenches and the device's motion alone.
#include "base/rng.h"
#include "tests/support/limits.h"
#include "tests/support/needle_account.h"
#include "tissue/needle.h"
#include "tissue/needle/lateral.h"
#include "unity.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// A needle in one body whose skin is the plane z = 0, and the hand that holds it.
typedef struct rig {
	tac_needle *needle;
	tac_needle_body body;
	tac_needle_coupling coupling;
	double elapsed_s;
	tac_dpose device;
	tac_wrench wrench;
	double work_J;
	double worst; // of the balance, relative to the energy that was exchanged
	tac_needle_energy energy;
	bool fell; // a dissipated energy decreased
	const tac_needle_state *state;
} rig;

static rig r;

void setUp(void)
{
	memset(&r, 0, sizeof r);
}

void tearDown(void)
{
	tac_needle_destroy(&r.needle);
}

static tac_needle_layer layer(double thickness, double a1, double a2, double puncture, double cutting)
{
	return (tac_needle_layer){.thickness_m = thickness,
				  .tip_stiffness_N_per_m = a1,
				  .tip_stiffening_N_per_m2 = a2,
				  .puncture_N = puncture,
				  .cutting_N = cutting,
				  .shaft_stiffness_N_per_m2 = 4e4,
				  .turning = 1};
}

// Seven layers of a lumbar puncture, as in the design study.
static void use_lumbar_layers(void)
{
	static const double values[7][9] = {
		{0.005, 300, 3e5, 6.0, 2.0, 40, 4e4, 20, 3e4},
		{0.010, 100, 5e4, 2.2, 0.8, 12, 2e4, 10, 1e4},
		{0.004, 500, 3e5, 9.0, 3.5, 90, 6e4, 30, 3e4},
		{0.020, 400, 2e5, 7.5, 2.5, 70, 6e4, 30, 3e4},
		{0.005, 700, 5e5, 12.0, 4.0, 100, 8e4, 30, 3e4},
		{0.006, 30, 1e4, 0.3, 0.2, 6, 1e4, 5, 1e3},
		{0.010, 200, 1e5, 2.4, 0.5, 12, 2e4, 5, 1e4},
	};
	for (int i = 0; i < 7; i++) {
		const double *v = values[i];
		tac_needle_layer *l = &r.body.layers[i];
		*l = layer(v[0], v[1], v[2], v[3], v[4]);
		l->shaft_friction_N_per_m = v[5];
		l->shaft_stiffness_N_per_m2 = v[6];
		l->shaft_viscosity_N_s_per_m2 = v[7];
		l->lateral_stiffness_N_per_m2 = v[8];
	}
	r.body.layer_count = 7;
}

static void begin_with(double bending_Nm2, double curvature_per_m, double length_m, double rate_Hz)
{
	r.body.normal = tac_dvec3_make(0, 0, 1);
	r.body.min_m = tac_dvec3_make(-0.2, -0.2, -0.5);
	r.body.max_m = tac_dvec3_make(0.2, 0.2, 0);
	const tac_needle_def def = {.radius_m = 4.5e-4,
				    .length_m = length_m,
				    .bending_stiffness_Nm2 = bending_Nm2,
				    .curvature_per_m = curvature_per_m,
				    .bodies = &r.body,
				    .body_count = 1};
	TEST_ASSERT_EQUAL(TAC_OK, tac_needle_create(&def, &r.needle));
	r.coupling = (tac_needle_coupling){1500, 1500 * 0.03 * 0.03};
	r.elapsed_s = 1 / rate_Hz;
	r.device = tac_dpose_make(tac_dvec3_make(0, 0, 0.001), tac_dquat_identity());
	r.state = tac_needle_state_of(r.needle);
	r.work_J = r.worst = 0;
	r.wrench = (tac_wrench){{0, 0, 0}, {0, 0, 0}};
	r.energy = (tac_needle_energy){0};
	r.fell = false;
}

// One tick, and the hand's work in it.
static void step(tac_dpose device)
{
	const tac_dpose body = tac_dpose_identity();
	tac_dpose tool;
	const tac_wrench w = tac_needle_solve(r.needle, device, &body, &r.coupling, r.elapsed_s, &tool);
	tac_needle_commit(r.needle, tool);
	const tac_dvec3 moved = tac_dvec3_sub(device.position, r.device.position);
	const tac_dvec3 turned =
		tac_dquat_log(tac_dquat_mul(device.rotation, tac_dquat_conjugate(r.device.rotation)));
	r.work_J -= 0.5 * (tac_dvec3_dot(tac_dvec3_add(w.force_N, r.wrench.force_N), moved) +
			   tac_dvec3_dot(tac_dvec3_add(w.torque_Nm, r.wrench.torque_Nm), turned));
	const tac_needle_energy *e = &r.state->energy;
	const double taken = tac_needle_stored_J(e) + tac_needle_dissipated_J(e);
	if (taken > 2e-3) // below that the tick in which the skin was met counts too much
		r.worst = fmax(r.worst, fabs(r.work_J - taken) / taken);
	r.fell |= dissipation_fell(&r.energy, e);
	r.energy = *e;
	r.device = device;
	r.wrench = w;
}

// Moves the tip straight down or up to the height `z` at a constant speed.
static void move_to(double z, double speed)
{
	const double from = r.device.position.z, way = fabs(z - from);
	const int ticks = (int)ceil(way / (speed * r.elapsed_s));
	for (int i = 1; i <= ticks; i++)
		step(tac_dpose_make(tac_dvec3_make(0, 0, from + (z - from) * i / ticks),
				    tac_dquat_identity()));
}

static double length_in(int i, double depth)
{
	double top = 0;
	for (int k = 0; k < i; k++)
		top += r.body.layers[k].thickness_m;
	const double end =
		i + 1 < r.body.layer_count ? fmin(depth, top + r.body.layers[i].thickness_m) : depth;
	return fmax(end - top, 0);
}

// Friction and viscosity of a shaft that is `depth` inside and moves at `speed`.
static double shaft_by_hand(double depth, double speed)
{
	double sum = 0;
	for (int i = 0; i < r.body.layer_count; i++)
		sum += length_in(i, depth) * (r.body.layers[i].shaft_friction_N_per_m +
					      r.body.layers[i].shaft_viscosity_N_s_per_m2 * speed);
	return sum;
}

// ---- N01, N02, N03 ----

static void peak_at_each_membrane_is_puncture_force_plus_friction(void)
{
	static const double rates[] = {500, 1000, 4000};
	for (int k = 0; k < 3; k++) {
		use_lumbar_layers();
		begin_with(0, 0, 0.09, rates[k]);
		int found = 0;
		double depth = 0;
		for (double z = 0.001; z > -0.07; z -= 5e-3 * r.elapsed_s) {
			const double peak = r.wrench.force_N.z,
				     speed = (r.state->depth_m - depth) / r.elapsed_s;
			const int opened = r.state->opened;
			depth = r.state->depth_m;
			const double friction = shaft_by_hand(r.state->front_m, speed);
			step(tac_dpose_make(tac_dvec3_make(0, 0, z), tac_dquat_identity()));
			if (r.state->opened == opened)
				continue;
			// The epidural membrane opens while the flavum's spring lets go.
			if (opened == 5)
				continue;
			const double wanted = r.body.layers[opened].puncture_N + friction;
			TEST_ASSERT_DOUBLE_WITHIN(0.01 * wanted, wanted, peak);
			found++;
		}
		TEST_ASSERT_EQUAL(6, found);
		TEST_ASSERT_EQUAL(7, r.state->punctures);
		tac_needle_destroy(&r.needle);
	}
}

static void steady_force_is_cutting_force_plus_friction_in_and_friction_out(void)
{
	use_lumbar_layers();
	r.body.layers[1].thickness_m = 0.05;
	begin_with(0, 0, 0.09, 1000);
	const double speed = 8e-3;
	for (int i = 1; i <= 5; i++) {
		move_to(-0.02 - 0.006 * i, speed);
		const double wanted = r.body.layers[1].cutting_N + shaft_by_hand(r.state->front_m, speed);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * wanted, wanted, r.wrench.force_N.z);
	}
	move_to(-0.048, speed); // bristles bend back
	for (int i = 1; i <= 5; i++) {
		move_to(-0.048 + 0.008 * i, speed);
		const double wanted = -shaft_by_hand(r.state->depth_m, speed);
		TEST_ASSERT_DOUBLE_WITHIN(-0.01 * wanted, wanted, r.wrench.force_N.z);
	}
}

static void second_insertion_finds_its_track(void)
{
	use_lumbar_layers();
	begin_with(0, 0, 0.09, 1000);
	move_to(-0.05, 0.01);
	const double front = r.state->front_m;
	const int opened = r.state->opened;
	move_to(0.002, 0.01);
	TEST_ASSERT_EQUAL(-1, r.state->body);
	TEST_ASSERT_EQUAL_DOUBLE(0, r.wrench.force_N.z);
	const double cutting_J = r.state->energy.cutting, puncture_J = r.state->energy.puncture;
	while (r.state->depth_m < front - 1e-4) {
		move_to(r.device.position.z - 1e-5, 0.01);
		TEST_ASSERT_EQUAL_DOUBLE(0, r.state->tip_N);
		if (r.state->depth_m > 0.001) {
			TEST_ASSERT_EQUAL(opened, r.state->opened);
			TEST_ASSERT_EQUAL_DOUBLE(front, r.state->front_m);
		}
		TEST_ASSERT_EQUAL_DOUBLE(cutting_J, r.state->energy.cutting);
		TEST_ASSERT_EQUAL_DOUBLE(puncture_J, r.state->energy.puncture);
	}
	TEST_ASSERT_EQUAL(2, r.state->insertions);
	// Beside it the skin is closed.
	move_to(0.002, 0.01);
	for (double x = 0; x < 0.003; x += 1e-4)
		step(tac_dpose_make(tac_dvec3_make(x, 0, 0.002), tac_dquat_identity()));
	for (double z = 0.002; z > -0.004; z -= 1e-5)
		step(tac_dpose_make(tac_dvec3_make(0.003, 0, z), tac_dquat_identity()));
	TEST_ASSERT_EQUAL(0, r.state->opened);
	TEST_ASSERT_TRUE(r.state->tip_N > 1);
}

// ---- N04 ----

static void work_is_stored_or_dissipated_in_every_tick(void)
{
	static const struct {
		double rate_Hz, speed;
	} runs[] = {{500, 5e-3}, {1000, 5e-3}, {4000, 5e-3}, {1000, 0.05}, {1000, 0.1}};
	for (int k = 0; k < 5; k++) {
		use_lumbar_layers();
		begin_with(0, 0, 0.09, runs[k].rate_Hz);
		move_to(-0.07, runs[k].speed);
		move_to(0.004, runs[k].speed);
		const tac_needle_energy *e = &r.state->energy;
		TEST_ASSERT_FALSE(r.fell);
		TEST_ASSERT_TRUE(r.worst < 1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, r.work_J, e->work);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_needle_stored_J(e));
		TEST_ASSERT_TRUE(e->cutting > 0.1 && e->friction > 0.15 && e->puncture > 0.01 &&
				 e->snap > 0.01 && e->viscosity > 0.01);
		tac_needle_destroy(&r.needle);
	}
}

// A linear tip without friction: everything at the puncture has a closed form. At the moment of the puncture
// the tip's spring holds P^2 / 2a and the coupling P^2 / 2k; after it C^2 / 2a and C^2 / 2k, and the front
// has moved by what both springs have given up, P/a + P/k - C/a - C/k.
static void energies_of_one_puncture_have_a_closed_form(void)
{
	const double a = 400, P = 3, C = 1, k = 1500;
	r.body.layers[0] = layer(1, a, 0, P, C);
	r.body.layer_count = 1;
	begin_with(0, 0, 0.09, 1000);
	while (r.state->opened == 0)
		step(tac_dpose_make(tac_dvec3_make(0, 0, r.device.position.z - 1e-6), tac_dquat_identity()));
	const tac_needle_energy *e = &r.state->energy;
	const double way = (P - C) * (1 / a + 1 / k);
	TEST_ASSERT_DOUBLE_WITHIN(2e-6, way, r.state->front_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * C, C, r.wrench.force_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * C * way, C * way, e->cutting);
	const double given = 0.5 * (P * P - C * C) * (1 / a + 1 / k);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * given, given - C * way, e->puncture + e->snap);
	// The tip's spring gives up (P^2 - C^2) / 2a, of which C (P - C) / a was needed to cut.
	const double puncture = 0.5 * (P - C) * (P - C) / a;
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * puncture, puncture, e->puncture);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * C * C, 0.5 * C * C / a, e->tip);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * C * C, 0.5 * C * C / k, e->coupling);
}

// A hand that wanders: three sines a coordinate, or sudden jabs.
typedef struct wanderer {
	double amplitude[6][3], frequency[6][3], phase[6][3];
} wanderer;

static wanderer make_wanderer(tac_rng *rng, double depth, double across, double turn)
{
	wanderer w;
	for (int c = 0; c < 6; c++) {
		const double most = c == 2 ? depth : c < 2 ? across : turn;
		for (int i = 0; i < 3; i++) {
			w.amplitude[c][i] = tac_rng_range_f64(rng, 0, most / 2);
			w.frequency[c][i] = tac_rng_range_f64(rng, 0.1, 1.5);
			w.phase[c][i] = tac_rng_range_f64(rng, 0, 2 * PI);
		}
	}
	return w;
}

static tac_dpose wander(const wanderer *w, double t)
{
	double x[6] = {0};
	for (int c = 0; c < 6; c++) {
		for (int i = 0; i < 3; i++)
			x[c] += w->amplitude[c][i] * sin(2 * PI * w->frequency[c][i] * t + w->phase[c][i]);
	}
	return tac_dpose_make(tac_dvec3_make(x[0], x[1], x[2]), tac_dquat_exp(tac_dvec3_load(x + 3)));
}

static void use_random_layers(tac_rng *rng)
{
	r.body.layer_count = 1 + (int)(tac_rng_range_f64(rng, 0, 7.99));
	for (int i = 0; i < r.body.layer_count; i++) {
		tac_needle_layer *l = &r.body.layers[i];
		*l = layer(exp(tac_rng_range_f64(rng, log(5e-4), log(0.02))),
			   exp(tac_rng_range_f64(rng, log(30), log(3000))),
			   tac_rng_range_f64(rng, 0, 1) < 0.3
				   ? 0
				   : exp(tac_rng_range_f64(rng, log(1e3), log(1e6))),
			   tac_rng_range_f64(rng, 0, 12), tac_rng_range_f64(rng, 0, 6));
		l->shaft_friction_N_per_m = tac_rng_range_f64(rng, 0, 120);
		l->shaft_stiffness_N_per_m2 = exp(tac_rng_range_f64(rng, log(5e3), log(1e5)));
		l->shaft_viscosity_N_s_per_m2 =
			tac_rng_range_f64(rng, 0, 1) < 0.3 ? 0 : tac_rng_range_f64(rng, 0, 40);
		l->lateral_stiffness_N_per_m2 =
			tac_rng_range_f64(rng, 0, 1) < 0.2 ? 0 : tac_rng_range_f64(rng, 0, 5e4);
		l->relaxation_N_per_m =
			tac_rng_range_f64(rng, 0, 1) < 0.5 ? 0 : tac_rng_range_f64(rng, 10, 1000);
		l->relaxation_s = exp(tac_rng_range_f64(rng, log(0.05), log(3)));
	}
}

// Whatever the layers and the hand: nothing dissipated ever returns, all is finite, and work is never gained.
static void random_layers_and_hands_never_gain_energy(void)
{
	tac_rng rng = tac_rng_seed(11, 0);
	const int rounds = test_rounds(400);
	for (int k = 0; k < rounds; k++) {
		use_random_layers(&rng);
		begin_with(k % 3 == 0 ? exp(tac_rng_range_f64(&rng, log(1e-4), log(1e-2))) : 0,
			   k % 4 == 0 ? tac_rng_range_f64(&rng, -6, 6) : 0, 0.09, 1000);
		const wanderer w = make_wanderer(&rng, 0.05, k % 2 ? 0.004 : 0, k % 2 ? 0.1 : 0);
		r.device = wander(&w, 0);
		for (int i = 0; i < 2000; i++) {
			tac_dpose T = wander(&w, i * 1e-3);
			if (k % 5 == 4) // jabs
				T.position.z = i / 150 % 2 ? -0.03 : 0.004;
			step(T);
			TEST_ASSERT_TRUE(tac_dvec3_finite(r.wrench.force_N) &&
					 tac_dvec3_finite(r.wrench.torque_Nm));
			TEST_ASSERT_TRUE(tac_needle_stored_J(&r.state->energy) >= -1e-12);
			TEST_ASSERT_FALSE(r.fell);
			TEST_ASSERT_TRUE(r.state->front_m >= 0 && r.state->opened <= r.body.layer_count);
		}
		tac_needle_destroy(&r.needle);
	}
}

// The balance with a hand that also tilts: to and fro, or held at an angle at which it does not push.
static void work_is_stored_or_dissipated_by_a_hand_that_tilts(void)
{
	for (int k = 0; k < 4; k++) {
		use_lumbar_layers();
		begin_with(k & 1 ? 5.2e-3 : 0, 0, 0.09, 1000);
		for (int i = 0; i < 30000; i++) {
			const double t = i * 1e-3, depth = t < 14 ? 5e-3 * t : 5e-3 * (28 - t);
			const double angle = k & 2 ? 0.05 * fmin(t, 1) : 0.05 * sin(2 * t);
			step(tac_dpose_make(tac_dvec3_make(k & 2 ? 0 : 5e-4 * sin(3 * t), 0, 0.002 - depth),
					    tac_dquat_exp(tac_dvec3_make(angle, 0, 0))));
		}
		TEST_ASSERT_FALSE(r.fell);
		TEST_ASSERT_TRUE(r.worst < 1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, r.work_J, r.state->energy.work);
		TEST_ASSERT_TRUE(r.state->energy.work > 0.3);
		tac_needle_destroy(&r.needle);
	}
}

// ---- N05 ----

// A linear tip a with a branch b that relaxes in tau, in series with the coupling k: held still, the force
// falls exponentially with tau (1 + b / (k + a)) to that without the branch.
static void held_still_the_force_relaxes_exponentially(void)
{
	static const double rates[] = {500, 1000, 4000};
	const double a = 500, b = 700, tau = 0.25, k = 1500;
	for (int i = 0; i < 3; i++) {
		r.body.layers[0] = layer(1, a, 0, 50, 1);
		r.body.layers[0].relaxation_N_per_m = b;
		r.body.layers[0].relaxation_s = tau;
		r.body.layer_count = 1;
		begin_with(0, 0, 0.09, rates[i]);
		move_to(-0.004, 0.02);
		const double x = 0.004, end = k * a / (k + a) * x, from = r.wrench.force_N.z - end;
		TEST_ASSERT_TRUE(from > 0.5);
		const double slow = tau * (1 + b / (k + a));
		for (int n = 1; n <= (int)(1.0 / r.elapsed_s); n++) {
			step(r.device);
			const double wanted = end + from * exp(-n * r.elapsed_s / slow);
			TEST_ASSERT_DOUBLE_WITHIN(1e-3 * wanted, wanted, r.wrench.force_N.z);
		}
		TEST_ASSERT_FALSE(r.fell);
		TEST_ASSERT_TRUE(r.worst < 1e-3);
		tac_needle_destroy(&r.needle);
	}
}

// At a constant rate the branch of a Maxwell body reaches b v tau.
static void branch_at_a_constant_rate_carries_rate_times_time(void)
{
	const double b = 700, tau = 0.05, v = 0.01;
	r.body.layers[0] = layer(1, 1, 0, 1e3, 1);
	r.body.layers[0].relaxation_N_per_m = b;
	r.body.layers[0].relaxation_s = tau;
	r.body.layer_count = 1;
	begin_with(0, 0, 0.09, 1000);
	r.coupling.stiffness_N_per_m = 1e6;
	move_to(-0.01, v);
	const double wanted = b * v * tau + 1 * 0.01;
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * wanted, wanted, r.wrench.force_N.z);
}

// ---- N06 ----

// Straight down through two layers of different stiffness, then aside and tilted. The equations of balance
// are set up here by Simpson's rule, which is exact for the squares of straight lines.
static void rigid_needle_in_layers_is_held_by_the_integral_over_its_shaft(void)
{
	r.body.layers[0] = layer(0.01, 300, 0, 1, 0.5);
	r.body.layers[1] = layer(0.1, 300, 0, 1, 0.5);
	r.body.layers[0].lateral_stiffness_N_per_m2 = 3e4;
	r.body.layers[1].lateral_stiffness_N_per_m2 = 8e4;
	r.body.layer_count = 2;
	begin_with(0, 0, 0.09, 1000);
	move_to(-0.035, 0.02);
	const double X = 7e-4, angle = 0.01;
	for (int i = 0; i < 3; i++) // the axial balance settles
		step(tac_dpose_make(tac_dvec3_make(X, 0, -0.035),
				    tac_dquat_exp(tac_dvec3_make(0, angle, 0))));
	const double z = r.state->depth_m, front = r.state->front_m;
	// Shaft at depth s: x(s) = X + q + (tan(angle) + m) (z - s); the track is x = 0.
	double A[2][2] = {{1500, 0}, {0, 1500 * 0.03 * 0.03}}, B[2] = {0, 0};
	const double ends[3] = {0, 0.01, front}, stiffness[2] = {3e4, 8e4}, weights[3] = {1, 4, 1};
	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < 3; n++) {
			const double s = ends[i] + 0.5 * n * (ends[i + 1] - ends[i]), arm = z - s;
			const double w = stiffness[i] * (ends[i + 1] - ends[i]) * weights[n] / 6;
			const double there = X + tan(angle) * arm;
			A[0][0] += w;
			A[0][1] += w * arm;
			A[1][1] += w * arm * arm;
			B[0] -= w * there;
			B[1] -= w * there * arm;
		}
	}
	const double det = A[0][0] * A[1][1] - A[0][1] * A[0][1];
	const double q = (A[1][1] * B[0] - A[0][1] * B[1]) / det, m = (A[0][0] * B[1] - A[0][1] * B[0]) / det;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6 * fabs(1500 * q), 1500 * q, r.wrench.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6 * fabs(1.35 * m), 1.35 * m, r.wrench.torque_Nm.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, r.wrench.force_N.y);
}

// A long beam on a foundation k: a force P at its end moves the end by 2 P beta / k, beta = (k / 4 E
// I)^(1/4), and turns it by 2 P beta^2 / k (Hetenyi 1946). Here the force comes from the coupling at the hub.
static void flexible_needle_deflects_as_hetenyis_beam(void)
{
	const double EI = 200e9 * PI / 64 * (pow(0.9e-3, 4) - pow(0.6e-3, 4)), k = 3e6, L = 0.1, X = 1e-3;
	const double beta = pow(k / (4 * EI), 0.25), lean[2] = {0, 0};
	const tac_lateral_part part = {{0, L}, {{-X, 0}, {-X, 0}}, k};
	const tac_needle_coupling soft_turn = {1500, 1e-9};
	tac_lateral out;
	tac_lateral_flexible(&part, 1, lean, L, EI, &soft_turn, &out);
	// In series: 1500 (X + q) moves the end by that force's 2 P beta / k from the track.
	const double compliance = 2 * beta / k, P = X / (compliance + 1.0 / 1500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * P, -P, out.hub_N[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * P * compliance, P * compliance - X,
				  out.node_m[TAC_NEEDLE_NODES - 1][0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, out.hub_N[1]);
	// A hub that is held at its angle: y = P beta / k at the end.
	const tac_needle_coupling held = {1500, 1e6};
	tac_lateral_flexible(&part, 1, lean, L, EI, &held, &out);
	const double stiff = beta / k, Q = X / (stiff + 1.0 / 1500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * Q, -Q, out.hub_N[0]);
	// The moment there is Q / (2 beta).
	TEST_ASSERT_DOUBLE_WITHIN(2e-3 * Q / (2 * beta), Q / (2 * beta), fabs(out.hub_Nm[0]));
	// The energy is half the work of the force through both springs.
	TEST_ASSERT_DOUBLE_WITHIN(1e-3 * Q * X, 0.5 * Q * X, out.stored_J + out.coupling_J);
}

// A needle much stiffer than the tissue bends like a rigid one.
static void very_stiff_beam_is_rigid(void)
{
	const double lean[2] = {0, 0};
	const tac_lateral_part parts[2] = {{{0.05, 0.02}, {{1e-3, 0}, {5e-4, 2e-4}}, 3e4},
					   {{0.02, 0.003}, {{5e-4, 2e-4}, {0, 1e-4}}, 8e4}};
	const tac_needle_coupling coupling = {1500, 1.35};
	tac_lateral rigid, beam;
	tac_lateral_flexible(parts, 2, lean, 0.09, 1e4, &coupling, &beam);
	// The rigid needle's coupling acts at its tip: move it to the hub by mirroring the needle.
	const tac_lateral_part mirrored[2] = {{{0.04, 0.07}, {{1e-3, 0}, {5e-4, 2e-4}}, 3e4},
					      {{0.07, 0.087}, {{5e-4, 2e-4}, {0, 1e-4}}, 8e4}};
	tac_lateral_rigid(mirrored, 2, lean, &coupling, &rigid);
	for (int k = 0; k < 2; k++) {
		TEST_ASSERT_DOUBLE_WITHIN(1e-5 * fabs(1500 * rigid.tip[k]) + 1e-9, 1500 * rigid.tip[k],
					  beam.hub_N[k]);
		TEST_ASSERT_DOUBLE_WITHIN(1e-8, rigid.tip[k] + 0.09 * rigid.slope[k], beam.tip[k]);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-4 * rigid.stored_J, rigid.stored_J, beam.stored_J);
}

// ---- N07 ----

static void bevel_cuts_a_circle_of_its_curvature(void)
{
	for (int k = 0; k < 2; k++) {
		const double curvature = k ? 8 : 4;
		r.body.layers[0] = layer(1, 600, 0, 1, 0.5);
		r.body.layers[0].lateral_stiffness_N_per_m2 = 5e5;
		r.body.layers[0].turning = k ? 0.5 : 1;
		r.body.layer_count = 1;
		begin_with(2e-4, curvature, 0.12, 1000);
		move_to(-0.07, 0.02);
		tac_dvec3 p[TAC_NEEDLE_POINTS];
		const int count = tac_needle_track(r.needle, TAC_NEEDLE_POINTS, p);
		TEST_ASSERT_TRUE(count > 8);
		// The radius of the circle through three points, from sides and area.
		const tac_dvec3 a = p[1], b = p[count / 2], c = p[count - 1];
		const double area = 0.5 * tac_dvec3_length(tac_dvec3_triangle_cross(a, b, c));
		const double radius = tac_dvec3_length(tac_dvec3_sub(b, a)) *
				      tac_dvec3_length(tac_dvec3_sub(c, b)) *
				      tac_dvec3_length(tac_dvec3_sub(a, c)) / (4 * area);
		const double wanted = 1 / (curvature * r.body.layers[0].turning);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * wanted, wanted, radius);
		TEST_ASSERT_TRUE(c.x > 0.003); // towards +x of the tool
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, c.y);
		TEST_ASSERT_FALSE(r.fell);
		tac_needle_destroy(&r.needle);
	}
}

// A rigid needle that is held aside cuts towards where its tip is.
static void rigid_needle_can_be_redirected(void)
{
	r.body.layers[0] = layer(1, 600, 0, 1, 0.5);
	r.body.layers[0].lateral_stiffness_N_per_m2 = 2e4;
	r.body.layers[0].shaft_friction_N_per_m = 20;
	r.body.layer_count = 1;
	begin_with(0, 0, 0.09, 1000);
	move_to(-0.03, 0.02);
	move_to(-0.008, 0.02);
	const tac_dquat tilt = tac_dquat_exp(tac_dvec3_make(0, 0.25, 0));
	for (int i = 0; i < 300; i++) {
		const tac_dquat part = tac_dquat_exp(tac_dvec3_make(0, 0.25 * i / 300, 0));
		step(tac_dpose_make(tac_dvec3_make(-0.004 * i / 300, 0, -0.008), part));
	}
	const tac_dvec3 along = tac_dquat_rotate(tilt, tac_dvec3_make(0, 0, -1));
	const tac_dvec3 from = r.device.position;
	for (int i = 0; i < 2000; i++)
		step(tac_dpose_make(tac_dvec3_add_scaled(from, 0.03 * i / 2000, along), tilt));
	TEST_ASSERT_EQUAL(1, r.state->branches);
	TEST_ASSERT_TRUE(r.state->tip_m.x < -0.006);
	TEST_ASSERT_FALSE(r.fell);
}

// ---- N08 ----

// The three parts of the force in Okamura, Simone and O'Leary 2004: before the puncture a spring of second
// order; after it a constant cutting force and friction in proportion to the depth, with viscosity. Of the
// values, only the cutting force is the paper's, for bovine liver; the others are of its order. Its measured
// curves are not at hand, so what is checked is its model and the way in which it separates the parts: what a
// first insertion takes more than the motion in the same hole is the cutting force, the same at every depth,
// and the motion out of it has the friction alone.
#define LIVER_A1        80
#define LIVER_A2        9e4
#define LIVER_PUNCTURE  2.1
#define LIVER_CUTTING   0.94
#define LIVER_FRICTION  18
#define LIVER_VISCOSITY 200

// Moves the needle to `to` at `v` (m, m/s) and notes the force in each 0.1 mm of the device's way from 8 mm
// on, where the bristles have turned. Returns the number of ticks before the puncture in which the force was
// that of the spring.
static int insert_liver(double *d, double to, double v, double forces_N[400])
{
	int spring = 0;
	while (fabs(to - *d) > 0.5 * v * r.elapsed_s) {
		*d += copysign(v * r.elapsed_s, to - *d);
		step(tac_dpose_make(tac_dvec3_make(0, 0, -*d), tac_dquat_identity()));
		const double F = r.wrench.force_N.z, z = r.state->depth_m;
		if (r.state->opened == 0 && z > 1e-3) {
			const double wanted = LIVER_A1 * z + LIVER_A2 * z * z;
			TEST_ASSERT_DOUBLE_WITHIN(0.01 * wanted, wanted, F);
			spring++;
		}
		const int bin = (int)(1e4 * *d);
		if (bin >= 80 && bin < 400)
			forces_N[bin] = F;
	}
	return spring;
}

static void curve_has_the_three_parts_of_okamura(void)
{
	const double v = 3e-3;
	double in[400], out[400], again[400], d = 0;
	r.body.layers[0] = layer(1, LIVER_A1, LIVER_A2, LIVER_PUNCTURE, LIVER_CUTTING);
	r.body.layers[0].shaft_friction_N_per_m = LIVER_FRICTION;
	r.body.layers[0].shaft_viscosity_N_s_per_m2 = LIVER_VISCOSITY;
	r.body.layers[0].shaft_stiffness_N_per_m2 = 1e6;
	r.body.layer_count = 1;
	begin_with(0, 0, 0.09, 1000);
	r.coupling.stiffness_N_per_m = 1e6;
	step(r.device); // from above the skin
	TEST_ASSERT_TRUE(insert_liver(&d, 0.04, v, in) > 500);
	const double tip = r.state->depth_m - r.state->front_m; // ahead of the front, by the spring
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, LIVER_CUTTING, LIVER_A1 * tip + LIVER_A2 * tip * tip);
	insert_liver(&d, 0.004, v, out);
	insert_liver(&d, 0.038, v, again);
	for (int i = 90; i < 360; i++) {
		const double depth = 1e-4 * (i + 0.5);
		const double shaft = depth * (LIVER_FRICTION + LIVER_VISCOSITY * v);
		TEST_ASSERT_DOUBLE_WITHIN(
			0.01 * (LIVER_CUTTING + shaft),
			LIVER_CUTTING + shaft - tip * (LIVER_FRICTION + LIVER_VISCOSITY * v), in[i]);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * shaft + 2e-3, -shaft, out[i]);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * shaft + 2e-3, shaft, again[i]);
	}
	TEST_ASSERT_EQUAL(1, r.state->punctures);
}

// ---- other ----

static void needle_beside_the_skin_or_flat_on_it_enters_nothing(void)
{
	use_lumbar_layers();
	begin_with(0, 0, 0.09, 1000);
	r.device.position.x = 0.3;
	for (double z = 0.002; z > -0.03; z -= 1e-4)
		step(tac_dpose_make(tac_dvec3_make(0.3, 0, z), tac_dquat_identity()));
	TEST_ASSERT_EQUAL(-1, r.state->body);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(r.wrench.force_N));
	for (double z = 0.002; z > -0.01; z -= 1e-4)
		step(tac_dpose_make(tac_dvec3_make(0, 0, z), tac_dquat_exp(tac_dvec3_make(1.5, 0, 0))));
	TEST_ASSERT_EQUAL(0, r.state->opened);
	TEST_ASSERT_TRUE(r.wrench.force_N.z > 7);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, r.wrench.force_N.x);
}

static void release_forgets_the_springs_and_keeps_the_track(void)
{
	use_lumbar_layers();
	begin_with(0, 0, 0.09, 1000);
	move_to(-0.03, 0.01);
	const double dissipated = tac_needle_dissipated_J(&r.state->energy);
	const double stored = tac_needle_stored_J(&r.state->energy);
	tac_needle_release(r.needle);
	TEST_ASSERT_EQUAL(-1, r.state->body);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, dissipated + stored, tac_needle_dissipated_J(&r.state->energy));
	step(tac_dpose_make(tac_dvec3_make(0, 0, -0.03), tac_dquat_identity()));
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(r.wrench.force_N)); // it began inside
	move_to(0.001, 0.01);
	move_to(-0.01, 0.01);
	TEST_ASSERT_EQUAL(2, r.state->insertions);
}

// A needle that something rigid stops cuts no further than it goes.
static void needle_that_is_stopped_stays_behind_the_stop(void)
{
	use_lumbar_layers();
	begin_with(0, 0, 0.09, 1000);
	move_to(-0.012, 0.01);
	const tac_dpose body = tac_dpose_identity();
	tac_dpose tool, stop = tac_dpose_identity();
	bool stopped = false;
	tac_needle_energy before = r.state->energy;
	for (int i = 0; i < 2000; i++) {
		const tac_dpose T =
			tac_dpose_make(tac_dvec3_make(0, 0, -0.012 - 1e-5 * i), tac_dquat_identity());
		tac_needle_solve(r.needle, T, &body, &r.coupling, 1e-3, &tool);
		if (tool.position.z < -0.012) {
			tool.position.z = -0.012;
			stop = tool;
			stopped = true;
		}
		tac_needle_commit(r.needle, tool);
		TEST_ASSERT_FALSE(dissipation_fell(&before, &r.state->energy));
		before = r.state->energy;
		TEST_ASSERT_TRUE(r.state->depth_m <= 0.012 + 1e-9);
		TEST_ASSERT_TRUE(r.state->front_m <= r.state->depth_m + 1e-9);
	}
	TEST_ASSERT_TRUE(stopped);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.012, stop.position.z);
	const tac_needle_energy *e = &r.state->energy;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, e->work,
				  tac_needle_stored_J(e) + tac_needle_dissipated_J(e) + e->residual);
}

static void same_motion_gives_the_same_bits(void)
{
	tac_needle_state states[2];
	for (int k = 0; k < 2; k++) {
		tac_rng rng = tac_rng_seed(5, 0);
		use_random_layers(&rng);
		begin_with(2e-3, 3, 0.09, 1000);
		const wanderer w = make_wanderer(&rng, 0.04, 0.003, 0.1);
		for (int i = 0; i < 1500; i++)
			step(wander(&w, i * 1e-3));
		states[k] = *r.state;
		tac_needle_destroy(&r.needle);
	}
	TEST_ASSERT_EQUAL_MEMORY(&states[0].energy, &states[1].energy, sizeof states[0].energy);
	TEST_ASSERT_TRUE(states[0].depth_m == states[1].depth_m && states[0].front_m == states[1].front_m);
}

static void invalid_layers_are_refused(void)
{
	use_lumbar_layers();
	r.body.normal = tac_dvec3_make(0, 0, 1);
	tac_needle_def def = {.radius_m = 4.5e-4, .length_m = 0.09, .bodies = &r.body, .body_count = 1};
	r.body.layers[3].tip_stiffness_N_per_m = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_needle_create(&def, &r.needle));
	r.body.layers[3].tip_stiffness_N_per_m = NAN;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_needle_create(&def, &r.needle));
	r.body.layers[3].tip_stiffness_N_per_m = 100;
	def.radius_m = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_needle_create(&def, &r.needle));
	TEST_ASSERT_NULL(r.needle);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(peak_at_each_membrane_is_puncture_force_plus_friction);
	RUN_TEST(steady_force_is_cutting_force_plus_friction_in_and_friction_out);
	RUN_TEST(second_insertion_finds_its_track);
	RUN_TEST(work_is_stored_or_dissipated_in_every_tick);
	RUN_TEST(energies_of_one_puncture_have_a_closed_form);
	RUN_TEST(work_is_stored_or_dissipated_by_a_hand_that_tilts);
	RUN_TEST(random_layers_and_hands_never_gain_energy);
	RUN_TEST(held_still_the_force_relaxes_exponentially);
	RUN_TEST(branch_at_a_constant_rate_carries_rate_times_time);
	RUN_TEST(rigid_needle_in_layers_is_held_by_the_integral_over_its_shaft);
	RUN_TEST(flexible_needle_deflects_as_hetenyis_beam);
	RUN_TEST(very_stiff_beam_is_rigid);
	RUN_TEST(bevel_cuts_a_circle_of_its_curvature);
	RUN_TEST(rigid_needle_can_be_redirected);
	RUN_TEST(curve_has_the_three_parts_of_okamura);
	RUN_TEST(needle_beside_the_skin_or_flat_on_it_enters_nothing);
	RUN_TEST(release_forgets_the_springs_and_keeps_the_track);
	RUN_TEST(needle_that_is_stopped_stays_behind_the_stop);
	RUN_TEST(same_motion_gives_the_same_bits);
	RUN_TEST(invalid_layers_are_refused);
	return UNITY_END();
}
