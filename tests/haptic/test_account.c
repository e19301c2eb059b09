// The account of energy with the force law: closed forms, late walls, and springs that ask for anything. The
// bound on the change of the wrench is asserted in every tick.
#include "haptic/force/account.h"

#include "base/rng.h"
#include "haptic/servo/servo_state.h"
#include "tests/support/force_watch.h"
#include "tests/support/servo_fixture.h"

void setUp(void)
{
}

void tearDown(void)
{
}

#define ARM 0.03

static const tac_law_rates rates = {0.5, HUGE_VAL, HUGE_VAL};

// A device is at rest and free; then its mover finds a wall of 1000 N/m.
static tac_account_contact find_wall(tac_account *account, double force_N, double held_J)
{
	static const tac_coupling coupling = {.stiffness_N_per_m = 1000, .law = TAC_COUPLING_CONSTRAINT};
	tac_account_contact c = {.object = -1,
				 .T_world_object = tac_dpose_identity(),
				 .T_world_device = tac_dpose_identity(),
				 .gain = 1,
				 .share = 1,
				 .coupling = &coupling};
	tac_account_step(account, &c, 1e-3);
	c.object = 0;
	c.spring.force_N = tac_dvec3_make(0, 0, force_N);
	c.held_J = held_J;
	return c;
}

// A device at rest whose mover finds a wall of 4 mm depth: the hand has put in nothing. The springs gain 50
// mW, so the force is sqrt(2 K P t), and the spring's own from 160 ms on.
static void a_force_that_was_not_paid_for_rises_with_bounded_power(void)
{
	tac_account account = {.object = -1};
	tac_account_contact c = find_wall(&account, 4, 0.5 * 4 * 4 / 1000);
	for (int k = 1; k <= 200; k++) {
		const tac_wrench added = tac_account_step(&account, &c, 1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, fmin(sqrt(2 * 1000 * 0.05 * 1e-3 * k), 4),
					  4 + added.force_N.z);
	}
	// It is taken back by a drag, which vanishes when the device rests.
	double work = 0;
	for (int k = 1; k <= 2000; k++) {
		c.T_world_device.position.x = 1e-4 * k;
		const tac_wrench added = tac_account_step(&account, &c, 1e-3);
		TEST_ASSERT_TRUE(added.force_N.x <= 0 && added.force_N.x >= -0.4 - 1e-9);
		work += 1e-4 * added.force_N.x;
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, -8e-3, work);
	for (int k = 0; k < 200; k++)
		tac_account_step(&account, &c, 1e-3);
	const tac_wrench rest = tac_account_step(&account, &c, 1e-3);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, tac_dvec3_length(rest.force_N));
}

// The same wall before a device that gives at most 2 N. Its spring is linear up to 2 mm and holds 2 mJ there;
// beyond, it holds 2 N times the travel. The force rises as in front of any wall and is full after 40 ms,
// although the springs still gain energy then.
static void a_force_at_the_maximum_of_the_device_does_not_wait_for_the_energy_beyond(void)
{
	tac_account account = {.object = -1};
	tac_account_contact c = find_wall(&account, 2, 6e-3);
	c.beyond_J = 4e-3;
	for (int k = 1; k <= 60; k++) {
		const tac_wrench added = tac_account_step(&account, &c, 1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, fmin(sqrt(2 * 1000 * 0.05 * 1e-3 * k), 2),
					  2 + added.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.05 * 1e-3 * k, account.held_J);
	}
}

// Springs that exert whatever they are asked for, and a hand that holds a device at 1 kHz.
typedef struct hostile {
	tac_account account;
	tac_law law;
	force_watch watch;
	tac_account_contact contact;
	tac_wrench sent;                // the share of the law's wrench that contact.share allows
	double work_J, least_J, gain_J; // on the hand: sum, its least value, and the most above that
	double held_J;                  // the most that springs of the same wrench and stiffness hold
} hostile;

#define HOSTILE_N_PER_M 1000.0

