// Oracle: the samples of the simulated device at the time of recording.
// The clock can be stopped (--wrap), so that the bound on what a killed recorder loses is counted in samples.
#include "devices/recording/playback.h"

#include "base/rng.h"
#include "devices/recorder.h"
#include "devices/sim.h"
#include "rt/clock.h"
#include "tests/support/logged.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unity.h>

#define MS    INT64_C(1000000)
#define TICKS 2000

static tac_device_sample samples[TICKS];
static tac_recording recording;
static tac_device *device;
static char path[64];

// ---- the clock of the recorder's thread ----

static atomic_bool clock_stopped;
static _Atomic int64_t stopped_at_ns;
static _Atomic int64_t sleeping_until_ns; // 0: the recorder's thread is busy

int64_t __real_tac_clock_now_ns(void);
int64_t __wrap_tac_clock_now_ns(void);
void __real_tac_clock_sleep_until_ns(int64_t until_ns);
void __wrap_tac_clock_sleep_until_ns(int64_t until_ns);

int64_t __wrap_tac_clock_now_ns(void)
{
	return clock_stopped ? stopped_at_ns : __real_tac_clock_now_ns();
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

void __wrap_tac_clock_sleep_until_ns(int64_t until_ns)
{
	if (!clock_stopped) {
		__real_tac_clock_sleep_until_ns(until_ns);
		return;
	}
	sleeping_until_ns = until_ns;
	while (clock_stopped && stopped_at_ns < until_ns)
		nap();
	sleeping_until_ns = 0;
}

// Moves the stopped clock on, and waits until the recorder's thread has done what was due by then.
static void move_clock(int64_t to_ns)
{
	while (sleeping_until_ns == 0)
		nap();
	while (sleeping_until_ns <= to_ns) {
		const int64_t until_ns = sleeping_until_ns;
		if (until_ns == 0) {
			nap();
			continue;
		}
		stopped_at_ns = until_ns;
		while (sleeping_until_ns == until_ns)
			nap();
	}
	stopped_at_ns = to_ns;
}

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(path, sizeof path, "/tmp/tactus-playback-%d", (int)getpid());
}

void tearDown(void)
{
	clock_stopped = false;
	tac_device_destroy(&device);
	tac_recording_fini(&recording);
	unlink(path);
	tac_log_set(NULL, NULL);
}

static tac_result create(const char *to, const tac_device_info *info, tac_recorder **out_recorder)
{
	const tac_recorder_def def = {.path = to, .info = info};
	return tac_recorder_create(&def, out_recorder);
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
	TEST_ASSERT_EQUAL(TAC_OK, create(to, &sim->info, &recorder));
	tac_rng rng = tac_rng_seed(1, 1);
	int64_t now_ns = 77 * MS;
	for (int k = 0; k < ticks; k++) {
		tac_device_sample *s = &samples[k];
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
	tac_device_sample some[8];
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
	TEST_ASSERT_TRUE(recording.count >= 256 && recording.count < TICKS);
	TEST_ASSERT_NOT_NULL(strstr(logged, "incomplete"));
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
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, create("/nowhere/at/all", &info, &recorder));
	TEST_ASSERT_NULL(recorder);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, create("/dev/full", &info, &recorder)); // the header fails already
	TEST_ASSERT_NULL(recorder);
	TEST_ASSERT_EQUAL_INT(2, logged_lines);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
}

static void excess_samples_are_refused_and_counted(void)
{
	const tac_device_info info = {.name = "flood"};
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_OK, create(path, &info, &recorder));
	uint64_t refused = 0;
	for (int i = 0; i < 100000; i++)
		refused += !tac_recorder_write(recorder, &samples[0]);
	TEST_ASSERT_EQUAL_UINT64(refused, tac_recorder_lost(recorder));
	TEST_ASSERT_EQUAL(refused > 0 ? TAC_PARTIAL : TAC_OK, tac_recorder_destroy(&recorder));
	TEST_ASSERT_EQUAL(refused > 0 ? TAC_PARTIAL : TAC_OK, tac_recording_load(path, &recording));
	TEST_ASSERT_EQUAL_UINT64(100000 - refused, recording.count);
	TEST_ASSERT_EQUAL_UINT64(refused, recording.unrecorded);
}

static tac_device_sample numbered(int64_t k, int64_t time_ns)
{
	tac_device_sample s = {.state = {.time_ns = time_ns, .T_base_tool = tac_dpose_identity()}};
	s.wrench.force_N = tac_dvec3_make((double)k, 0.1 * (double)k, 0);
	return s;
}

