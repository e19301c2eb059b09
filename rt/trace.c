#include "rt/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/output.h"
#include "rt/clock.h"

#define BUFFER_SIZE ((size_t)64 * 1024)
// Above the longest event: a name of ESCAPED_SIZE and 100 bytes, or a miss (some 700 bytes).
#define EVENT_SIZE ((size_t)2048)
#define NAME_SIZE  ((size_t)255)
// Above the longest arguments of the phase sco.
#define OUTCOMES_SIZE ((size_t)128)
#define ESCAPED_SIZE  (6 * NAME_SIZE + 1) // \u0000 for each byte

struct tac_trace {
	int fd;
	char *path; // NULL: the descriptor is the caller's
	int64_t origin_ns;
	int64_t tick_end_ns; // of the last slice, since the origin: the next one begins here or later
	int64_t miss_ns;     // of the last instant, since the origin
	int64_t lost_records;
	const char *(*outcome_name)(int32_t outcome);
	tac_trace_summary summary;
	size_t used;
	char buffer[BUFFER_SIZE];
};

// Without overflow: a record may hold anything.
static int64_t difference_ns(int64_t a_ns, int64_t b_ns)
{
	int64_t difference;
	if (__builtin_sub_overflow(a_ns, b_ns, &difference))
		return a_ns < b_ns ? INT64_MIN : INT64_MAX;
	return difference;
}

static int64_t clamp_ns(int64_t value_ns, int64_t low_ns, int64_t high_ns)
{
	return value_ns < low_ns ? low_ns : value_ns > high_ns ? high_ns : value_ns;
}

typedef struct us_text {
	char digits[32];
} us_text;

// Microseconds with three decimals, from integers: exact, and the same in every locale.
static us_text us(int64_t time_ns)
{
	const uint64_t magnitude = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;
	us_text text;
	snprintf(text.digits, sizeof text.digits, "%s%" PRIu64 ".%03" PRIu64, time_ns < 0 ? "-" : "",
		 magnitude / 1000, magnitude % 1000);
	return text;
}

// The length of the well-formed UTF-8 sequence at `s` (RFC 3629, section 4); 0 if there is none.
static size_t utf8_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xC2 || s[0] > 0xF4)
		return 0;
	const size_t length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
	const unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
	const unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	}
	return length;
}

// `name` as the inside of a JSON string.
static void escape(const char *name, char out[ESCAPED_SIZE])
{
	const unsigned char *s = (const unsigned char *)name;
	const unsigned char *end = s + strnlen(name, NAME_SIZE);
	while (s < end) {
		const size_t length = utf8_length(s);
		if (s + length > end)
			break; // the cut went through a character
		if (length == 0)
			out += sprintf(out, "\\ufffd");
		else if (*s < 0x20 || *s == 0x7F)
			out += sprintf(out, "\\u%04x", *s);
		else if (*s == '"' || *s == '\\')
			out += sprintf(out, "\\%c", *s);
		else
			out += sprintf(out, "%.*s", (int)length, (const char *)s);
		s += length > 0 ? length : 1;
	}
	*out = '\0';
}

static int64_t count_lines(const char *data, size_t size)
{
	int64_t lines = 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	return lines;
}

static void flush(tac_trace *trace)
{
	size_t done = 0;
	if (trace->summary.error == 0)
		done = tac_output_write(trace->fd, trace->buffer, trace->used, &trace->summary.error);
	// An event is one line.
	trace->summary.events_written += count_lines(trace->buffer, done);
	trace->summary.events_lost += count_lines(trace->buffer + done, trace->used - done);
	trace->used = 0;
}

// Adds one event; `format` is its line without the newline.
__attribute__((format(printf, 2, 3))) static void add(tac_trace *trace, const char *format, ...)
{
	if (trace->used + EVENT_SIZE > BUFFER_SIZE)
		flush(trace);
	va_list args;
	va_start(args, format);
	const int length = vsnprintf(trace->buffer + trace->used, EVENT_SIZE, format, args);
	va_end(args);
	TAC_ASSERT(length > 0 && (size_t)length < EVENT_SIZE);
	trace->used += (size_t)length;
	trace->buffer[trace->used++] = '\n';
}