static hostile hostile_begin(double arm_m)
{
	static const tac_coupling coupling = {.stiffness_N_per_m = HOSTILE_N_PER_M,
					      .law = TAC_COUPLING_CONSTRAINT};
	return (hostile){.account = {.object = -1},
			 .contact = {.T_world_object = tac_dpose_identity(),
				     .T_world_device = tac_dpose_identity(),
				     .gain = 1,
				     .share = 1,
				     .arm_m = arm_m,
				     .coupling = &coupling}};
}

// Moves the device and asks for `wish`. The bound on the change of the wrench holds.
static void hostile_step(hostile *h, tac_dvec3 moved, tac_dvec3 turned, tac_wrench wish, bool settled)
{
	const double T = 1e-3, arm = h->contact.arm_m, K = HOSTILE_N_PER_M;
	tac_dpose *device = &h->contact.T_world_device;
	device->position = tac_dvec3_add(device->position, moved);
	device->rotation = tac_dquat_mul(tac_dquat_exp(turned), device->rotation);
	h->contact.spring = wish;
	tac_law_move(&h->law, *device, arm == 0);
	tac_account_step(&h->account, &h->contact, T);
	tac_law_follow(&h->law, wish, &rates, K, 0, arm, T);
	if (settled)
		tac_account_settle(&h->account, NULL, &h->law, &rates, arm, T);
	const double share = h->contact.share;
	const tac_wrench before = h->sent, next = {tac_dvec3_scale(h->law.wrench.force_N, share),
						   tac_dvec3_scale(h->law.wrench.torque_Nm, share)};
	if (settled)
		tac_account_sent(&h->account, next);
	h->sent = next;
	watch_step(&h->watch, *device, h->law.wrench, K, arm, T, rates.slew_m_per_s, 0, "hostile");
	h->watch.vanished = false; // here the wish is what vanishes
	const tac_dvec3 force = tac_dvec3_add(before.force_N, next.force_N);
	const tac_dvec3 torque = tac_dvec3_add(before.torque_Nm, next.torque_Nm);
	h->work_J += 0.5 * (tac_dvec3_dot(force, moved) + tac_dvec3_dot(torque, turned));
	h->least_J = fmin(h->least_J, h->work_J);
	h->gain_J = fmax(h->gain_J, h->work_J - h->least_J);
	const double turn_J = tac_dvec3_length_squared(next.torque_Nm) / (K * ARM * ARM);
	h->held_J = fmax(h->held_J, 0.5 * tac_dvec3_length_squared(next.force_N) / K + 0.5 * turn_J);
}

// Now the springs resist the hand on its random path, now they push it on, harder. What they give back at
// any time is no more than springs of that wrench hold.
static hostile follow_hostile_springs(int axes, double speed_m_per_s, bool settled)
{
	const double arm = axes == 3 ? 0 : ARM;
	tac_rng rng = tac_rng_seed((uint64_t)axes, 12);
	hostile h = hostile_begin(arm);
	tac_dvec3 way = tac_dvec3_zero(), turn = tac_dvec3_zero();
	for (int k = 0; k < 10000; k++) {
		if (k % 40 == 0) {
			way = tac_rng_unit_f64(&rng);
			turn = axes == 3 ? tac_dvec3_zero() : tac_rng_unit_f64(&rng);
		}
		const double moved = 1e-3 * speed_m_per_s, push = k / 40 % 2 ? 10 : -5;
		const tac_wrench wish = {tac_dvec3_scale(way, push), tac_dvec3_scale(turn, push * arm)};
		hostile_step(&h, tac_dvec3_scale(way, moved), tac_dvec3_scale(turn, moved / ARM), wish,
			     settled);
	}
	return h;
}

static void springs_however_hostile_do_not_pay_the_hand(void)
{
	for (int axes = 3; axes <= 6; axes += 3) {
		for (double speed = 0.03; speed < 1; speed *= 4) {
			const hostile h = follow_hostile_springs(axes, speed, true);
			const hostile unsettled = follow_hostile_springs(axes, speed, false);
			printf("hostile springs, %d axes, %.2f m/s: %.2f mJ of %.2f mJ held; unsettled %.0f "
			       "mJ\n",
			       axes, speed, 1e3 * h.gain_J, 1e3 * h.held_J, 1e3 * unsettled.gain_J);
			TEST_ASSERT_TRUE(h.held_J > 5e-3 && unsettled.gain_J > 5 * h.held_J);
			TEST_ASSERT_TRUE(h.gain_J <= 1.05 * h.held_J);
		}
	}
}

