// bench_viewer [SECONDS]: the cost of the viewer to the loop. A servo in contact runs at 1 kHz. The viewer of
// the same world draws as fast as it can in every second block of one second, and is idle in the others. It
// needs a display, for example xvfb-run -a -s "-screen 0 1400x900x24" bench_viewer.
//
// As in bench_loop, a reference thread (FIFO 91) and the servo's thread (FIFO 90) share a CPU and a deadline.
// Completion minus reference wake-up is free of the effects of timer and hypervisor, which delay both. The
// result is the median over the blocks of the block's median, with the viewer minus without. The table goes
// to standard output, the blocks as CSV to bench_viewer.csv.
#include "apps/viewer/viewer.h"
#include "haptic/servo.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PERIOD_NS  TAC_NS_PER_MS
#define CYCLES     1000 // of a block
#define BLOCKS_MAX 120

// A device whose hand strokes the body in endless circles, 2 mm below its surface.
typedef struct stroke {
	tac_device base;
	tac_dvec3 middle_m;
} stroke;

static tac_device_status stroke_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const double angle = 2e-8 * (double)(now_ns % INT64_C(314159265)); // 20 rad/s
	const tac_dvec3 offset = tac_dvec3_make(0.002 * cos(angle), 0.002 * sin(angle), 0);
	*out_state = (tac_device_state){
		.time_ns = now_ns,
		.T_base_tool = tac_dpose_make(tac_dvec3_add(((stroke *)device)->middle_m, offset),
					      tac_dquat_identity()),
	};
	return TAC_DEVICE_OK;
}

static tac_device_status stroke_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device, (void)now_ns, (void)wrench;
	return TAC_DEVICE_OK;
}

static void stroke_enable(tac_device *device, bool on)
{
	(void)device, (void)on;
}

static stroke hand = {
	.base = {.info = {.name = "stroke", .position_axes = 3, .force_axes = 3, .max_force_N = 20},
		 .read = stroke_read,
		 .write = stroke_write,
		 .enable = stroke_enable},
};
static tac_servo *servo;
static int64_t first_ns, reference_ns[CYCLES], completed_ns[CYCLES];
static atomic_bool block_ended;

static bool enter(int priority, int cpu, tac_thread_report *out_report)
{
	tac_thread_def def = tac_thread_def_default(); // keeps the CPU awake: waking from idle costs time
	def.priority = priority;
	def.cpu = cpu;
	return tac_thread_enter(&def, out_report) == TAC_OK;
}

static void *reference_thread(void *user)
{
	tac_thread_report report;
	if (!enter(91, *(const int *)user, &report))
		return user;
	for (int64_t i = 0; i < CYCLES; i++) {
		tac_clock_sleep_until_ns(first_ns + i * PERIOD_NS);
		reference_ns[i] = tac_clock_now_ns();
	}
	tac_thread_leave(&report);
	return NULL;
}

static void *servo_thread(void *user)
{
	tac_thread_report report;
	void *refused = enter(90, *(const int *)user, &report) ? NULL : user;
	for (int64_t i = 0; i < CYCLES && !refused; i++) {
		tac_clock_sleep_until_ns(first_ns + i * PERIOD_NS);
		tac_tick tick = {.wake_ns = tac_clock_now_ns()};
		tac_servo_step(servo, tick.wake_ns, &tick);
		completed_ns[i] = tac_clock_now_ns();
	}
	tac_thread_leave(&report);
	atomic_store(&block_ended, true);
	return refused;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, compare);
	return count > 0 ? values[count / 2] : (double)NAN;
}