// Tracks: threads of process 1.
#define LOOP_TRACK "\"pid\":1,\"tid\":1"
#define MISS_TRACK "\"pid\":1,\"tid\":2"

static void add_names(tac_trace *trace, const tac_trace_def *def)
{
	char name[ESCAPED_SIZE];
	escape(def->process_name, name);
	add(trace, "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"%s\"}},", name);
	escape(def->thread_name, name);
	add(trace, "{\"name\":\"thread_name\",\"ph\":\"M\"," LOOP_TRACK ",\"args\":{\"name\":\"%s\"}},",
	    name);
	add(trace,
	    "{\"name\":\"thread_sort_index\",\"ph\":\"M\"," LOOP_TRACK ",\"args\":{\"sort_index\":1}},");
	add(trace, "{\"name\":\"thread_name\",\"ph\":\"M\"," MISS_TRACK
		   ",\"args\":{\"name\":\"missed deadlines\"}},");
	add(trace,
	    "{\"name\":\"thread_sort_index\",\"ph\":\"M\"," MISS_TRACK ",\"args\":{\"sort_index\":2}},");
}

// Whether the phases follow each other inside the tick.
static bool phases_in_order(const tac_tick *tick)
{
	int64_t before_ns = tick->wake_ns;
	for (int phase = 0; phase < TAC_PHASE_COUNT; phase++) {
		if (tick->phase_end_ns[phase] == 0)
			continue;
		if (tick->phase_end_ns[phase] < before_ns)
			return false;
		before_ns = tick->phase_end_ns[phase];
	}
	return before_ns <= tick->end_ns;
}

// Slices are begin and end events, not complete ones with a duration: a viewer that adds time and duration in
// floating point would see a phase end after the next one has begun.
static void add_end(tac_trace *trace, const char *name, int64_t at_ns)
{
	add(trace, "{\"name\":\"%s\",\"ph\":\"E\",\"ts\":%s," LOOP_TRACK "},", name, us(at_ns).digits);
}

// A short name as the text of a JSON string: printable, without quotes and backslashes.
typedef struct plain_name {
	char text[sizeof(tac_rival){0}.name + 1];
} plain_name;

static plain_name plain(const char *name)
{
	plain_name out = {{0}};
	for (size_t i = 0; i + 1 < sizeof out.text && name[i]; i++)
		out.text[i] =
			name[i] >= ' ' && name[i] <= '~' && name[i] != '"' && name[i] != '\\' ? name[i] : '?';
	return out;
}

// The arguments of the slice of phase sco.
static void write_outcomes(const tac_trace *trace, const tac_tick *tick, char out[static OUTCOMES_SIZE])
{
	*out = '\0';
	if (!trace->outcome_name || tick->sco_outcome == 0)
		return;
	int used = snprintf(out, OUTCOMES_SIZE, ",\"args\":{\"outcome\":\"%s\"",
			    plain(trace->outcome_name(tick->sco_outcome)).text);
	if (tick->sco_refused != 0)
		used += snprintf(out + used, OUTCOMES_SIZE - (size_t)used, ",\"refused\":\"%s\"",
				 plain(trace->outcome_name(tick->sco_refused)).text);
	snprintf(out + used, OUTCOMES_SIZE - (size_t)used, "}");
}

