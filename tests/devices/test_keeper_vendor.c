// The vendors' drivers in a keeper: whatever ends or stops runtime, keeper and guard, the last command that
// reaches the device is zero. The stand-ins for the libraries keep the last force when their process dies, as
// a device without a watchdog of its own does, and let one process at a time open it
// (tests/support/mirror.h).
#include "rt/clock.h"
#include "tests/support/ends.h"
#include "tests/support/limits.h"

#include <stdio.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// In every run; long runs take all ways.
static const char *const always[] = {
	"SIGKILL, as out of memory",  "SIGSTOP", "keeper killed", "keeper stopped", "NaN",
	"SIGKILL, every CPU occupied"};

static bool is_chosen(const end_way *way)
{
	if (way->unplug) // the stand-ins cannot
		return false;
	if (test_long())
		return true;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (strcmp(way->name, always[i]) == 0)
			return true;
	}
	return false;
}

// `own_threads`: the library sends on a thread of its own, whose priority is not ours.
static void end_in_every_way(const char *selection, int commands_per_ms, bool hang, bool own_threads)
{
	end_bench bench = {.selection = selection, .keeper = TACTUS_KEEP, .commands_per_ms = commands_per_ms};
	tac_rng rng = tac_rng_seed((uint64_t)tac_clock_now_ns(), 5);
	TEST_ASSERT_TRUE(end_bench_open(&bench, END_MEMORY_FOLDER));
	for (const end_way *way = end_ways; way->name; way++) {
		if ((!is_chosen(way) && !(hang && way->hang)) || (way->hog && own_threads))
			continue;
		int64_t zero_ns = 0;
		const char *wrong = end_one_way(&bench, way, &rng, &zero_ns);
		char text[320];
		snprintf(text, sizeof text, "%s: %s: %s", selection, way->name, wrong ? wrong : "");
		TEST_ASSERT_NULL_MESSAGE(wrong, text);
		if (test_long())
			printf("%-8s %-32s zero after %6.1f ms\n", selection, way->name,
			       (double)zero_ns / 1e6);
	}
	end_bench_close(&bench);
}

static void no_end_leaves_a_force_in_a_device_of_force_dimension(void)
{
	end_in_every_way("dhd", 4, true, false); // it hangs, too, on behalf of all
}

static void no_end_leaves_a_force_in_a_device_of_3d_systems(void)
{
	end_in_every_way("hd", 1, false, true);
}

static void no_end_leaves_a_force_in_a_device_of_chai3d(void)
{
	end_in_every_way("chai3d", 4, false, false);
}

int main(int argc, char **argv)
{
	if (end_is_runtime(argc, argv))
		return end_play_runtime(argv);
	setenv("TACTUS_DHD_LIBRARY", TACTUS_FAKE_DHD, 1);
	setenv("TACTUS_HD_LIBRARY", TACTUS_FAKE_HD, 1);
	setenv("TACTUS_CHAI3D_PLUGIN", TACTUS_FAKE_CHAI3D, 1);
	UNITY_BEGIN();
	RUN_TEST(no_end_leaves_a_force_in_a_device_of_force_dimension);
	RUN_TEST(no_end_leaves_a_force_in_a_device_of_3d_systems);
	RUN_TEST(no_end_leaves_a_force_in_a_device_of_chai3d);
	return UNITY_END();
}