// The block's median in us; negative: the real-time policy was refused.
static double run_block(viewer *view, bool drawing, int cpu, int *pictures)
{
	first_ns = (tac_clock_now_ns() / PERIOD_NS + 20) * PERIOD_NS;
	atomic_store(&block_ended, false);
	pthread_t reference, test;
	void *refused[2];
	if (tac_thread_start(&reference, reference_thread, &cpu) != TAC_OK ||
	    tac_thread_start(&test, servo_thread, &cpu) != TAC_OK)
		exit(EXIT_FAILURE);
	while (!atomic_load(&block_ended)) {
		if (drawing) {
			const viewer_frame frame = {.snapshots = {tac_servo_snapshot(servo, 0)},
						    .device = "stroke",
						    .now_ns = tac_clock_now_ns()};
			viewer_show(view, &frame);
			++*pictures;
		} else {
			tac_clock_sleep_until_ns(tac_clock_now_ns() + 10 * TAC_NS_PER_MS);
		}
	}
	pthread_join(reference, &refused[0]);
	pthread_join(test, &refused[1]);
	static double differences[CYCLES];
	for (int i = 0; i < CYCLES; i++)
		differences[i] = (double)(completed_ns[i] - reference_ns[i]) / 1e3;
	return refused[0] || refused[1] ? -1 : median(differences, CYCLES);
}

static tac_result prepare(tac_scene **scene, tac_world **world, viewer **view)
{
	if (tac_scene_builtin("stylus", scene) < TAC_OK ||
	    tac_world_build(*scene, tac_collider_find("wide"), world) < TAC_OK)
		return TAC_ERROR_ARGUMENT;
	tac_servo_def def = tac_servo_def_default();
	def.world = *world;
	def.device = &hand.base;
	const viewer_def window = {
		.world = *world, .title = "bench", .width = 1280, .height = 800, .period_ns = PERIOD_NS};
	if (tac_servo_create(&def, &servo) < TAC_OK)
		return TAC_ERROR_MEMORY;
	// Down from above, so that the tool starts free and stops at the surface.
	for (int ms = 0; ms < 400; ms++) {
		hand.middle_m = tac_dvec3_make(0, 0, 0.08 - 0.033 * fmin(ms / 300.0, 1));
		tac_servo_step(servo, tac_clock_now_ns(), NULL);
	}
	return viewer_open(&window, view);
}

int main(int argc, char **argv)
{
	int blocks = argc > 1 ? atoi(argv[1]) : 40;
	blocks = blocks < 2 ? 2 : blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks;
	tac_scene *scene = NULL;
	tac_world *world = NULL;
	viewer *view = NULL;
	FILE *csv = fopen("bench_viewer.csv", "w");
	if (!csv || prepare(&scene, &world, &view) < TAC_OK)
		return EXIT_FAILURE;
	fprintf(csv, "second,series,p50_us\n");
	const int cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	double with[BLOCKS_MAX], without[BLOCKS_MAX], pairs[BLOCKS_MAX];
	int pictures = 0, count = 0;
	for (int b = 0; b < blocks; b++) {
		const bool drawing = b % 2 == 1;
		const double p50 = run_block(view, drawing, cpu, &pictures);
		if (p50 < 0) {
			fprintf(stderr, "bench_viewer: expected SCHED_FIFO 90 and 91, found a refusal; "
					"run it as root\n");
			return EXIT_FAILURE;
		}
		fprintf(csv, "%d,%s,%.3f\n", b, drawing ? "with the viewer" : "without", p50);
		(drawing ? with : without)[count] = p50;
		if (drawing) {
			pairs[count] = with[count] - without[count];
			count++;
		}
	}
	const tac_snapshot *last = tac_servo_snapshot(servo, 0);
	printf("tick in contact (%d contacts), median over %d pairs of 1 s blocks of the block's p50\n",
	       last->contact_count, count);
	printf("  without the viewer   %8.2f us\n  with the viewer      %8.2f us, %.1f pictures/s\n  paired "
	       "difference    %8.2f us\n",
	       median(without, count), median(with, count), (double)pictures / count, median(pairs, count));
	viewer_close(&view);
	tac_servo_destroy(&servo);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return fclose(csv) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