static void assert_numbered(const tac_recording *r)
{
	for (size_t k = 0; k < r->count; k++)
		TEST_ASSERT_TRUE(r->samples[k].wrench.force_N.x == (double)k);
}

// At any moment the file has all samples but those of the last 100 ms, whatever the rate.
static void a_sample_is_in_the_file_100_ms_after_it_was_pushed(void)
{
	const tac_device_info info = {.name = "clock"};
	static const int rates_Hz[] = {10, 100, 1000, 10000};
	for (size_t i = 0; i < 4; i++) {
		const int64_t period_ns = 1000000000 / rates_Hz[i];
		const int ticks = rates_Hz[i] < 100 ? 30 : rates_Hz[i] / 3 + 100;
		stopped_at_ns = 1000 * MS;
		clock_stopped = true;
		tac_recorder *recorder;
		TEST_ASSERT_EQUAL(TAC_OK, create(path, &info, &recorder));
		size_t worst = 0;
		for (int64_t k = 0; k < ticks; k++) {
			const int64_t now_ns = 1000 * MS + k * period_ns;
			move_clock(now_ns);
			const tac_device_sample s = numbered(k, now_ns);
			TEST_ASSERT_TRUE(tac_recorder_write(recorder, &s));
			if (k % (ticks / 25) != 0)
				continue;
			TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_load(path, &recording));
			TEST_ASSERT_NOT_NULL(strstr(recording.damage, "still being written"));
			TEST_ASSERT_EQUAL_UINT64(0, recording.lost_bytes);
			assert_numbered(&recording);
			const size_t missing = (size_t)k + 1 - recording.count;
			worst = missing > worst ? missing : worst;
			tac_recording_fini(&recording);
		}
		printf("%d Hz: at most %zu samples were not yet in the file\n", rates_Hz[i], worst);
		TEST_ASSERT_TRUE((int64_t)worst <= TAC_RECORDER_FLUSH_NS / period_ns + 1);
		clock_stopped = false;
		TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
		TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
		TEST_ASSERT_EQUAL_UINT64(ticks, recording.count);
		tac_recording_fini(&recording);
	}
}

// A process that records and is killed leaves a prefix of what it pushed.
static void a_killed_recorder_leaves_a_file_that_is_named_unfinished_and_usable(void)
{
	const tac_device_info info = {.name = "killed", .period_ns = MS};
	_Atomic int64_t *pushed =
		mmap(NULL, sizeof *pushed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tac_rng rng = tac_rng_seed(21, 1);
	for (int round = 0; round < 8; round++) {
		const int rate_Hz = round % 2 ? 1000 : 100;
		*pushed = 0;
		const pid_t child = fork();
		if (child == 0) {
			tac_recorder *recorder;
			if (create(path, &info, &recorder) != TAC_OK)
				_exit(1);
			for (int64_t k = 0;; k++) {
				const tac_device_sample s = numbered(k, (k + 1) * 1000000000 / rate_Hz);
				tac_recorder_write(recorder, &s);
				*pushed = k + 1;
				nanosleep(&(struct timespec){.tv_nsec = 1000000000 / rate_Hz}, NULL);
			}
		}
		const int64_t enough = 2 + tac_rng_below(&rng, (uint32_t)rate_Hz / 5);
		while (*pushed < enough)
			nap();
		nanosleep(&(struct timespec){.tv_nsec = (long)tac_rng_below(&rng, 150000000)}, NULL);
		kill(child, SIGKILL);
		int status;
		waitpid(child, &status, 0);
		TEST_ASSERT_TRUE(WIFSIGNALED(status));
		TEST_ASSERT_EQUAL(TAC_PARTIAL, tac_recording_load(path, &recording));
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "killed"), logged);
		TEST_ASSERT_TRUE((int64_t)recording.count <= *pushed);
		printf("killed at %d Hz: %lld samples pushed, %lld lost\n", rate_Hz, (long long)*pushed,
		       (long long)(*pushed - (int64_t)recording.count));
		assert_numbered(&recording);
		if (recording.count > 0) {
			TEST_ASSERT_EQUAL(TAC_OK, tac_playback_create(&recording, false, &device));
			tac_device_destroy(&device);
		}
		tac_recording_fini(&recording);
		// Its lock died with it.
		tac_recorder *recorder;
		TEST_ASSERT_EQUAL(TAC_OK, create(path, &info, &recorder));
		TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
	}
	munmap(pushed, sizeof *pushed);
}

