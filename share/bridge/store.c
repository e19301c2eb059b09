#include "share/bridge/clients.h"

#include "devices/recording.h"
#include "rt/clock.h"
#include "share/station.h"

#include <errno.h>
#include <fcntl.h>
#include <idl/tactus.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES   256 // that can be under way
#define WANT_NS (100 * TAC_NS_PER_MS)
#define POLL_NS (2 * TAC_NS_PER_MS)

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

typedef struct transfer {
	char station[33];
	uint64_t run;
	uint32_t tool;
	int fd; // -1: complete, or given up
	uint64_t offset;
	int64_t want_ns; // when it was last asked for
} transfer;

typedef struct store {
	wire wire;
	dds_entity_t info, chunk, want;
	const char *folder;
	uint64_t id;
	transfer files[FILES];
	int count, complete, failed;
} store;

static void path_of(const store *s, const transfer *t, const char *ending, char out_path[PATH_MAX])
{
	char tool[16] = "";
	if (t->tool > 0)
		snprintf(tool, sizeof tool, ".%u", t->tool + 1);
	snprintf(out_path, PATH_MAX, "%s/%s-%016llx.rec%s%s", s->folder, t->station,
		 (unsigned long long)t->run, tool, ending);
}

static transfer *find(store *s, const char *station, uint64_t run, uint32_t tool)
{
	for (int i = 0; i < s->count; i++) {
		transfer *t = &s->files[i];
		if (t->run == run && t->tool == tool && strcmp(t->station, station) == 0)
			return t;
	}
	return NULL;
}

// Begins a transfer, or goes on with one of an earlier service.
static void begin(store *s, const char *station, uint64_t run, uint32_t tool)
{
	if (find(s, station, run, tool) || s->count == FILES || !tac_station_name_valid(station))
		return;
	transfer *t = &s->files[s->count++];
	*t = (transfer){.run = run, .tool = tool, .fd = -1};
	snprintf(t->station, sizeof t->station, "%s", station);
	char path[PATH_MAX], part[PATH_MAX];
	path_of(s, t, "", path);
	path_of(s, t, ".part", part);
	if (access(path, F_OK) == 0)
		return; // stored before
	t->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct stat status;
	if (t->fd < 0 || fstat(t->fd, &status) != 0) {
		fprintf(stderr, "tactus share: %s: expected to write it, found: %s\n", part, strerror(errno));
		s->failed++;
		return;
	}
	t->offset = (uint64_t)status.st_size;
}

// The recording is there: it gets its name once it is on the disk and proves intact.
static void finish(store *s, transfer *t)
{
	char path[PATH_MAX], part[PATH_MAX];
	path_of(s, t, "", path);
	path_of(s, t, ".part", part);
	const bool synced = fsync(t->fd) == 0;
	close(t->fd);
	t->fd = -1;
	if (!synced || rename(part, path) != 0) {
		fprintf(stderr, "tactus share: %s: expected to store it, found: %s\n", path, strerror(errno));
		s->failed++;
		return;
	}
	tac_recording recording;
	const tac_result result = tac_recording_load(path, &recording);
	printf("%s: %zu ticks%s\n", path, result >= TAC_OK ? recording.count : 0,
	       result == TAC_OK ? "" : ", damaged");
	fflush(stdout);
	if (result >= TAC_OK)
		tac_recording_fini(&recording);
	if (result == TAC_OK)
		s->complete++;
	else
		s->failed++;
}

static void add_chunk(store *s, const tactus_Chunk *c)
{
	transfer *t = find(s, c->station, c->run, c->tool_no);
	const uint64_t chunk_end = c->offset + c->bytes._length;
	if (!t || t->fd < 0 || c->offset > t->offset || chunk_end < t->offset)
		return; // not asked for, or ahead of a piece that is missing: it will come again
	const uint64_t known = t->offset - c->offset;
	const size_t size = c->bytes._length - known;
	if (size > 0 && pwrite(t->fd, c->bytes._buffer + known, size, (off_t)t->offset) != (ssize_t)size) {
		fprintf(stderr, "tactus share: station %s: expected to write its recording, found: %s\n",
			t->station, strerror(errno));
		close(t->fd);
		t->fd = -1;
		s->failed++;
		return;
	}
	t->offset += size;
	t->want_ns = 0; // the next request may go out at once
	if (c->complete && t->offset == chunk_end)
		finish(s, t);
}

static void take(store *s)
{
	void *samples[1] = {NULL};
	dds_sample_info_t info;
	while (dds_take(s->info, samples, &info, 1, 1) > 0) {
		const tactus_Info *i = samples[0];
		for (uint32_t tool = 0; info.valid_data && tool < i->recordings && tool < 2; tool++)
			begin(s, i->station, i->run, tool);
		dds_return_loan(s->info, samples, 1);
		samples[0] = NULL;
	}
	while (dds_take(s->chunk, samples, &info, 1, 1) > 0) {
		if (info.valid_data)
			add_chunk(s, samples[0]);
		dds_return_loan(s->chunk, samples, 1);
		samples[0] = NULL;
	}
}

static void ask(store *s)
{
	const int64_t now_ns = tac_clock_now_ns();
	for (int i = 0; i < s->count; i++) {
		transfer *t = &s->files[i];
		if (t->fd < 0 || now_ns - t->want_ns < WANT_NS)
			continue;
		tactus_Want want = {.store = s->id, .run = t->run, .tool_no = t->tool, .offset = t->offset};
		snprintf(want.station, sizeof want.station, "%s", t->station);
		dds_write(s->want, &want);
		t->want_ns = now_ns;
	}
}

int store_run(const wire_def *def, const char *folder, int count)
{
	store *s = calloc(1, sizeof *s);
	if (!s || !wire_open(def, &s->wire)) {
		free(s);
		return EXIT_FAILURE;
	}
	s->folder = folder;
	s->id = wire_random();
	bool good = (s->info = wire_reader(&s->wire, WIRE_INFO)) >= 0 &&
		    (s->chunk = wire_reader(&s->wire, WIRE_CHUNK)) >= 0 &&
		    (s->want = wire_writer(&s->wire, WIRE_WANT)) >= 0;
	const struct sigaction action = {.sa_handler = end};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	const struct timespec pause = {0, POLL_NS};
	while (good && !ended && (count == 0 || s->complete + s->failed < count)) {
		take(s);
		ask(s);
		nanosleep(&pause, NULL);
	}
	good = good && s->failed == 0;
	wire_close(&s->wire);
	free(s);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