// Springs that ask for 20 N as soon as they are touched, and on the way out fall as springs of the coupling's
// stiffness would. The force rises with the energy, and the hand gets that back.
static void springs_that_are_stiff_on_the_way_in_give_no_more_on_the_way_out(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	hostile h = hostile_begin(0);
	for (int lap = 0; lap < 20; lap++) {
		double wish = 20;
		for (int k = 0; k < 20; k++)
			hostile_step(&h, tac_dvec3_make(0, 0, -1e-4), none, (tac_wrench){{0, 0, wish}, none},
				     true);
		wish = h.law.wrench.force_N.z;
		TEST_ASSERT_TRUE(wish > 4);
		for (int k = 0; k < 40; k++) {
			wish = fmax(wish - HOSTILE_N_PER_M * 1e-4, 0);
			hostile_step(&h, tac_dvec3_make(0, 0, 1e-4), none, (tac_wrench){{0, 0, wish}, none},
				     true);
		}
		for (int k = 0; k < 20; k++)
			hostile_step(&h, tac_dvec3_make(0, 0, -1e-4), none, (tac_wrench){none, none}, true);
		// Where a contact begins and ends between two ticks, the trapezoidal rule errs.
		TEST_ASSERT_TRUE(h.work_J <= 3 * 0.125 * (lap + 1) * HOSTILE_N_PER_M * 1e-8);
	}
	printf("springs that are stiff on the way in: %.4f mJ in 20 laps of %.2f mJ\n", 1e3 * h.work_J,
	       1e3 * h.held_J);
}

// A device that rests gets a force that it has not paid for, at 50 mW. When it leaves, the force falls as
// fast as its bound allows: the hand gets back the energy of a spring that is (v_s + 3 v) / v as stiff.
static void a_gift_to_a_device_at_rest_is_taken_back_as_fast_as_the_bound_allows(void)
{
	for (double speed = 0.02; speed < 1; speed *= 2) {
		hostile h = hostile_begin(0);
		const tac_wrench wish = {{0, 0, 4}, {0, 0, 0}};
		for (int k = 0; k < 200; k++)
			hostile_step(&h, tac_dvec3_zero(), tac_dvec3_zero(), wish, true);
		assert_near(wish.force_N, h.law.wrench.force_N, 1e-12);
		for (int k = 0; k < 400; k++)
			hostile_step(&h, tac_dvec3_make(0, 0, 1e-3 * speed), tac_dvec3_zero(), wish, true);
		const double steep = 3 + rates.slew_m_per_s / speed;
		printf("a gift of 8 mJ, left at %.2f m/s: %.3f mJ\n", speed, 1e3 * h.gain_J);
		// Where the contact ends between two ticks, the trapezoidal rule errs by an eighth of K dx^2.
		const double dx = 1e-3 * speed;
		TEST_ASSERT_TRUE(h.gain_J <= 8e-3 / steep + 0.125 * steep * HOSTILE_N_PER_M * dx * dx + 1e-9);
	}
}

// A hand that was given 8 mJ and left with a part of them, 0.87 mJ. In the next contact it gets less than it
// puts in until the debt is paid, so that after both it has gained nothing.
static void what_is_left_of_a_gift_is_taken_back_in_the_next_contact(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	hostile h = hostile_begin(0);
	const tac_wrench wish = {{0, 0, 4}, {0, 0, 0}};
	for (int k = 0; k < 200; k++)
		hostile_step(&h, none, none, wish, true);
	const tac_dvec3 step = tac_dvec3_make(0, 0, 8e-5);
	for (int k = 0; k < 100; k++) {
		const double left = fmax(h.law.wrench.force_N.z - 0.08, 0);
		h.contact.object = left > 0 ? 0 : -1;
		hostile_step(&h, step, none, (tac_wrench){{0, 0, left}, none}, true);
	}
	const double debt_J = h.work_J;
	TEST_ASSERT_TRUE(debt_J > 0.5e-3);
	TEST_ASSERT_DOUBLE_WITHIN(2e-6, debt_J, h.account.debt_J);
	h.contact.object = 0;
	for (int k = 1; k <= 50; k++)
		hostile_step(&h, tac_dvec3_make(0, 0, -8e-5), none, (tac_wrench){{0, 0, 0.08 * k}, none},
			     true);
	assert_near(wish.force_N, h.law.wrench.force_N, 1e-9); // pressing it is exact
	for (int k = 49; k >= 0; k--)
		hostile_step(&h, step, none, (tac_wrench){{0, 0, 0.08 * k}, none}, true);
	printf("a debt of %.3f mJ: %.4f mJ after the next contact\n", 1e3 * debt_J, 1e3 * h.work_J);
	TEST_ASSERT_TRUE(h.work_J <= 3 * 0.125 * HOSTILE_N_PER_M * 8e-5 * 8e-5 * 2);
	TEST_ASSERT_TRUE(h.work_J >= -1e-4); // and no more than that is taken
}

