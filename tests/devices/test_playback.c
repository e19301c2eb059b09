// Oracle: the samples of the simulated device at the time of recording.
#include "devices/recording/playback.h"

#include "base/rng.h"
#include "devices/recorder.h"
#include "devices/sim.h"
#include "tests/support/logged.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <unity.h>

#define MS    INT64_C(1000000)
#define TICKS 2000

static tac_recording_sample samples[TICKS];
static tac_recording recording;
static tac_device *device;
static char path[64];

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(path, sizeof path, "/tmp/tactus-playback-%d", (int)getpid());
}

void tearDown(void)
{
	tac_device_destroy(&device);
	tac_recording_fini(&recording);
	unlink(path);
	tac_log_set(NULL, NULL);
}

// Records the simulated device as a loop does, with jitter.
static tac_result record(const char *to, int ticks)
{
	const tac_sim_waypoint waypoints[3] = {
		{0},
		{.time_ns = 500 * MS, .position_m = {0.05, 0.01, -0.02}, .buttons = 1},
		{.time_ns = 900 * MS}};
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("touch", "stylus", &def));
	def.path = waypoints;
	def.waypoints = 3;
	tac_device *sim;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &sim));
	tac_device_enable(sim, true);
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(to, &sim->info, &recorder));
	tac_rng rng = tac_rng_seed(1, 1);
	int64_t now_ns = 77 * MS;
	for (int k = 0; k < ticks; k++) {
		tac_recording_sample *s = &samples[k];
		s->status = tac_device_read(sim, now_ns, &s->state);
		s->wrench.force_N = tac_dvec3_scale(s->state.T_base_tool.position, -100);
		tac_device_write(sim, now_ns, &s->wrench);
		while (!tac_recorder_write(recorder, s)) // waits: the file must have them all
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		now_ns += MS - 500 + tac_rng_below(&rng, 1000);
	}
	const bool refused = tac_recorder_lost(recorder) > 0;
	const tac_result result = tac_recorder_destroy(&recorder);
	TEST_ASSERT_NULL(recorder);
	tac_device_destroy(&sim);
	return result == TAC_PARTIAL && refused ? TAC_OK : result;
}

static void load(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, record(path, TICKS));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
	TEST_ASSERT_EQUAL_UINT64(TICKS, recording.count);
	TEST_ASSERT_EQUAL_STRING("sim:touch", recording.header.name);
}

static void a_replay_at_the_recorded_times_is_the_session_to_the_bit(void)
{
	load();
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
	tac_recording_fini(&recording);
	TEST_ASSERT_EQUAL_STRING("playback:sim:touch", device->info.name);
	TEST_ASSERT_EQUAL_FLOAT(3.3F, (float)device->info.max_force_N);
	for (int k = 0; k < TICKS; k++) {
		tac_device_state state;
		TEST_ASSERT_EQUAL(samples[k].status,
				  tac_device_read(device, samples[k].state.time_ns, &state));
		TEST_ASSERT_EQUAL_INT64(samples[k].state.time_ns, state.time_ns);
		TEST_ASSERT_EQUAL_MEMORY(&samples[k].state.T_base_tool, &state.T_base_tool,
					 sizeof(tac_dpose));
		TEST_ASSERT_EQUAL_MEMORY(&samples[k].state.velocity_m_per_s, &state.velocity_m_per_s,
					 sizeof(tac_dvec3));
		TEST_ASSERT_EQUAL_UINT32(samples[k].state.buttons, state.buttons);
		const tac_dvec3 p = state.T_base_tool.position;
		TEST_ASSERT_TRUE(p.x >= device->info.workspace_min_m.x &&
				 p.x <= device->info.workspace_max_m.x);
	}
}

static void a_read_gives_the_newest_sample_that_is_due(void)
{
	load();
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
	const int64_t first_ns = samples[0].state.time_ns;
	tac_device_state state;
	// Another clock and another period.
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, -5000, &state));
	TEST_ASSERT_EQUAL_INT64(-5000, state.time_ns);
	TEST_ASSERT_EQUAL(TAC_DEVICE_STALE, tac_device_read(device, -5000 + 100, &state));
	for (int64_t t = 3 * MS; t < 1900 * MS; t += 2345678) {
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, t - 5000, &state));
		int k = 0;
		while (k + 1 < TICKS && samples[k + 1].state.time_ns - first_ns <= t)
			k++;
		TEST_ASSERT_EQUAL_INT64(samples[k].state.time_ns - first_ns - 5000, state.time_ns);
		TEST_ASSERT_EQUAL_MEMORY(&samples[k].state.T_base_tool, &state.T_base_tool,
					 sizeof(tac_dpose));
	}
	TEST_ASSERT_EQUAL(TAC_DEVICE_STALE, tac_device_read(device, 1 * MS, &state)); // backwards
}

