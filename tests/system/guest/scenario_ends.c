// In the guest: runtime, keeper and guard are ended in random ways over the kernel's own USB, where a device
// belongs to one process at a time until the kernel has taken it from a dead one. The Falcon, in this
// process, is plugged into a port of vhci_hcd; its motors must be at zero after every end.
#include "devices/registry.h"
#include "devices/virtual_vhci.h"
#include "rt/clock.h"
#include "tests/support/ends.h"
#include "tests/support/mirrored_falcon.h"
#include "tests/system/guest/scenario.h"

// A slow machine stops before run.py gives up, after fewer ends.
#define ENDS     60
#define ENDS_MIN 15
#define TIME_NS  (400 * TAC_NS_PER_S)

static bool is_possible(const end_way *way)
{
	// There is no library here that could hang, and one port, whose kernel threads have no priority.
	return !way->hang && !way->unplug && !way->hog;
}

static void wait_for_device(void)
{
	const int64_t end_ns = tac_clock_now_ns() + 60 * TAC_NS_PER_S;
	tac_driver_report report;
	do {
		tac_registry_list(tac_registry_driver_at(0), &report);
		require(tac_clock_now_ns() < end_ns, "a Falcon on the bus");
	} while (report.count == 0);
}

int main(int argc, char **argv)
{
	if (end_is_runtime(argc, argv))
		return end_play_runtime(argv);
	// A slow machine may find that a running firmware does not answer, and load it.
	// An emulated machine may be held up for longer than a device may be silent.
	end_bench bench = {.selection = "falcon", .firmware = "/falcon.bin", .tries = 10};
	write_image(bench.firmware);
	require(end_bench_open(&bench, "/tmp" /* in memory, as all of the guest */), "a file for the motors");
	tac_virtual_usb *falcon = mirrored_falcon_create(bench.file);
	tac_virtual_vhci *port = NULL;
	require(falcon && tac_virtual_vhci_attach(falcon, &port) == TAC_OK, "a Falcon in a port");
	wait_for_device();
	int ways = 0;
	while (end_ways[ways].name)
		ways++;
	const uint64_t seed = (uint64_t)tac_clock_now_ns();
	tac_rng rng = tac_rng_seed(seed, 1);
	const int64_t end_ns = tac_clock_now_ns() + TIME_NS;
	int done = 0;
	print_line("up to %d random ends of %d ways, seed %llu", ENDS, ways, (unsigned long long)seed);
	for (; done < ENDS && tac_clock_now_ns() < end_ns; done++) {
		const end_way *way;
		do {
			way = &end_ways[tac_rng_below(&rng, (uint32_t)ways)];
		} while (!is_possible(way));
		int64_t zero_ns = 0;
		const char *wrong = end_one_way(&bench, way, &rng, &zero_ns);
		require(!wrong, "zero after: %s; found: %s", way->name, wrong);
		print_line("%-32s zero after %.1f ms", way->name, (double)zero_ns / 1e6);
	}
	print_line("%d ends, all at zero", done);
	require(done >= ENDS_MIN, "%d ends or more in the time, not %d", ENDS_MIN, done);
	tac_virtual_vhci_detach(&port);
	end_bench_close(&bench);
	return 0;
}
