// Writes traces of valid and hostile ticks, each with a file of the expected counts (NAME.json.expect: "key
// number" lines, counted here from the ticks). tests/system/validate_trace.py reads both with Python's JSON
// parser and checks them against the trace event format. What needs no parser is tested here.
#include "rt/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/rng.h"
#include "rt/clock.h"
#include "tests/support/logged.h"
#include "unity.h"

// TEST_TRACE_DIR, set by CMake: where the traces go for the validator.
#define TRACE(name) TEST_TRACE_DIR "/" name ".json"

static const int64_t origin_ns = 5000 * TAC_NS_PER_S;

void setUp(void)
{
	logged_lines = 0;
	logged[0] = '\0';
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_rng rng;

// The expected content of a trace, counted from the ticks.
typedef struct expected {
	int64_t ticks;
	int64_t phases;
	int64_t misses;
	int64_t losses;
	int64_t causes[TAC_CAUSE_COUNT + 1]; // the last: invalid causes
	int64_t lost_records;
	int64_t slice_ns; // sum of end - wake; -1: the ticks were moved
} expected;

static int64_t expected_events(const expected *e)
{
	return 5 + 4 * e->ticks + 2 * e->phases + e->misses + e->losses + 1;
}

static const char *name_of_outcome(int32_t outcome)
{
	return outcome == 5 ? "too \"close\"" : "a name of more than twenty bytes";
}

static tac_trace *open_trace(const char *path)
{
	tac_trace_def def = tac_trace_def_default();
	def.path = path;
	def.origin_ns = origin_ns;
	def.outcome_name = name_of_outcome;
	tac_trace *trace;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_create(&def, &trace));
	return trace;
}

static void add_tick(tac_trace *trace, expected *e, const tac_tick *tick)
{
	e->ticks++;
	for (int phase = 0; phase < TAC_PHASE_COUNT; phase++)
		e->phases += tick->phase_end_ns[phase] != 0;
	if (tick->end_ns > tick->deadline_ns) {
		e->misses++;
		e->causes[(unsigned)tick->cause < TAC_CAUSE_COUNT ? tick->cause : TAC_CAUSE_COUNT]++;
	}
	if (tick->lost_records > e->lost_records) {
		e->lost_records = tick->lost_records;
		e->losses++;
	}
	if (e->slice_ns >= 0)
		e->slice_ns += tick->end_ns - tick->wake_ns;
	tac_trace_tick(trace, tick);
}

static void close_trace(tac_trace **trace, const char *path, const expected *e)
{
	tac_trace_summary summary;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_destroy(trace, &summary));
	TEST_ASSERT_NULL(*trace);
	TEST_ASSERT_EQUAL_INT64(e->ticks, summary.ticks);
	TEST_ASSERT_EQUAL_INT64(e->misses, summary.misses);
	TEST_ASSERT_EQUAL_INT64(0, summary.events_lost);
	TEST_ASSERT_EQUAL_INT64(expected_events(e), summary.events_written);
	TEST_ASSERT_EQUAL_INT(0, summary.error);
	TEST_ASSERT_EQUAL_INT(0, logged_lines);

	char expect_path[512];
	snprintf(expect_path, sizeof expect_path, "%s.expect", path);
	FILE *file = fopen(expect_path, "w");
	TEST_ASSERT_NOT_NULL(file);
	fprintf(file,
		"ticks %" PRId64 "\nphases %" PRId64 "\nmisses %" PRId64 "\nlosses %" PRId64
		"\nevents %" PRId64 "\nslice_ns %" PRId64 "\nmoved %" PRId64 "\n",
		e->ticks, e->phases, e->misses, e->losses, expected_events(e), e->slice_ns,
		summary.moved_ticks);
	for (int cause = 0; cause <= TAC_CAUSE_COUNT; cause++)
		fprintf(file, "cause:%s %" PRId64 "\n", tac_cause_name((tac_cause)cause), e->causes[cause]);
	TEST_ASSERT_EQUAL_INT(0, fclose(file));
}