static void add_slices(tac_trace *trace, const tac_tick *tick, int64_t begin_ns, int64_t end_ns, bool moved)
{
	add(trace,
	    "{\"name\":\"tick\",\"cat\":\"tick\",\"ph\":\"B\",\"ts\":%s," LOOP_TRACK
	    ",\"args\":{\"index\":%" PRId64 ",\"slack_ns\":%" PRId64 ",\"skipped\":%" PRIu32 "%s}},",
	    us(begin_ns).digits, tick->index, difference_ns(tick->deadline_ns, tick->end_ns), tick->skipped,
	    moved ? ",\"moved\":true" : "");
	int64_t at_ns = begin_ns;
	for (int phase = 0; phase < TAC_PHASE_COUNT; phase++) {
		if (tick->phase_end_ns[phase] == 0)
			continue;
		const char *name = tac_phase_name((tac_phase)phase);
		char args[OUTCOMES_SIZE] = "";
		if (phase == TAC_PHASE_SCO)
			write_outcomes(trace, tick, args);
		add(trace, "{\"name\":\"%s\",\"cat\":\"phase\",\"ph\":\"B\",\"ts\":%s," LOOP_TRACK "%s},",
		    name, us(at_ns).digits, args);
		at_ns = clamp_ns(difference_ns(tick->phase_end_ns[phase], trace->origin_ns), at_ns, end_ns);
		add_end(trace, name, at_ns);
	}
	add_end(trace, "tick", end_ns);
}

static void add_counter(tac_trace *trace, const char *name, int64_t at_ns, int64_t value_ns)
{
	add(trace, "{\"name\":\"%s\",\"ph\":\"C\",\"ts\":%s,\"pid\":1,\"args\":{\"us\":%s}},", name,
	    us(at_ns).digits, us(value_ns).digits);
}

// Instants keep to the order in which they were written, so that a track's time never runs back.
static int64_t instant_ns(tac_trace *trace, int64_t at_ns)
{
	trace->miss_ns = clamp_ns(at_ns, trace->miss_ns, INT64_MAX);
	return trace->miss_ns;
}

// An instant at the tick's deadline.
static void add_miss(tac_trace *trace, const tac_tick *tick)
{
	const tac_evidence *evidence = &tick->evidence;
	char evidence_args[320] = "";
	char run_delay_arg[48] = "";
	if (evidence->run_delay_ns >= 0)
		snprintf(run_delay_arg, sizeof run_delay_arg, ",\"run_delay_ns\":%" PRId64,
			 evidence->run_delay_ns);
	if (evidence->window_ticks > 0)
		snprintf(evidence_args, sizeof evidence_args,
			 ",\"cpu_ns\":%" PRId64 "%s,\"others_ns\":%" PRId64 ",\"voluntary\":%" PRIu32
			 ",\"involuntary\":%" PRIu32 ",\"minor_faults\":%" PRIu32 ",\"major_faults\":%" PRIu32
			 ",\"migrations\":%" PRIu32 ",\"window_ticks\":%" PRIu32,
			 evidence->cpu_ns, run_delay_arg, evidence->others_ns, evidence->voluntary,
			 evidence->involuntary, evidence->minor_faults, evidence->major_faults,
			 evidence->migrations, evidence->window_ticks);
	char rival_args[96] = "";
	if (tick->rival.ran_ns > 0)
		snprintf(rival_args, sizeof rival_args, ",\"rival\":\"%s\",\"rival_ns\":%" PRId64,
			 plain(tick->rival.name).text, tick->rival.ran_ns);
	add(trace,
	    "{\"name\":\"%s\",\"cat\":\"miss\",\"ph\":\"i\",\"s\":\"t\",\"ts\":%s," MISS_TRACK
	    ",\"args\":{\"index\":%" PRId64 ",\"cause\":\"%s\",\"phase\":\"%s\",\"late_ns\":%" PRId64
	    ",\"wake_ns\":%" PRId64 ",\"compute_ns\":%" PRId64 ",\"skipped\":%" PRIu32 "%s%s}},",
	    tac_cause_name(tick->cause),
	    us(instant_ns(trace, difference_ns(tick->deadline_ns, trace->origin_ns))).digits, tick->index,
	    tac_cause_name(tick->cause), tac_phase_name(tick->cause_phase),
	    difference_ns(tick->end_ns, tick->deadline_ns), difference_ns(tick->wake_ns, tick->planned_ns),
	    difference_ns(tick->end_ns, tick->wake_ns), tick->skipped, evidence_args, rival_args);
}

tac_trace_def tac_trace_def_default(void)
{
	return (tac_trace_def){
		.fd = -1, .process_name = "tactus", .thread_name = "loop", .origin_ns = tac_clock_now_ns()};
}