// A wall that is always found late, and a hand that waits for the force and leaves at 0.3 m/s, again and
// again. Once it has got 5 mJ in all it is given nothing more.
static void gifts_end_when_the_hand_owes_too_much(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	hostile h = hostile_begin(0);
	for (int lap = 0; lap < 30; lap++) {
		h.contact.object = 0;
		for (int k = 0; k < 200; k++)
			hostile_step(&h, none, none, (tac_wrench){{0, 0, 4}, none}, true);
		h.contact.object = -1;
		for (int k = 0; k < 40; k++)
			hostile_step(&h, tac_dvec3_make(0, 0, 3e-4), none, (tac_wrench){none, none}, true);
	}
	printf("30 gifts of 8 mJ: %.2f mJ in all\n", 1e3 * h.work_J);
	TEST_ASSERT_TRUE(h.work_J > 4e-3);
	const double rule_J = 30 * 0.125 * HOSTILE_N_PER_M * 3e-4 * 3e-4; // at the end of each contact
	TEST_ASSERT_TRUE(h.work_J < 5e-3 + 8e-3 / (3 + 0.5 / 0.3) + rule_J);
}

// A gate that is closed while the hand presses, and opens at once when it begins to leave: the hand has put
// in nothing. What it had put in before the gate closed, it gets back.
static void a_gate_that_opens_in_contact_does_not_pay(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	for (int closed_at = 0; closed_at <= 50; closed_at += 50) {
		hostile h = hostile_begin(0);
		for (int k = 1; k <= 50; k++) {
			h.contact.share = k <= closed_at ? 1 : 0;
			hostile_step(&h, tac_dvec3_make(0, 0, -8e-5), none,
				     (tac_wrench){{0, 0, 0.08 * k}, none}, true);
		}
		h.contact.share = 0;
		hostile_step(&h, none, none, (tac_wrench){{0, 0, 4}, none}, true);
		const double put_J = -h.work_J;
		h.contact.share = 1;
		for (int k = 49; k >= 0; k--)
			hostile_step(&h, tac_dvec3_make(0, 0, 8e-5), none,
				     (tac_wrench){{0, 0, 0.08 * k}, none}, true);
		printf("a gate that opens: %.4f mJ of %.4f mJ\n", 1e3 * (h.work_J + put_J), 1e3 * put_J);
		TEST_ASSERT_TRUE(h.work_J <= 3 * 0.125 * HOSTILE_N_PER_M * 8e-5 * 8e-5 + 1e-5);
		TEST_ASSERT_TRUE(h.work_J + put_J >= 0.9 * put_J);
	}
}

// The gate takes a force off, for a reason that the law does not know. The account counts what is left.
static void what_the_gate_takes_off_is_not_given_back(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	hostile h = hostile_begin(0);
	for (int k = 1; k <= 50; k++) {
		hostile_step(&h, tac_dvec3_make(0, 0, -8e-5), none, (tac_wrench){{0, 0, 0.08 * k}, none},
			     true);
		tac_account_sent(&h.account, (tac_wrench){none, none});
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0, h.account.balance_J + h.account.held_J);
}

