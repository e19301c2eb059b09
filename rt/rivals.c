#include "rt/rivals.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGES   64   // of a CPU's buffer: about 6500 switches
#define HISTORY 8192 // switches of a CPU that are kept, a power of two
#define SHORT   64   // threads that tac_rivals_find tells apart in one interval

// From `time_ns` on, `tid` ran.
typedef struct run {
	int64_t time_ns;
	int32_t tid;
} run;

typedef struct watch {
	int fd;
	struct perf_event_mmap_page *page; // followed by PAGES pages of records
	run history[HISTORY];
	uint64_t count; // of runs since the start
} watch;

struct tac_rivals {
	size_t page_bytes;
	int cpus;
	watch *watches;
};

// The layout of a record, in the order that `sample_type` below asks for.
typedef struct switch_record {
	struct perf_event_header header;
	uint32_t other_pid, other_tid; // the thread that comes, if this one goes
	uint32_t pid, tid;
	uint64_t time_ns;
} switch_record;

static int open_cpu(int cpu)
{
	struct perf_event_attr attributes = {
		.size = sizeof attributes,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.context_switch = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool watch_open(tac_rivals *r, watch *w, int cpu)
{
	w->fd = open_cpu(cpu);
	if (w->fd < 0)
		return errno == ENODEV; // a CPU that is off line has no rivals
	void *memory = mmap(NULL, (PAGES + 1) * r->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	w->page = memory == MAP_FAILED ? NULL : memory;
	return w->page != NULL;
}

tac_result tac_rivals_create(tac_rivals **out_rivals)
{
	*out_rivals = NULL;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	tac_rivals *r = calloc(1, sizeof *r);
	watch *watches = calloc((size_t)(cpus > 0 ? cpus : 1), sizeof *watches);
	if (!r || !watches) {
		free(r);
		free(watches);
		tac_log(TAC_LOG_ERROR, "rivals: no memory for %ld CPUs", cpus);
		return TAC_ERROR_MEMORY;
	}
	r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	r->watches = watches;
	for (int i = 0; i < (int)cpus; i++) {
		r->cpus = i + 1;
		if (!watch_open(r, &watches[i], i)) {
			const int error = errno;
			tac_rivals_destroy(&r);
			errno = error;
			return TAC_ERROR_SYSTEM;
		}
	}
	*out_rivals = r;
	return TAC_OK;
}

void tac_rivals_destroy(tac_rivals **rivals)
{
	tac_rivals *r = *rivals;
	if (!r)
		return;
	for (int i = 0; i < r->cpus; i++) {
		if (r->watches[i].page)
			munmap(r->watches[i].page, (PAGES + 1) * r->page_bytes);
		if (r->watches[i].fd >= 0)
			close(r->watches[i].fd);
	}
	free(r->watches);
	free(r);
	*rivals = NULL;
}

// Copies `size` bytes at position `at` of the circular buffer.
static void copy_out(const tac_rivals *r, const watch *w, uint64_t at, void *out, size_t size)
{
	const char *data = (const char *)w->page + r->page_bytes;
	const size_t bytes = PAGES * r->page_bytes, begin = (size_t)(at % bytes);
	const size_t first = size < bytes - begin ? size : bytes - begin;
	memcpy(out, data + begin, first);
	memcpy((char *)out + first, data, size - first);
}

static void read_watch(const tac_rivals *r, watch *w)
{
	// The kernel publishes data_head after the records below it, and reuses what lies below data_tail.
	const uint64_t head = __atomic_load_n(&w->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = w->page->data_tail;
	while (tail < head) {
		switch_record record;
		copy_out(r, w, tail, &record.header, sizeof record.header);
		if (record.header.size == 0)
			break;
		if (record.header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
		    record.header.size >= sizeof record &&
		    (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT)) {
			copy_out(r, w, tail, &record, sizeof record);
			w->history[w->count++ % HISTORY] =
				(run){(int64_t)record.time_ns, (int32_t)record.other_tid};
		}
		tail += record.header.size;
	}
	__atomic_store_n(&w->page->data_tail, tail, __ATOMIC_RELEASE);
}

void tac_rivals_read(tac_rivals *rivals)
{
	for (int i = 0; i < rivals->cpus; i++) {
		if (rivals->watches[i].page)
			read_watch(rivals, &rivals->watches[i]);
	}
}

static void name_thread(tac_rival *rival)
{
	char path[48];
	snprintf(rival->name, sizeof rival->name, "thread %d", (int)rival->tid);
	if (rival->tid == 0) {
		snprintf(rival->name, sizeof rival->name, "idle");
		return;
	}
	snprintf(path, sizeof path, "/proc/%d/comm", (int)rival->tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	const ssize_t length = read(fd, rival->name, sizeof rival->name - 1);
	close(fd);
	if (length > 0)
		rival->name[length - (rival->name[length - 1] == '\n')] = '\0';
	// The name ends up in CSV and JSON.
	for (char *c = rival->name; *c; c++) {
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\' || *c == ',')
			*c = '?';
	}
}

// Adds `ns` to the sum of `tid`. A thread that does not fit any more is left out.
static void add_time(tac_rival *sums, int *count, int32_t tid, int64_t ns)
{
	int i = 0;
	while (i < *count && sums[i].tid != tid)
		i++;
	if (i == SHORT || ns <= 0)
		return;
	if (i == *count)
		sums[(*count)++] = (tac_rival){.tid = tid};
	sums[i].ran_ns += ns;
}

bool tac_rivals_find(tac_rivals *rivals, int32_t cpu, int64_t from_ns, int64_t to_ns, int32_t self,
		     tac_rival *out_rival)
{
	*out_rival = (tac_rival){0};
	if (cpu < 0 || cpu >= rivals->cpus)
		return false;
	tac_rivals_read(rivals);
	const watch *w = &rivals->watches[cpu];
	tac_rival sums[SHORT];
	int count = 0;
	int64_t end_ns = to_ns;
	const uint64_t oldest = w->count > HISTORY ? w->count - HISTORY : 0;
	for (uint64_t i = w->count; i-- > oldest && end_ns > from_ns;) {
		const run *r = &w->history[i % HISTORY];
		if (r->time_ns >= end_ns)
			continue;
		const int64_t begin_ns = r->time_ns > from_ns ? r->time_ns : from_ns;
		if (r->tid != self)
			add_time(sums, &count, r->tid, end_ns - begin_ns);
		end_ns = begin_ns;
	}
	for (int i = 0; i < count; i++) {
		if (sums[i].ran_ns > out_rival->ran_ns)
			*out_rival = sums[i];
	}
	if (out_rival->ran_ns == 0)
		return false;
	name_thread(out_rival);
	return true;
}