static void it_ends_a_period_after_the_last_sample_or_repeats(void)
{
	load();
	const int64_t first_ns = samples[0].state.time_ns;
	const int64_t length_ns = samples[TICKS - 1].state.time_ns - first_ns + MS;
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
	tac_device_read(device, 0, &state);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, length_ns - 1, &state));
	TEST_ASSERT_EQUAL(TAC_DEVICE_ENDED, tac_device_read(device, length_ns, &state));
	TEST_ASSERT_EQUAL(TAC_DEVICE_ENDED, tac_device_read(device, 100 * length_ns, &state));
	TEST_ASSERT_EQUAL_MEMORY(&samples[TICKS - 1].state.T_base_tool, &state.T_base_tool,
				 sizeof(tac_dpose));
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, true, &device));
	tac_device_read(device, 0, &state);
	for (int64_t round = 1; round < 4; round++) {
		const int64_t t = round * length_ns + samples[700].state.time_ns - first_ns;
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, t, &state));
		TEST_ASSERT_EQUAL_INT64(t, state.time_ns);
		TEST_ASSERT_EQUAL_MEMORY(&samples[700].state.T_base_tool, &state.T_base_tool,
					 sizeof(tac_dpose));
	}
}

static void forces_are_accepted_only_when_enabled(void)
{
	load();
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
	const tac_wrench wrench = tac_wrench_zero();
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &wrench));
	tac_device_enable(device, true);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, 0, &wrench));
}

static void invalid_samples_are_omitted(void)
{
	tac_recording_sample some[8];
	memset(some, 0, sizeof some);
	for (int i = 0; i < 8; i++) {
		some[i].state.T_base_tool = tac_dpose_identity();
		some[i].state.time_ns = i * MS;
	}
	some[1].state.T_base_tool.position.y = (double)NAN;
	some[2].state.time_ns = 0; // not after sample 0
	some[3].state.T_base_tool.rotation.w = 0.5;
	some[4].state.velocity_m_per_s.x = HUGE_VAL;
	some[5].state.time_ns = INT64_MAX;
	some[6].state.time_ns = INT64_MIN;
	tac_recording bad = {.samples = some, .count = 8};
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_playback_create(&bad, true, &device));
	TEST_ASSERT_EQUAL_STRING("playback: omitted 6 of 8 samples with an invalid time or pose", logged);
	tac_device_state state;
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 0, &state));
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 7 * MS, &state));
	TEST_ASSERT_EQUAL_INT64(7 * MS, state.time_ns);
	tac_device_destroy(&device);
	bad.count = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_playback_create(&bad, false, &device));
	TEST_ASSERT_NULL(device);
}

static void an_interrupted_recording_is_kept_up_to_its_last_block(void)
{
	load();
	tac_recording_fini(&recording);
	struct stat whole;
	TEST_ASSERT_EQUAL(0, stat(path, &whole));
	TEST_ASSERT_EQUAL(0, truncate(path, whole.st_size * 2 / 3));
	TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_load(path, &recording));
	TEST_ASSERT_TRUE(recording.count >= 256 && recording.count < TICKS && recording.count % 256 == 0);
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
}

// A limit on the file size stands for a full disk.
static void a_full_disk_is_logged_once_and_the_loop_continues(void)
{
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit before, small = {20000, 20000};
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	const tac_result result = record(path, TICKS);
	setrlimit(RLIMIT_FSIZE, &before);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, result);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	tac_recording_load(path, &recording);
	TEST_ASSERT_TRUE(recording.count < TICKS);
}

static void a_recorder_without_a_file_is_refused(void)
{
	const tac_device_info info = {0};
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_recorder_create("/nowhere/at/all", &info, &recorder));
	TEST_ASSERT_NULL(recorder);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO,
			  tac_recorder_create("/dev/full", &info, &recorder)); // the header fails already
	TEST_ASSERT_NULL(recorder);
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
}

static void excess_samples_are_refused_and_counted(void)
{
	const tac_device_info info = {.name = "flood"};
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(path, &info, &recorder));
	uint64_t refused = 0;
	for (int i = 0; i < 100000; i++)
		refused += !tac_recorder_write(recorder, &samples[0]);
	TEST_ASSERT_EQUAL_UINT64(refused, tac_recorder_lost(recorder));
	TEST_ASSERT_EQUAL(refused > 0 ? TAC_PARTIAL : TAC_OK, tac_recorder_destroy(&recorder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
	TEST_ASSERT_EQUAL_UINT64(100000 - refused, recording.count);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_replay_at_the_recorded_times_is_the_session_to_the_bit);
	RUN_TEST(a_read_gives_the_newest_sample_that_is_due);
	RUN_TEST(it_ends_a_period_after_the_last_sample_or_repeats);
	RUN_TEST(forces_are_accepted_only_when_enabled);
	RUN_TEST(invalid_samples_are_omitted);
	RUN_TEST(an_interrupted_recording_is_kept_up_to_its_last_block);
	RUN_TEST(a_full_disk_is_logged_once_and_the_loop_continues);
	RUN_TEST(a_recorder_without_a_file_is_refused);
	RUN_TEST(excess_samples_are_refused_and_counted);
	return UNITY_END();
}