// The hand presses 5 mm deep, and the object recedes by 7 mm at once. The force falls within its bound, while
// the object takes more than the springs hold. The hand owes nothing: it can press as before.
static void an_object_that_recedes_takes_no_more_than_the_springs_hold(void)
{
	const tac_dvec3 none = tac_dvec3_zero();
	hostile h = hostile_begin(0);
	for (int k = 1; k <= 100; k++)
		hostile_step(&h, tac_dvec3_make(0, 0, -5e-5), none, (tac_wrench){{0, 0, 0.05 * k}, none},
			     true);
	h.contact.T_world_object.position.z -= 0.007;
	for (int k = 0; k < 50; k++)
		hostile_step(&h, none, none, (tac_wrench){none, none}, true);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_length(h.law.wrench.force_N));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, h.account.balance_J);
	for (int k = 1; k <= 100; k++)
		hostile_step(&h, tac_dvec3_make(0, 0, -5e-5), none, (tac_wrench){{0, 0, 0.05 * k}, none},
			     true);
	for (int k = 99; k >= 0; k--) {
		hostile_step(&h, tac_dvec3_make(0, 0, 5e-5), none, (tac_wrench){{0, 0, 0.05 * k}, none},
			     true);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.05 * k, h.law.wrench.force_N.z);
	}
}

// One tick of the account with a wall that is found when the device is 0.447 mm deep: 0.1 mJ were not paid
// for. The device is `pressed_m` deeper, and at x along the wall. Returns what is added to the spring's
// force.
static tac_dvec3 late_wall(tac_account *account, double pressed_m, double x_m)
{
	const tac_coupling coupling = {.stiffness_N_per_m = 1000, .law = TAC_COUPLING_CONSTRAINT};
	const double depth = fmax(sqrt(2e-7) + pressed_m, 0);
	const tac_account_contact c = {
		.spring = {{0, 0, 1000 * depth}, {0, 0, 0}},
		.held_J = 500 * depth * depth,
		.object = depth > 0 ? 0 : -1,
		.T_world_object = tac_dpose_identity(),
		.T_world_device = tac_dpose_make(tac_dvec3_make(x_m, 0, -pressed_m), tac_dquat_identity()),
		.gain = 1,
		.share = 1,
		.coupling = &coupling};
	return tac_account_step(account, &c, 1e-3).force_N;
}

static void a_small_deficit_is_withheld_from_what_the_springs_give(void)
{
	tac_account account = {.object = -1};
	late_wall(&account, -1, 0);
	account.T_world_device.position.z = account.T_object_device.position.z = 0; // it was found late
	for (int k = 0; k < 20; k++)
		late_wall(&account, 0, 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1e-4, account.balance_J);
	double pressed = 0, work = 0, force = 1000 * sqrt(2e-7);
	for (int k = -30; k < 40; k++) { // in, and out until it is free
		const double step = k < 0 ? 1e-4 : -1e-4;
		if (k == 0) { // a slide between: 4 % are not felt along the surface
			TEST_ASSERT_TRUE(-account.balance_J > 0.01 * account.held_J);
			for (int i = 1; i <= 100; i++)
				TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, late_wall(&account, pressed, 1e-4 * i).x);
		}
		pressed += step;
		const double added = late_wall(&account, pressed, k < 0 ? 0 : 1e-2).z;
		const double now = 1000 * fmax(sqrt(2e-7) + pressed, 0) + added;
		work -= 0.5 * (force + now) * step;
		force = now;
	}
	printf("a late wall: the hand gains %.4f mJ of 0.1 mJ\n", 1e3 * work);
	TEST_ASSERT_TRUE(work < 0.02e-3);
}

// ---- the whole tick ----

#define TABLE                                                                                                \
	"materials: [{name: m, stiffness_N_per_m: 1000}]\n"                                                  \
	"objects: [{name: o, material: m, shapes: [{kind: box, size_m: [0.1, 0.1, 0.1], segments: 2}]}]\n"

// The work that the tick's force does on the hand, by the trapezoidal rule.
typedef struct felt {
	tac_dpose T;
	tac_wrench sent;
	double work_J;
} felt;