// Tick `index` of a healthy 1 kHz loop; every seventh is late, with each cause in turn.
static tac_tick usual_tick(int64_t index)
{
	const int64_t planned_ns = origin_ns + (index + 1) * TAC_NS_PER_MS;
	const bool late = index % 7 == 3;
	tac_tick tick = {
		.index = index,
		.planned_ns = planned_ns,
		.timer_ns = planned_ns - 100000,
		.fired_ns = planned_ns - 60000,
		.wake_ns = planned_ns + 123 + (int64_t)(tac_rng_u64(&rng) % 5000),
		.deadline_ns = planned_ns + (late ? 200000 : 900000),
		.cause_phase = TAC_PHASE_NONE,
	};
	int64_t at_ns = tick.wake_ns;
	for (int phase = 0; phase < TAC_PHASE_COUNT; phase++) {
		at_ns += 40000 + (int64_t)(tac_rng_u64(&rng) % 60000);
		// Every other tick has no device phases.
		if (index % 2 == 0 || (phase != TAC_PHASE_DEVICE_READ && phase != TAC_PHASE_DEVICE_WRITE))
			tick.phase_end_ns[phase] = at_ns;
	}
	tick.end_ns = at_ns + 777;
	if (index % 7 == 5)
		tick.deadline_ns = tick.end_ns; // just on time
	if (late) {
		tick.cause = (tac_cause)(1 + index / 7 % (TAC_CAUSE_COUNT - 1));
		tick.cause_phase = (tac_phase)(index / 7 % (TAC_PHASE_COUNT + 1));
		tick.skipped = (uint32_t)(index % 3);
		tick.evidence = (tac_evidence){.cpu_ns = 345678,
					       .run_delay_ns = index % 2 == 0 ? 4567 : -1,
					       .others_ns = 99,
					       .voluntary = 1,
					       .involuntary = 2,
					       .minor_faults = 3,
					       .major_faults = 4,
					       .window_ticks = (uint32_t)(index % 5)};
	}
	return tick;
}

static void usual_ticks_make_a_trace(void)
{
	tac_trace *trace = open_trace(TRACE("usual"));
	expected e = {0};
	rng = tac_rng_seed(1, 0);
	for (int64_t index = 0; index < 2000; index++) {
		tac_tick tick = usual_tick(index);
		tick.lost_records = index / 500 * 3;
		add_tick(trace, &e, &tick);
	}
	TEST_ASSERT_TRUE(e.misses > 100 && e.losses == 3);
	close_trace(&trace, TRACE("usual"), &e);
}

static void trace_without_ticks_is_a_trace(void)
{
	tac_trace *trace = open_trace(TRACE("empty"));
	close_trace(&trace, TRACE("empty"), &(expected){0});
}

static void names_are_escaped(void)
{
	char all[256 + 64];
	size_t length = 0;
	for (int byte = 1; byte < 128; byte++)
		all[length++] = (char)byte;
	all[length] = '\0';
	// A euro sign and a clef, then invalid sequences: a lone continuation byte, overlong slashes, a
	// surrogate, a code point beyond U+10FFFF, a truncated character.
	strcat(all, "\xE2\x82\xAC\xF0\x9D\x84\x9E\x80\xC0\xAF\xE0\x80\xAF\xF0\x80\x80\xAF\xED\xA0\x80\xF4\x90"
		    "\x80\x80\xE2\x82");
	char longest[1000];
	memset(longest, 'x', sizeof longest);
	longest[254] = '\xC3'; // the cut after 255 bytes falls inside this character
	longest[255] = '\xA9';
	longest[999] = '\0';

	tac_trace_def def = tac_trace_def_default();
	def.path = TRACE("names");
	def.process_name = all;
	def.thread_name = longest;
	tac_trace *trace;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_create(&def, &trace));
	close_trace(&trace, TRACE("names"), &(expected){0});

	def.path = TRACE("names-worst");
	memset(longest, '\x01', sizeof longest - 1); // six bytes each when escaped
	def.process_name = longest;
	def.thread_name = "";
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_create(&def, &trace));
	close_trace(&trace, TRACE("names-worst"), &(expected){0});
}