tac_result tac_trace_create(const tac_trace_def *def, tac_trace **out_trace)
{
	TAC_ASSERT(def->path || def->fd >= 0);
	TAC_ASSERT(def->process_name && def->thread_name);
	*out_trace = NULL;
	tac_trace *trace = calloc(1, sizeof *trace);
	char *path = def->path ? strdup(def->path) : NULL;
	if (!trace || (def->path && !path)) {
		tac_log(TAC_LOG_ERROR, "trace: no memory for a buffer of %zu bytes", sizeof *trace);
		free(path);
		free(trace);
		return TAC_ERROR_MEMORY;
	}
	trace->path = path;
	trace->fd = path ? tac_output_open_stream(path) : def->fd;
	if (trace->fd < 0) {
		tac_log(TAC_LOG_ERROR, "trace: cannot open %s for writing: %s", path, strerror(errno));
		free(path);
		free(trace);
		return TAC_ERROR_IO;
	}
	trace->origin_ns = def->origin_ns;
	trace->outcome_name = def->outcome_name;
	add_names(trace, def);
	*out_trace = trace;
	return TAC_OK;
}

void tac_trace_tick(tac_trace *trace, const tac_tick *tick)
{
	if (tick->lost_records > trace->lost_records) {
		// The gap begins where the last record ended.
		add(trace,
		    "{\"name\":\"records lost\",\"cat\":\"lost\",\"ph\":\"i\",\"s\":\"t\","
		    "\"ts\":%s," MISS_TRACK ",\"args\":{\"before_index\":%" PRId64 ",\"records\":%" PRId64
		    "}},",
		    us(instant_ns(trace, trace->tick_end_ns)).digits, tick->index,
		    difference_ns(tick->lost_records, trace->lost_records));
		trace->lost_records = tick->lost_records;
	}

	const int64_t wake_ns = difference_ns(tick->wake_ns, trace->origin_ns);
	const int64_t done_ns = difference_ns(tick->end_ns, trace->origin_ns);
	const int64_t begin_ns = clamp_ns(wake_ns, trace->tick_end_ns, INT64_MAX);
	const int64_t end_ns = clamp_ns(done_ns, begin_ns, INT64_MAX);
	const bool moved = begin_ns != wake_ns || end_ns != done_ns || !phases_in_order(tick);
	add_slices(trace, tick, begin_ns, end_ns, moved);
	add_counter(trace, "wake latency", begin_ns, difference_ns(tick->wake_ns, tick->planned_ns));
	add_counter(trace, "compute", begin_ns, difference_ns(tick->end_ns, tick->wake_ns));
	trace->tick_end_ns = end_ns;
	trace->summary.ticks++;
	trace->summary.moved_ticks += moved;
	if (tac_tick_missed(tick)) {
		trace->summary.misses++;
		add_miss(trace, tick);
	}
}

tac_result tac_trace_destroy(tac_trace **trace, tac_trace_summary *out_summary)
{
	tac_trace *t = *trace;
	*trace = NULL;
	if (out_summary)
		*out_summary = t ? t->summary : (tac_trace_summary){0};
	if (!t)
		return TAC_OK;
	// All events before end with a comma; the last one must not.
	add(t,
	    "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":1,\"args\":{\"labels\":\"%" PRId64
	    " ticks, %" PRId64 " missed, %" PRId64 " records lost\"}}]",
	    t->summary.ticks, t->summary.misses, t->lost_records);
	flush(t);
	// A network file system may report a failed write only here.
	if (t->path && close(t->fd) != 0 && t->summary.error == 0)
		t->summary.error = errno;
	const tac_trace_summary summary = t->summary;
	if (summary.error != 0)
		tac_log(TAC_LOG_ERROR, "trace: %" PRId64 " of %" PRId64 " events not written to %s: %s",
			summary.events_lost, summary.events_lost + summary.events_written,
			t->path ? t->path : "the descriptor", strerror(summary.error));
	if (out_summary)
		*out_summary = summary;
	free(t->path);
	free(t);
	return summary.error == 0 ? TAC_OK : TAC_ERROR_IO;
}