static const tac_snapshot *felt_step(felt *w, fixture *f, tac_dpose T)
{
	f->hand.state.T_base_tool.rotation = T.rotation;
	const tac_snapshot *s = step_to(f, T.position);
	const tac_dvec3 turn = tac_dquat_log(tac_dquat_mul(T.rotation, tac_dquat_conjugate(w->T.rotation)));
	w->work_J += 0.5 * (tac_dvec3_dot(tac_dvec3_add(w->sent.force_N, s->sent.force_N),
					  tac_dvec3_sub(T.position, w->T.position)) +
			    tac_dvec3_dot(tac_dvec3_add(w->sent.torque_Nm, s->sent.torque_Nm), turn));
	w->sent = s->sent;
	w->T = T;
	return s;
}

// The device supports 2 N of its tool's weight with at most 3 N. From below a contact gets 1 N, from above 5
// N; the law asks for no more, and the hand gets back what it puts in.
static void the_support_of_the_weight_leaves_the_contacts_the_rest(void)
{
	for (int side = -1; side <= 1; side += 2) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
			      "\"sphere:r=0.01\"}], limits: {max_force_N: 3, engage_s: 0.001}}]\n" TABLE,
			      "wide", tac_servo_def_default());
		f.hand.base.info.weight_N = 2;
		felt w = {.T = tac_dpose_make(tac_dvec3_make(0, side * 0.065, 0), tac_dquat_identity())};
		for (int k = 0; k < 200; k++)
			felt_step(&w, &f, w.T);
		const tac_snapshot *s = NULL;
		for (int k = 1; k <= 440; k++) {
			const double deep = 5e-5 * (k <= 220 ? k : 440 - k);
			s = felt_step(&w, &f,
				      tac_dpose_make(tac_dvec3_make(0, side * (0.065 - deep), 0),
						     tac_dquat_identity()));
			TEST_ASSERT_TRUE(tac_dvec3_length(f.hand.wrench.force_N) <= 3);
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, s->wanted.force_N.y, s->sent.force_N.y);
			if (k == 220)
				TEST_ASSERT_DOUBLE_WITHIN(1e-6, side > 0 ? 1 : -5, s->sent.force_N.y);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_length(s->sent.force_N));
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, w.work_J);
		fixture_fini(&f);
	}
}

// A bar that is tilted into a table, against a device of 20 mNm.
static void torque_beyond_the_device_is_neither_asked_for_nor_given_back(void)
{
	fixture f;
	fixture_build(
		&f,
		"scene: t\ntools: [{name: bar, axes: 6, shapes: [{kind: box, size_m: [0.1, 0.01, 0.01], "
		"segments: 2}], limits: {max_force_N: 50, max_torque_Nm: 0.02, engage_s: 0.001}}]\n" TABLE,
		"wide", tac_servo_def_default());
	felt w = {.T = tac_dpose_make(tac_dvec3_make(0, 0, 0.0551), tac_dquat_identity())};
	felt_step(&w, &f, w.T);
	double most = 0;
	for (int k = 1; k <= 800; k++) {
		const double tilt = 5e-4 * (k <= 400 ? k : 800 - k);
		const tac_snapshot *s = felt_step(
			&w, &f, tac_dpose_make(w.T.position, tac_dquat_exp(tac_dvec3_make(0, tilt, 0))));
		most = fmax(most, tac_dvec3_length(s->wanted.torque_Nm));
		TEST_ASSERT_TRUE(tac_dvec3_length(s->sent.torque_Nm) <= 0.02);
	}
	printf("a bar: at most %.6f Nm asked for; the hand gains %.4f mJ\n", most, 1e3 * w.work_J);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.02, most);
	TEST_ASSERT_TRUE(w.work_J <= 1e-5);
	fixture_fini(&f);
}