static void a_second_recorder_is_refused_and_the_first_file_is_intact(void)
{
	const tac_device_info info = {.name = "first"};
	tac_recorder *first, *second;
	TEST_ASSERT_EQUAL(TAC_OK, create(path, &info, &first));
	char other[128];
	snprintf(other, sizeof other, "%s.link", path);
	TEST_ASSERT_EQUAL(0, symlink(path, other));
	for (int64_t k = 0; k < 500; k++) {
		const tac_device_sample s = numbered(k, k * MS);
		TEST_ASSERT_TRUE(tac_recorder_write(first, &s));
		if (k % 100 != 50)
			continue;
		logged_lines = 0;
		TEST_ASSERT_EQUAL(TAC_ERROR_IO, create(k % 200 == 50 ? path : other, &info, &second));
		TEST_ASSERT_NULL(second);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_NOT_NULL(strstr(logged, "being recorded"));
	}
	unlink(other);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&first));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
	TEST_ASSERT_EQUAL_UINT64(500, recording.count);
	assert_numbered(&recording);
}

// Another spelling of the path, a symbolic link, a hard link.
static void nothing_records_over_a_file_that_is_played_back(void)
{
	load();
	tac_recording_fini(&recording);
	TEST_ASSERT_EQUAL(TAC_OK, tac_playback_open(path, &(tac_open_def){0}, &device));
	char names[4][128];
	snprintf(names[0], sizeof names[0], "%s", path);
	snprintf(names[1], sizeof names[1], "/tmp/../tmp/.%s", strrchr(path, '/'));
	snprintf(names[2], sizeof names[2], "%s.soft", path);
	snprintf(names[3], sizeof names[3], "%s.hard", path);
	TEST_ASSERT_EQUAL(0, symlink(path, names[2]));
	TEST_ASSERT_EQUAL(0, link(path, names[3]));
	tac_recorder *recorder;
	for (int i = 0; i < 4; i++) {
		logged_lines = 0;
		TEST_ASSERT_EQUAL(TAC_ERROR_IO, create(names[i], &device->info, &recorder));
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
		TEST_ASSERT_EQUAL_UINT64(TICKS, recording.count);
		tac_recording_fini(&recording);
	}
	unlink(names[2]);
	unlink(names[3]);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL(TAC_OK, create(path, &(tac_device_info){0}, &recorder));
	// And nothing plays back what is being recorded.
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_playback_open(path, &(tac_open_def){0}, &device));
	TEST_ASSERT_NOT_NULL(strstr(logged, "being written"));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
}

static void a_pipe_that_nobody_reads_is_refused_without_waiting(void)
{
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, create(path, &(tac_device_info){0}, &recorder));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	// Two recorders may write to /dev/null.
	tac_recorder *second;
	TEST_ASSERT_EQUAL(TAC_OK, create("/dev/null", &(tac_device_info){0}, &recorder));
	TEST_ASSERT_EQUAL(TAC_OK, create("/dev/null", &(tac_device_info){0}, &second));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&second));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
}

static void a_recording_contains_its_scene_and_its_run(void)
{
	const tac_recording_scene scene = {
		.name = "tooth", .folder = "/f", .text = "scene: x\n", .mesh_count = 1, .mesh_hashes = {5}};
	const tac_device_info info = {.name = "x"};
	const tac_recorder_def def = {.path = path, .info = &info, .run = 77, .scene = &scene};
	tac_recorder *recorder;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(&def, &recorder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&recorder));
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load_scene(path, &recording));
	TEST_ASSERT_EQUAL_STRING("tooth", recording.scene.name);
	TEST_ASSERT_EQUAL_STRING("scene: x\n", recording.scene.text);
	TEST_ASSERT_EQUAL_UINT64(77, recording.header.run);
	TEST_ASSERT_TRUE(tac_recorder_new_run() != tac_recorder_new_run());
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
	RUN_TEST(a_sample_is_in_the_file_100_ms_after_it_was_pushed);
	RUN_TEST(a_killed_recorder_leaves_a_file_that_is_named_unfinished_and_usable);
	RUN_TEST(a_second_recorder_is_refused_and_the_first_file_is_intact);
	RUN_TEST(nothing_records_over_a_file_that_is_played_back);
	RUN_TEST(a_pipe_that_nobody_reads_is_refused_without_waiting);
	RUN_TEST(a_recording_contains_its_scene_and_its_run);
	return UNITY_END();
}
