// The time of a drill's tick: mover, QP and removal. First down into a block, along in it, and out; then a
// hand that glides, jabs and holds, with the motor on and off, for balls and for cylinders that turn with it.
// Each tick is timed in several replays, and the least counts, so that what interrupts the machine is left
// out.
#include "base/rng.h"
#include "bench/drill_rig.h"
#include "rt/clock.h"

#include <stdio.h>

enum { TICKS = 8000, REPLAYS = 3 };
static const double MM = 1e-3;

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// ---- hands ----

// Where a hand is, how it is turned, and whether it has switched the motor on.
typedef struct hand {
	tac_dpose pose;
	bool running;
	tac_rng rng;
	tac_dvec3 goal;
	tac_dquat from, to;
	double speed_m_per_s;
} hand;

static void lead_along(hand *h, int tick, double radius_m)
{
	const double t = tick * 1e-3;
	tac_dvec3 p = tac_dvec3_make(0, 0, 2e-4 + radius_m - 1.5e-3 * fmin(t, 3));
	if (t > 3)
		p = tac_dvec3_add(p, tac_dvec3_make(1e-3 * (fmin(t, 6) - 3), 4e-4 * sin(3 * (t - 3)), 0));
	if (t > 6)
		p.z += 4e-3 * (t - 6);
	*h = (hand){.pose = tac_dpose_make(p, tac_dquat_identity()), .running = true};
}

// It glides at 20 mm/s, jabs at up to 2 m/s, holds, or presses on slowly; it tilts by up to 45 degrees.
static void wander(hand *h, int tick, bool turns)
{
	const int ticks = 150;
	tac_dvec3 place = h->pose.position;
	if (tick % ticks == 0) {
		const uint32_t mode = tac_rng_below(&h->rng, 4);
		const double jab = tac_rng_range_f64(&h->rng, 0.2, 2), speeds[] = {0.02, jab, 0, 0.004};
		h->goal = tac_dvec3_make(tac_rng_range_f64(&h->rng, -3 * MM, 3 * MM),
					 tac_rng_range_f64(&h->rng, -3 * MM, 3 * MM),
					 mode == 0 ? place.z : tac_rng_range_f64(&h->rng, -3 * MM, 2 * MM));
		h->speed_m_per_s = speeds[mode];
		h->running = tac_rng_below(&h->rng, 2) != 0;
		h->from = h->to;
		h->to = tac_dquat_exp(
			tac_dvec3_scale(tac_rng_unit_f64(&h->rng), tac_rng_range_f64(&h->rng, 0, 0.8)));
	}
	const tac_dvec3 way = tac_dvec3_sub(h->goal, place);
	const double left = tac_dvec3_length(way);
	if (left > 0)
		place = tac_dvec3_add_scaled(place, fmin(1, h->speed_m_per_s * 1e-3 / left), way);
	const tac_dvec3 o = tac_dvec3_zero();
	h->pose = tac_dpose_interpolate(tac_dpose_make(o, h->from), tac_dpose_make(o, h->to),
					(double)(tick % ticks) / ticks);
	if (!turns)
		h->pose.rotation = tac_dquat_identity();
	h->pose.position = place;
}

// ---- runs ----

typedef struct run {
	double radius_mm, length_mm, voxel_mm;
	bool wanders;
} run;

static int64_t least_ns[TICKS];
static bool was_running[TICKS];

// Runs the path and keeps the least time of each tick.
static bool replay(const run *r, const drill_rig_def *def, drill_rig *rig)
{
	const double above = def->length_m > 0 ? 0.5 * MM : def->radius_m + 0.5 * MM;
	hand h = {.rng = tac_rng_seed(11, 1),
		  .pose = {{0, 0, above}, tac_dquat_identity()},
		  .from = tac_dquat_identity(),
		  .to = tac_dquat_identity()};
	if (!r->wanders)
		lead_along(&h, 0, def->radius_m);
	if (!drill_rig_init(rig, def) || !tac_sco_reset(rig->sco, h.pose, NULL))
		return false;
	for (int i = 0; i < TICKS; i++) {
		if (r->wanders)
			wander(&h, i, def->turns);
		else
			lead_along(&h, i, def->radius_m);
		was_running[i] = h.running;
		const int64_t begin = tac_clock_thread_cpu_ns();
		drill_rig_step(rig, h.pose, h.running);
		const int64_t ns = tac_clock_thread_cpu_ns() - begin;
		least_ns[i] = least_ns[i] == 0 || ns < least_ns[i] ? ns : least_ns[i];
	}
	return true;
}

// The ticks with the motor on or off, and the end of the line.
static void print_line(const run *r, bool running, const char *end)
{
	static int64_t ns[TICKS];
	int count = 0;
	for (int i = 0; i < TICKS; i++) {
		if (was_running[i] == running)
			ns[count++] = least_ns[i];
	}
	if (count == 0)
		return;
	qsort(ns, (size_t)count, sizeof *ns, compare);
	char name[32];
	snprintf(name, sizeof name, r->length_mm > 0 ? "%g x %g" : "%g", 2 * r->radius_mm, r->length_mm);
	printf("%-10s %-9g %-7s %-5s %8.1f %8.1f %8.1f %8.1f   %s\n", name, r->voxel_mm,
	       r->wanders ? "wanders" : "leads", running ? "on" : "off", (double)ns[count / 2] / 1e3,
	       (double)ns[count * 99 / 100] / 1e3, (double)ns[(int64_t)count * 999 / 1000] / 1e3,
	       (double)ns[count - 1] / 1e3, end);
}

static bool measure(const run *r)
{
	drill_rig_def def = drill_rig_def_default();
	def.size_m = r->wanders ? 0.008 : 0.02;
	def.depth_m = r->wanders ? 0.006 : def.depth_m;
	def.radius_m = r->radius_mm * MM;
	def.length_m = r->length_mm * MM;
	def.voxel_m = r->voxel_mm * MM;
	def.turns = r->length_mm > 0;
	drill_rig rig;
	for (int k = 0; k < TICKS; k++)
		least_ns[k] = 0;
	for (int k = 0; k < REPLAYS; k++) {
		if (!replay(r, &def, &rig))
			return false;
		if (k < REPLAYS - 1)
			drill_rig_fini(&rig);
	}
	char end[64];
	snprintf(end, sizeof end, "%6.2f mm3 %6d of %d bytes", 1e9 * rig.drill.state.removed_m3[0],
		 (int)tac_field_size_of(rig.field).stored, TAC_FIELD_BRICK_BYTES);
	print_line(r, true, end);
	print_line(r, false, "");
	drill_rig_fini(&rig);
	return true;
}

int main(void)
{
	static const run runs[] = {
		{0.5, 0, 0.1, false}, {1, 0, 0.1, false},  {1, 0, 0.2, false},
		{2, 0, 0.1, false},   {3, 0, 0.15, false}, {1, 0, 0.1, true},
		{2, 0, 0.1, true},    {1, 3, 0.15, true},  {1, 3, 0.2, true},
	};
	printf("%-10s %-9s %-7s %-5s %8s %8s %8s %8s   %10s %6s\n", "burr, mm", "voxel, mm", "hand", "motor",
	       "p50, us", "p99", "p99.9", "max", "removed", "bricks");
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		if (!measure(&runs[i]))
			return 1;
	}
	return 0;
}