// How often `text` is in a file.
static int count_in_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	TEST_ASSERT_NOT_NULL(file);
	char line[4096];
	int count = 0;
	while (fgets(line, sizeof line, file))
		count += strstr(line, text) != NULL;
	TEST_ASSERT_EQUAL_INT(0, fclose(file));
	return count;
}

// Five ticks: two without an outcome, one with an outcome, two that were also refused something.
static void the_phase_sco_has_its_outcome(void)
{
	static const int32_t outcomes[5][2] = {{0, 0}, {5, 0}, {5, 7}, {0, 0}, {-3, 5}};
	tac_trace *trace = open_trace(TRACE("outcomes"));
	expected e = {0};
	rng = tac_rng_seed(4, 0);
	for (int64_t index = 0; index < 5; index++) {
		tac_tick tick = usual_tick(index);
		tick.sco_outcome = outcomes[index][0];
		tick.sco_refused = outcomes[index][1];
		add_tick(trace, &e, &tick);
	}
	close_trace(&trace, TRACE("outcomes"), &e);
	TEST_ASSERT_EQUAL_INT(3, count_in_file(TRACE("outcomes"), "\"outcome\""));
	TEST_ASSERT_EQUAL_INT(2, count_in_file(TRACE("outcomes"), "\"refused\""));
	TEST_ASSERT_EQUAL_INT(1,
			      count_in_file(TRACE("outcomes"), "\"args\":{\"outcome\":\"too ?close?\"}},"));
	TEST_ASSERT_EQUAL_INT(1, count_in_file(TRACE("outcomes"), "\"args\":{\"outcome\":\"too ?close?\","
								  "\"refused\":\"a name of more than \"}},"));
	TEST_ASSERT_EQUAL_INT(1, count_in_file(TRACE("outcomes"),
					       "\"args\":{\"outcome\":\"a name of more than \","
					       "\"refused\":\"too ?close?\"}},"));
}

static void hostile_ticks_make_a_valid_trace(void)
{
	static const int64_t nasty[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
	const size_t count = sizeof nasty / sizeof nasty[0];
	tac_trace *trace = open_trace(TRACE("hostile"));
	expected e = {.slice_ns = -1};
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			tac_tick tick;
			memset(&tick, 0xFF, sizeof tick); // every enum and counter at its worst
			tick.index = nasty[j];
			tick.wake_ns = nasty[i];
			tick.end_ns = nasty[j];
			tick.planned_ns = nasty[(i + 3) % count];
			tick.deadline_ns = nasty[(j + 5) % count];
			tick.lost_records = nasty[j];
			for (size_t phase = 0; phase < TAC_PHASE_COUNT; phase++)
				tick.phase_end_ns[phase] = nasty[(i + j + phase) % count];
			tick.evidence.cpu_ns = nasty[i];
			tick.evidence.run_delay_ns = nasty[j];
			tick.evidence.others_ns = nasty[i];
			add_tick(trace, &e, &tick);
		}
	}
	close_trace(&trace, TRACE("hostile"), &e);
}

static void random_ticks_make_a_valid_trace(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		rng = tac_rng_seed(seed, 0);
		char path[512];
		snprintf(path, sizeof path, "%s/random-%" PRIu64 ".json", TEST_TRACE_DIR, seed);
		tac_trace *trace = open_trace(path);
		expected e = {.slice_ns = -1};
		for (int64_t index = 0; index < 300; index++) {
			tac_tick tick = usual_tick(index);
			unsigned char *bytes = (unsigned char *)&tick;
			// From one wrong byte to pure noise.
			const size_t wrong = seed == 8 ? sizeof tick : tac_rng_u64(&rng) % (1u << seed);
			for (size_t i = 0; i < wrong; i++)
				bytes[seed == 8 ? i : tac_rng_u64(&rng) % sizeof tick] =
					(unsigned char)tac_rng_u64(&rng);
			add_tick(trace, &e, &tick);
		}
		close_trace(&trace, path, &e);
	}
}

