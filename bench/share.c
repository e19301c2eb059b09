// What sharing costs the tick: a servo stepped at 1 kHz, of which every other tick is pushed into the seam
// and takes its orders, while another process empties the rings as a bridge does. The two kinds of ticks
// alternate, so that the machine affects both equally. Each figure is a percentile over all ticks of a kind.
#include "devices/registry.h"
#include "haptic/servo.h"
#include "rt/clock.h"
#include "rt/thread.h"
#include "share/seam.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICKS   5000 // of each kind
#define POLL_NS (2 * TAC_NS_PER_MS)

typedef enum kind { ALONE, SHARED, KINDS } kind;

static tac_scene *scene;
static tac_world *world;
static tac_device *device;
static tac_servo *servo;
static tac_seam *seam;
static int64_t took_ns[KINDS][TICKS];

static bool open_all(void)
{
	static tac_seam_info info = {.tool_count = 1};
	const tac_open_def open = {0};
	if (tac_scene_builtin("sphere", &scene) < TAC_OK ||
	    tac_world_build(scene, tac_collider_find("wide"), &world) < TAC_OK ||
	    tac_registry_open("sim:falcon", &open, &device) < TAC_OK)
		return false;
	tac_servo_def def = tac_servo_def_default();
	def.world = world;
	def.device = device;
	return tac_servo_create(&def, &servo) >= TAC_OK && tac_seam_create(&info, &seam) >= TAC_OK;
}

// Empties the rings until it is killed.
static void be_a_bridge(void)
{
	tac_seam *side;
	if (tac_seam_attach(tac_seam_fd(seam), &side) < TAC_OK)
		_exit(EXIT_FAILURE);
	const struct timespec pause = {0, POLL_NS};
	for (tac_seam_tick tick;;) {
		while (tac_seam_pop_tick(side, &tick))
			;
		nanosleep(&pause, NULL);
	}
}

static int64_t step(kind k)
{
	static const tac_wrench none;
	tac_seam_order order;
	const int64_t begin_ns = tac_clock_now_ns();
	tac_servo_step(servo, begin_ns, NULL);
	if (k == SHARED) {
		tac_seam_take_order(seam, &order);
		tac_seam_push_tick(seam, tac_servo_snapshot(servo, 0), &none);
	} else {
		tac_servo_snapshot(servo, 0); // as the run reads it, shared or not
	}
	return tac_clock_now_ns() - begin_ns;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static double percentile_us(kind k, double fraction)
{
	return 1e-3 * (double)took_ns[k][(int)(fraction * (TICKS - 1))];
}

int main(void)
{
	if (!open_all())
		return EXIT_FAILURE;
	const pid_t bridge = fork();
	if (bridge == 0)
		be_a_bridge();
	const tac_thread_def thread = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&thread, &report) != TAC_OK)
		printf("not real-time: some settings were refused\n");
	tac_device_enable(device, true);
	int64_t next_ns = tac_clock_now_ns();
	for (int tick = 0; tick < TICKS * KINDS; tick++) {
		took_ns[tick % KINDS][tick / KINDS] = step((kind)(tick % KINDS));
		next_ns += TAC_NS_PER_MS;
		tac_clock_sleep_until_ns(next_ns);
	}
	tac_device_enable(device, false);
	kill(bridge, SIGKILL);
	waitpid(bridge, NULL, 0);
	for (int k = 0; k < KINDS; k++)
		qsort(took_ns[k], TICKS, sizeof took_ns[k][0], compare);
	printf("%-8s %8s %8s %8s\n", "tick, us", "alone", "shared", "added");
	for (int i = 0; i < 3; i++) {
		static const double fractions[] = {0.5, 0.9, 0.99};
		const double alone = percentile_us(ALONE, fractions[i]),
			     shared = percentile_us(SHARED, fractions[i]);
		printf("p%-7g %8.3f %8.3f %8.3f\n", 100 * fractions[i], alone, shared, shared - alone);
	}
	printf("records: %llu pushed, %llu refused\n", (unsigned long long)tac_seam_pushed(seam),
	       (unsigned long long)tac_seam_refused(seam));
	tac_servo_destroy(&servo);
	tac_device_destroy(&device);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	tac_seam_destroy(&seam);
	return EXIT_SUCCESS;
}
