// The time of a drill's tick: mover, QP and removal, down into a block, along in it, and out. Each tick is
// timed in several replays, and the least counts, so that what interrupts the machine is left out.
#include "bench/drill_rig.h"
#include "rt/clock.h"

#include <stdio.h>

enum { TICKS = 8000, REPLAYS = 3 };

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static tac_dpose hand_at(int tick, double radius_m)
{
	const double t = tick * 1e-3;
	tac_dvec3 p = tac_dvec3_make(0, 0, 2e-4 + radius_m - 1.5e-3 * fmin(t, 3));
	if (t > 3)
		p = tac_dvec3_add(p, tac_dvec3_make(1e-3 * (fmin(t, 6) - 3), 4e-4 * sin(3 * (t - 3)), 0));
	if (t > 6)
		p.z += 4e-3 * (t - 6);
	return tac_dpose_make(p, tac_dquat_identity());
}

// Runs the path and keeps the least time of each tick.
static bool replay(const drill_rig_def *def, int64_t *least_ns, drill_rig *rig)
{
	if (!drill_rig_init(rig, def) || !tac_sco_reset(rig->sco, hand_at(0, def->radius_m), NULL))
		return false;
	for (int i = 0; i < TICKS; i++) {
		const int64_t begin = tac_clock_thread_cpu_ns();
		drill_rig_step(rig, hand_at(i, def->radius_m), true);
		const int64_t ns = tac_clock_thread_cpu_ns() - begin;
		least_ns[i] = least_ns[i] == 0 || ns < least_ns[i] ? ns : least_ns[i];
	}
	return true;
}

int main(void)
{
	static const double burrs[][2] = {
		{0.5e-3, 1e-4}, {1e-3, 1e-4}, {1e-3, 2e-4}, {2e-3, 1e-4}, {3e-3, 1.5e-4}};
	static int64_t least_ns[TICKS];
	printf("%-10s %-9s %8s %8s %8s %8s   %10s %8s\n", "burr, mm", "voxel, mm", "p50, us", "p99", "p99.9",
	       "max", "removed", "bricks");
	for (int i = 0; i < 5; i++) {
		drill_rig_def def = drill_rig_def_default();
		def.size_m = 0.02;
		def.radius_m = burrs[i][0];
		def.voxel_m = burrs[i][1];
		drill_rig rig;
		for (int k = 0; k < TICKS; k++)
			least_ns[k] = 0;
		for (int k = 0; k < REPLAYS; k++) {
			if (!replay(&def, least_ns, &rig))
				return 1;
			if (k < REPLAYS - 1)
				drill_rig_fini(&rig);
		}
		qsort(least_ns, TICKS, sizeof *least_ns, compare);
		const tac_field_size size = tac_field_size_of(rig.field);
		printf("%-10g %-9g %8.1f %8.1f %8.1f %8.1f   %6.2f mm3 %8d of %d bytes\n", 2e3 * def.radius_m,
		       1e3 * def.voxel_m, (double)least_ns[TICKS / 2] / 1e3,
		       (double)least_ns[TICKS * 99 / 100] / 1e3, (double)least_ns[TICKS * 999 / 1000] / 1e3,
		       (double)least_ns[TICKS - 1] / 1e3, 1e9 * rig.drill.state.removed_m3[0],
		       (int)size.stored, TAC_FIELD_BRICK_BYTES);
		drill_rig_fini(&rig);
	}
	return 0;
}