static void moved_ticks_are_counted(void)
{
	tac_trace *trace = open_trace(TRACE("moved"));
	rng = tac_rng_seed(2, 0);
	expected e = {.slice_ns = -1};
	tac_tick ticks[4];
	for (int64_t index = 0; index < 4; index++) {
		ticks[index] = usual_tick(2 * index);
		ticks[index].deadline_ns = INT64_MAX;
	}
	ticks[1].wake_ns = ticks[0].end_ns - 1;                        // begins inside the tick before
	ticks[2].phase_end_ns[TAC_PHASE_FORCE] = ticks[2].wake_ns - 1; // a phase out of order
	ticks[3].phase_end_ns[TAC_PHASE_PUBLISH] = ticks[3].end_ns + TAC_NS_PER_S; // a phase after the end
	for (int index = 0; index < 4; index++)
		add_tick(trace, &e, &ticks[index]);
	tac_trace_summary summary;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_destroy(&trace, &summary));
	TEST_ASSERT_EQUAL_INT64(3, summary.moved_ticks);
}

static void full_disk_is_reported_once_with_every_event_counted(void)
{
	static const int64_t counts[] = {0, 1, 5000};
	for (size_t i = 0; i < 3; i++) {
		setUp();
		rng = tac_rng_seed(3, 0);
		tac_trace *trace = open_trace("/dev/full");
		expected e = {0};
		for (int64_t index = 0; index < counts[i]; index++) {
			const tac_tick tick = usual_tick(index);
			add_tick(trace, &e, &tick);
		}
		tac_trace_summary summary;
		TEST_ASSERT_EQUAL_INT(TAC_ERROR_IO, tac_trace_destroy(&trace, &summary));
		TEST_ASSERT_NULL(trace);
		TEST_ASSERT_EQUAL_INT(ENOSPC, summary.error);
		TEST_ASSERT_EQUAL_INT64(0, summary.events_written);
		TEST_ASSERT_EQUAL_INT64(expected_events(&e), summary.events_lost);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_NOT_NULL(strstr(logged, "/dev/full"));
	}
}

// A file that may not grow beyond 100,000 bytes accepts a part of a buffer: only events that are in the file
// count as written.
static void disk_that_fills_up_is_reported_with_the_events_written(void)
{
	struct rlimit before, limit;
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	rng = tac_rng_seed(4, 0);
	tac_trace *trace = open_trace(TRACE("cut"));
	expected e = {0};
	for (int64_t index = 0; index < 1000; index++) {
		const tac_tick tick = usual_tick(index);
		add_tick(trace, &e, &tick);
	}
	tac_trace_summary summary;
	const tac_result result = tac_trace_destroy(&trace, &summary);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	TEST_ASSERT_EQUAL_INT(TAC_ERROR_IO, result);
	TEST_ASSERT_EQUAL_INT(EFBIG, summary.error);
	TEST_ASSERT_EQUAL_INT64(expected_events(&e), summary.events_written + summary.events_lost);

	FILE *file = fopen(TRACE("cut"), "r");
	TEST_ASSERT_NOT_NULL(file);
	int64_t bytes = 0, lines = 0;
	for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
		bytes++;
		lines += c == '\n';
	}
	fclose(file);
	TEST_ASSERT_EQUAL_INT64(100000, bytes);
	TEST_ASSERT_EQUAL_INT64(lines, summary.events_written);
}

static volatile sig_atomic_t sigpipes;

static void count_sigpipe(int signal_number)
{
	(void)signal_number;
	sigpipes++;
}