// A hand presses a device of 2.5 N 8 mm deep into a wall of 1000 N/m and leaves at 1 m/s. The motors need 4
// ms to fall, in which it goes 4 mm and gets 1/2 * 2.5 N * 4 mm = 5 mJ; the springs of the last 2.5 mm
// hold 3.125 mJ. The force therefore begins to fall before the hand is there; otherwise the hand gains 1.9
// mJ. Where it leaves at 0.3 m/s, the motors follow and the force is exact: the constant one, then that of
// the spring.
static void a_hand_that_leaves_faster_than_the_motors_follow_is_not_paid(void)
{
	for (int quick = 0; quick <= 1; quick++) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
			      "\"sphere:r=0.01\"}], limits: {max_force_N: 2.5, engage_s: 0.001}}]\n" TABLE,
			      "wide", tac_servo_def_default());
		felt w = {.T = tac_dpose_make(tac_dvec3_make(0, 0, 0.061), tac_dquat_identity())};
		for (int k = 0; k <= 180; k++)
			felt_step(
				&w, &f,
				tac_dpose_make(tac_dvec3_make(0, 0, 0.061 - 5e-5 * k), tac_dquat_identity()));
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2.5, w.sent.force_N.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-5, -(2.5 * 8e-3 - 0.5 * 2.5 * 2.5e-3), w.work_J);
		const double step = quick ? 1e-3 : 3e-4;
		while (w.T.position.z < 0.07) {
			const double z = w.T.position.z + step;
			felt_step(&w, &f, tac_dpose_make(tac_dvec3_make(0, 0, z), tac_dquat_identity()));
			if (!quick)
				TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1000 * fmin(fmax(0.06 - z, 0), 2.5e-3),
							  w.sent.force_N.z);
		}
		printf("a hand that leaves at %.1f m/s: %.4f mJ\n", 1e3 * step, 1e3 * w.work_J);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_length(w.sent.force_N));
		TEST_ASSERT_TRUE(w.work_J <= 2e-5 + 0.125 * 1000 * step * step);
		fixture_fini(&f);
	}
}

// A bar that is tilted by 0.1 rad and pressed into a table, in a device that senses rotation but has no
// motors for it, then leaves: the force falls as if there were no torque.
static void torque_that_no_motor_exerts_does_not_hold_up_the_force(void)
{
	double force_N[2][80];
	for (int motors = 0; motors <= 1; motors++) {
		fixture f = {0};
		static const char text[] = "scene: t\ntools: [{name: bar, axes: 6, shapes: [{kind: box, "
					   "size_m: [0.1, 0.01, 0.01], "
					   "segments: 2}], limits: {engage_s: 0.001}}]\n" TABLE;
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "t", &f.scene));
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f.scene, tac_collider_find("wide"), &f.world));
		puppet_init(&f.hand);
		if (!motors) {
			f.hand.base.info.torque_axes = 0;
			f.hand.base.info.max_torque_Nm = 0;
		}
		tac_servo_def def = tac_servo_def_default();
		def.world = f.world;
		def.device = &f.hand.base;
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f.servo));
		const tac_dquat tilt = tac_dquat_exp(tac_dvec3_make(0, 0.1, 0));
		felt w = {.T = tac_dpose_make(tac_dvec3_make(0, 0, 0.07), tilt)};
		felt_step(&w, &f, w.T);
		for (int k = 1; k <= 80; k++) {
			const double z = 0.07 - 5e-4 * (k <= 40 ? k : 80 - k);
			felt_step(&w, &f, tac_dpose_make(tac_dvec3_make(0, 0, z), tilt));
			force_N[motors][k - 1] = tac_dvec3_length(w.sent.force_N);
		}
		fixture_fini(&f);
	}
	TEST_ASSERT_TRUE(force_N[1][39] > 3);
	for (int k = 0; k < 80; k++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, force_N[1][k], force_N[0][k]);
}

