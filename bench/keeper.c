// The cost of the keeper to a tick: reading and writing a simulated device in this process, beside the same
// device in a keeper process (devices/keeper/kept.h). Both are exchanged in each tick of one loop, in
// alternating order, so that the machine affects both equally. Each figure is a median over all ticks.
#include "devices/keeper/kept.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <stdio.h>
#include <stdlib.h>

#define TICKS     5000
#define SELECTION "sim:omega3"

typedef enum kind { IN_PROCESS, KEPT, KINDS } kind;

static tac_device *devices[KINDS];
static int64_t exchange_ns[KINDS][TICKS]; // read and write
static int64_t age_ns[KINDS][TICKS];      // of the sample when it was read
static int64_t added_ns[TICKS];           // kept minus in process, of one tick
static int fresh[KINDS];

static void exchange(kind i, int tick)
{
	const tac_wrench wrench = {.force_N = {0, 1, 0}};
	tac_device_state state;
	const int64_t begin_ns = tac_clock_now_ns();
	fresh[i] += tac_device_read(devices[i], begin_ns, &state) == TAC_DEVICE_OK;
	tac_device_write(devices[i], begin_ns, &wrench);
	exchange_ns[i][tick] = tac_clock_now_ns() - begin_ns;
	age_ns[i][tick] = begin_ns - state.time_ns;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static double sorted_us(int64_t *values, double fraction)
{
	qsort(values, TICKS, sizeof *values, compare);
	return 1e-3 * (double)values[(int)(fraction * (TICKS - 1))];
}

int main(void)
{
	const tac_open_def def = {0};
	if (tac_registry_open(SELECTION, &def, &devices[IN_PROCESS]) < TAC_OK ||
	    tac_kept_open(SELECTION, &def, &devices[KEPT]) < TAC_OK)
		return EXIT_FAILURE;
	const tac_thread_def thread = tac_thread_def_default();
	tac_thread_report report;
	if (tac_thread_enter(&thread, &report) != TAC_OK)
		printf("not real-time: some settings were refused\n");
	for (int i = 0; i < KINDS; i++)
		tac_device_enable(devices[i], true);
	int64_t next_ns = tac_clock_now_ns();
	for (int tick = 0; tick < TICKS; tick++) {
		exchange(tick % 2 ? KEPT : IN_PROCESS, tick);
		exchange(tick % 2 ? IN_PROCESS : KEPT, tick);
		added_ns[tick] = exchange_ns[KEPT][tick] - exchange_ns[IN_PROCESS][tick];
		next_ns += TAC_NS_PER_MS;
		tac_clock_sleep_until_ns(next_ns);
	}
	tac_thread_leave(&report);
	static const char *const names[KINDS] = {"in process", "kept"};
	printf("%-12s %14s %10s %16s %14s\n", "device", "exchange, us", "99 %", "sample age, us",
	       "new samples");
	double median_us[KINDS];
	for (int i = 0; i < KINDS; i++) {
		median_us[i] = sorted_us(exchange_ns[i], 0.5);
		printf("%-12s %14.2f %10.2f %16.1f %12.1f %%\n", names[i], median_us[i],
		       sorted_us(exchange_ns[i], 0.99), sorted_us(age_ns[i], 0.5), 100.0 * fresh[i] / TICKS);
	}
	const double added_us = sorted_us(added_ns, 0.5);
	printf("kept : in process = %.2f; paired difference %+.2f us, %.2f %% of a tick of 1 ms\n",
	       median_us[KEPT] / median_us[IN_PROCESS], added_us, added_us / 10);
	for (int i = 0; i < KINDS; i++)
		tac_device_destroy(&devices[i]);
	return EXIT_SUCCESS;
}