static void reader_that_closed_its_end_is_an_error_without_a_signal(void)
{
	struct sigaction count = {.sa_handler = count_sigpipe}, before;
	sigaction(SIGPIPE, &count, &before);
	int ends[2];
	TEST_ASSERT_EQUAL_INT(0, pipe(ends));
	close(ends[0]);
	tac_trace_def def = tac_trace_def_default();
	def.fd = ends[1];
	tac_trace *trace;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_create(&def, &trace));
	tac_trace_summary summary;
	TEST_ASSERT_EQUAL_INT(TAC_ERROR_IO, tac_trace_destroy(&trace, &summary));
	TEST_ASSERT_EQUAL_INT(EPIPE, summary.error);
	TEST_ASSERT_EQUAL_INT64(6, summary.events_lost);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_EQUAL_INT(0, sigpipes);
	// The descriptor is still open, and writing to it still raises SIGPIPE.
	TEST_ASSERT_EQUAL_INT(-1, (int)write(ends[1], "x", 1));
	TEST_ASSERT_EQUAL_INT(1, sigpipes);
	sigaction(SIGPIPE, &before, NULL);
	close(ends[1]);
}

static void descriptor_gets_the_same_bytes_as_a_path(void)
{
	FILE *file = tmpfile();
	TEST_ASSERT_NOT_NULL(file);
	tac_trace_def def = tac_trace_def_default();
	def.fd = fileno(file);
	def.origin_ns = origin_ns;
	tac_trace *by_fd, *by_path = open_trace(TRACE("descriptor"));
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_create(&def, &by_fd));
	rng = tac_rng_seed(5, 0);
	expected e = {0};
	for (int64_t index = 0; index < 200; index++) {
		const tac_tick tick = usual_tick(index);
		add_tick(by_path, &e, &tick);
		tac_trace_tick(by_fd, &tick);
	}
	close_trace(&by_path, TRACE("descriptor"), &e);
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_destroy(&by_fd, NULL));
	rewind(file);
	FILE *other = fopen(TRACE("descriptor"), "r");
	TEST_ASSERT_NOT_NULL(other);
	int c;
	do {
		c = fgetc(other);
		TEST_ASSERT_EQUAL_INT(c, fgetc(file));
	} while (c != EOF);
	fclose(other);
	fclose(file);
}

static void path_that_cannot_be_opened_is_an_error_with_one_message(void)
{
	tac_trace_def def = tac_trace_def_default();
	def.path = TEST_TRACE_DIR "/no such folder/trace.json";
	tac_trace *trace = (tac_trace *)&def;
	TEST_ASSERT_EQUAL_INT(TAC_ERROR_IO, tac_trace_create(&def, &trace));
	TEST_ASSERT_NULL(trace);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "no such folder"));
}

static void destroying_null_is_allowed(void)
{
	tac_trace *trace = NULL;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_destroy(&trace, NULL));
	tac_trace_summary summary = {.ticks = 5};
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_trace_destroy(&trace, &summary));
	TEST_ASSERT_EQUAL_INT64(0, summary.ticks);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(usual_ticks_make_a_trace);
	RUN_TEST(trace_without_ticks_is_a_trace);
	RUN_TEST(names_are_escaped);
	RUN_TEST(the_phase_sco_has_its_outcome);
	RUN_TEST(hostile_ticks_make_a_valid_trace);
	RUN_TEST(random_ticks_make_a_valid_trace);
	RUN_TEST(moved_ticks_are_counted);
	RUN_TEST(full_disk_is_reported_once_with_every_event_counted);
	RUN_TEST(disk_that_fills_up_is_reported_with_the_events_written);
	RUN_TEST(reader_that_closed_its_end_is_an_error_without_a_signal);
	RUN_TEST(descriptor_gets_the_same_bytes_as_a_path);
	RUN_TEST(path_that_cannot_be_opened_is_an_error_with_one_message);
	RUN_TEST(destroying_null_is_allowed);
	return UNITY_END();
}