// A hand presses 4 mm deep without holding the dead-man's button, holds it and leaves: it has put in nothing,
// and gets nothing. When it rests, the whole force comes.
static void pressing_while_the_gate_is_closed_does_not_pay(void)
{
	for (int rests = 0; rests <= 1; rests++) {
		fixture f;
		fixture_build(&f,
			      "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
			      "\"sphere:r=0.01\"}], limits: {deadman_button: 0, engage_s: 0.005}}]\n" TABLE,
			      "wide", tac_servo_def_default());
		felt w = {.T = tac_dpose_make(tac_dvec3_make(0, 0, 0.061), tac_dquat_identity())};
		for (int k = 0; k <= 100; k++)
			felt_step(
				&w, &f,
				tac_dpose_make(tac_dvec3_make(0, 0, 0.061 - 5e-5 * k), tac_dquat_identity()));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, w.work_J);
		f.hand.state.buttons = 1;
		for (int k = 0; rests && k < 400; k++)
			felt_step(&w, &f, w.T);
		if (rests)
			TEST_ASSERT_DOUBLE_WITHIN(1e-3, 4, w.sent.force_N.z);
		for (int k = 1; k <= 100; k++)
			felt_step(
				&w, &f,
				tac_dpose_make(tac_dvec3_make(0, 0, 0.056 + 5e-5 * k), tac_dquat_identity()));
		printf("a gate that was closed%s: %.4f mJ\n", rests ? ", then rest" : "", 1e3 * w.work_J);
		TEST_ASSERT_TRUE(w.work_J <= (rests ? 8e-3 / (3 + 0.5 / 0.05) + 2e-5 : 2e-5));
		fixture_fini(&f);
	}
}

// A sensor of 10 um says 10 mm/s in every third tick and 0 in the others. The controller damps a port that
// has given energy: a step of the sensor is no step of its force, 0.6 N.
static void a_step_of_the_sensor_is_no_step_of_the_damping(void)
{
	static const char text[] = "scene: t\ntools: [{name: ball, axes: 3, shapes: [{kind: solids, solids: "
				   "\"sphere:r=0.01\"}]}]\n" TABLE;
	fixture f = {0};
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "t", &f.scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f.scene, tac_collider_find("wide"), &f.world));
	puppet_init(&f.hand);
	f.hand.base.info.linear = (tac_device_mechanics){.mass = 0.3, .damping = 0.5, .resolution = 1e-5};
	tac_servo_def def = tac_servo_def_default();
	def.world = f.world;
	def.device = &f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f.servo));
	double last = 0, step = 0, most = 0;
	for (int k = 0; k < 200; k++) {
		f.servo->port.energy_J = -1e-3;
		f.hand.state.velocity_m_per_s = tac_dvec3_make(k % 3 ? 0 : 0.01, 0, 0);
		f.hand.state.T_base_tool.position = tac_dvec3_make(1e-5 * (k / 3), 0, 0.1);
		tac_servo_step(f.servo, k * MS, NULL);
		const double now = f.hand.wrench.force_N.x;
		step = k > 20 ? fmax(step, fabs(now - last)) : 0;
		most = k > 20 ? fmax(most, -now) : 0;
		last = now;
	}
	printf("a step of the sensor: %.3f N of %.3f N\n", step, most);
	TEST_ASSERT_TRUE(most > 0.1 && step < 0.3);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_force_that_was_not_paid_for_rises_with_bounded_power);
	RUN_TEST(a_force_at_the_maximum_of_the_device_does_not_wait_for_the_energy_beyond);
	RUN_TEST(springs_however_hostile_do_not_pay_the_hand);
	RUN_TEST(springs_that_are_stiff_on_the_way_in_give_no_more_on_the_way_out);
	RUN_TEST(a_gift_to_a_device_at_rest_is_taken_back_as_fast_as_the_bound_allows);
	RUN_TEST(what_is_left_of_a_gift_is_taken_back_in_the_next_contact);
	RUN_TEST(gifts_end_when_the_hand_owes_too_much);
	RUN_TEST(a_gate_that_opens_in_contact_does_not_pay);
	RUN_TEST(what_the_gate_takes_off_is_not_given_back);
	RUN_TEST(an_object_that_recedes_takes_no_more_than_the_springs_hold);
	RUN_TEST(a_small_deficit_is_withheld_from_what_the_springs_give);
	RUN_TEST(the_support_of_the_weight_leaves_the_contacts_the_rest);
	RUN_TEST(torque_beyond_the_device_is_neither_asked_for_nor_given_back);
	RUN_TEST(a_hand_that_leaves_faster_than_the_motors_follow_is_not_paid);
	RUN_TEST(torque_that_no_motor_exerts_does_not_hold_up_the_force);
	RUN_TEST(pressing_while_the_gate_is_closed_does_not_pay);
	RUN_TEST(a_step_of_the_sensor_is_no_step_of_the_damping);
	return UNITY_END();
}
