// The ring and latest compared with their counterparts in Concurrency Kit (ck_ring, ck_sequence) and a mutex,
// in one run. The contenders alternate, and each row gives the minimum and the median of the turns in ns per
// operation. Ratios are the peer's minimum over ours: above 1, ours is faster. On a busy machine run it under
// `chrt -f 5`.
//
// What to expect: ck_ring is inlined with the element's size known to the compiler, tac_ring is a call with
// the size known at run time. In one thread this costs about 4 ns more for an operation on small elements;
// between two threads the private copies of the counters make up for it. ck_sequence writes without an
// exchange, so it is cheaper until its reader has to retry. The column other/op shows how its reader starves
// as the payload grows.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/clock.h"
#include "rt/latest.h"
#include "rt/ring.h"

enum { TURNS = 21, CAPACITY = 1024, PAIRS = 100000, STREAMED = 200000, BYTES_MAX = 4096 };

// A contender runs whole loops, so that no indirect call is timed.
typedef struct ring_contender {
	const char *name;
	size_t bytes;
	void (*reset)(size_t bytes);
	void (*pairs)(int n);   // n times push, then pop
	void (*produce)(int n); // push n, retrying while full
	void (*consume)(int n); // pop n, retrying while empty
} ring_contender;

typedef struct latest_contender {
	const char *name;
	void (*reset)(size_t bytes);
	void (*write)(int n);                         // copy in and publish
	int (*read)(int n, const _Atomic bool *stop); // copy out; returns fewer than n if stopped
} latest_contender;

// Makes the compiler assume that the bytes are used.
static void use(void *bytes)
{
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

// Waits for the other thread, which may be on this core.
static void wait_a_little(int *waits)
{
	if (++*waits % 4096 == 0)
		sched_yield();
}

static _Alignas(64) unsigned char in[BYTES_MAX];
static _Alignas(64) unsigned char out[BYTES_MAX];

// Ours: the ring.

static tac_ring *ring;

static void tac_reset(size_t bytes)
{
	tac_ring_destroy(&ring);
	if (tac_ring_create(CAPACITY, bytes, &ring) != TAC_OK)
		exit(1);
}

static void tac_pairs(int n)
{
	for (int i = 0; i < n; i++) {
		use(in);
		tac_ring_push(ring, in);
		tac_ring_pop(ring, out);
		use(out);
	}
}

static void tac_produce(int n)
{
	for (int i = 0, waits = 0; i < n; i++) {
		use(in);
		while (!tac_ring_push(ring, in))
			wait_a_little(&waits);
	}
}

static void tac_consume(int n)
{
	for (int i = 0, waits = 0; i < n; i++) {
		while (!tac_ring_pop(ring, out))
			wait_a_little(&waits);
		use(out);
	}
}

// Ours: latest.

static tac_latest *latest;

static void tac_latest_reset(size_t bytes)
{
	tac_latest_destroy(&latest);
	if (tac_latest_create(bytes, &latest) != TAC_OK)
		exit(1);
	tac_latest_write(latest, in);
}

static void tac_write(int n)
{
	for (int i = 0; i < n; i++) {
		use(in);
		tac_latest_write(latest, in);
	}
}

static int tac_read(int n, const _Atomic bool *stop)
{
	(void)stop;
	for (int i = 0; i < n; i++) {
		memcpy(out, tac_latest_read(latest, NULL), tac_latest_payload_bytes(latest));
		use(out);
	}
	return n;
}

// As users read it: in place.
static int tac_read_in_place(int n, const _Atomic bool *stop)
{
	(void)stop;
	for (int i = 0; i < n; i++) {
		const unsigned char *payload = tac_latest_read(latest, NULL);
		out[0] = *payload;
		use(out);
	}
	return n;
}

// A mutex around a copy.

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) unsigned char shared[BYTES_MAX];
static size_t shared_bytes;

static void mutex_reset(size_t bytes)
{
	shared_bytes = bytes;
}

static void mutex_write(int n)
{
	for (int i = 0; i < n; i++) {
		use(in);
		pthread_mutex_lock(&mutex);
		memcpy(shared, in, shared_bytes);
		pthread_mutex_unlock(&mutex);
	}
}

static int mutex_read(int n, const _Atomic bool *stop)
{
	(void)stop;
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		memcpy(out, shared, shared_bytes);
		pthread_mutex_unlock(&mutex);
		use(out);
	}
	return n;
}

#ifdef BENCH_CK

#include <ck_ring.h>
#include <ck_sequence.h>

static ck_ring_t ck_ring;

static void ck_reset(size_t bytes)
{
	(void)bytes;
	ck_ring_init(&ck_ring, CAPACITY);
}

// Concurrency Kit's typed rings, with the element's size known to the compiler.
#define CK_CONTENDER(bytes)                                                                                  \
	struct element_##bytes {                                                                             \
		unsigned char bytes_[bytes];                                                                 \
	};                                                                                                   \
	CK_RING_PROTOTYPE(ck_##bytes, element_##bytes)                                                       \
	static struct element_##bytes ck_slots_##bytes[CAPACITY];                                            \
	static struct element_##bytes ck_in_##bytes, ck_out_##bytes;                                         \
	static bool ck_push_##bytes(void)                                                                    \
	{                                                                                                    \
		use(&ck_in_##bytes);                                                                         \
		return CK_RING_ENQUEUE_SPSC(ck_##bytes, &ck_ring, ck_slots_##bytes, &ck_in_##bytes);         \
	}                                                                                                    \
	static bool ck_pop_##bytes(void)                                                                     \
	{                                                                                                    \
		bool popped = CK_RING_DEQUEUE_SPSC(ck_##bytes, &ck_ring, ck_slots_##bytes, &ck_out_##bytes); \
		use(&ck_out_##bytes);                                                                        \
		return popped;                                                                               \
	}                                                                                                    \
	static void ck_pairs_##bytes(int n)                                                                  \
	{                                                                                                    \
		for (int i = 0; i < n; i++) {                                                                \
			ck_push_##bytes();                                                                   \
			ck_pop_##bytes();                                                                    \
		}                                                                                            \
	}                                                                                                    \
	static void ck_produce_##bytes(int n)                                                                \
	{                                                                                                    \
		for (int i = 0, waits = 0; i < n; i++)                                                       \
			while (!ck_push_##bytes())                                                           \
				wait_a_little(&waits);                                                       \
	}                                                                                                    \
	static void ck_consume_##bytes(int n)                                                                \
	{                                                                                                    \
		for (int i = 0, waits = 0; i < n; i++)                                                       \
			while (!ck_pop_##bytes())                                                            \
				wait_a_little(&waits);                                                       \
	}

CK_CONTENDER(8)
CK_CONTENDER(64)
CK_CONTENDER(200)
CK_CONTENDER(1024)

static ck_sequence_t ck_sequence;

static void ck_write(int n)
{
	for (int i = 0; i < n; i++) {
		use(in);
		ck_sequence_write_begin(&ck_sequence);
		memcpy(shared, in, shared_bytes);
		ck_sequence_write_end(&ck_sequence);
	}
}

static int ck_read(int n, const _Atomic bool *stop)
{
	for (int i = 0; i < n; i++) {
		unsigned version;
		do {
			// A writer without pauses starves the reader.
			if (atomic_load_explicit(stop, memory_order_relaxed))
				return i;
			version = ck_sequence_read_begin(&ck_sequence);
			memcpy(out, shared, shared_bytes);
			use(out);
		} while (ck_sequence_read_retry(&ck_sequence, version));
	}
	return n;
}

static const ring_contender ck_rings[] = {
	{"ck_ring", 8, ck_reset, ck_pairs_8, ck_produce_8, ck_consume_8},
	{"ck_ring", 64, ck_reset, ck_pairs_64, ck_produce_64, ck_consume_64},
	{"ck_ring", 200, ck_reset, ck_pairs_200, ck_produce_200, ck_consume_200},
	{"ck_ring", 1024, ck_reset, ck_pairs_1024, ck_produce_1024, ck_consume_1024},
};
static const latest_contender ck_latest[] = {{"ck_sequence", mutex_reset, ck_write, ck_read}};
enum { CK = 1 };

#else

static const ring_contender ck_rings[4] = {{0}};
static const latest_contender ck_latest[1] = {{0}};
enum { CK = 0 };

#endif

// Timing.

static void pin(size_t cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set); // a failure only adds noise
}

typedef struct other_thread {
	pthread_t thread;
	void (*run)(struct other_thread *other);
	const ring_contender *ring;
	const latest_contender *latest;
	_Atomic bool ready, go, stop;
	int64_t done; // its operations, read after it was joined
} other_thread;

// One turn. `other_per_op`: operations of the other thread for each timed one; a contender may be fast
// because it starves the other side.
typedef struct turn {
	double ns;
	double other_per_op;
} turn;

static void *run_other(void *arg)
{
	other_thread *other = arg;
	pin(1);
	atomic_store(&other->ready, true);
	while (!atomic_load(&other->go)) {
	}
	other->run(other);
	return NULL;
}

// Returns when the other thread runs and waits for `go`.
static void start_other(other_thread *other)
{
	pin(0);
	if (pthread_create(&other->thread, NULL, run_other, other) != 0)
		exit(1);
	while (!atomic_load(&other->ready))
		sched_yield();
}

static turn time_pairs(const ring_contender *c)
{
	c->reset(c->bytes);
	c->pairs(CAPACITY); // touches every slot once: no page faults are timed
	int64_t begin_ns = tac_clock_now_ns();
	c->pairs(PAIRS);
	return (turn){.ns = (double)(tac_clock_now_ns() - begin_ns) / PAIRS};
}

static void produce(other_thread *other)
{
	other->ring->produce(STREAMED);
}

static turn time_stream(const ring_contender *c)
{
	other_thread other = {.run = produce, .ring = c};
	c->reset(c->bytes);
	start_other(&other);
	atomic_store(&other.go, true);
	int64_t begin_ns = tac_clock_now_ns();
	c->consume(STREAMED);
	double ns = (double)(tac_clock_now_ns() - begin_ns) / STREAMED;
	pthread_join(other.thread, NULL);
	return (turn){.ns = ns};
}

static turn time_write_and_read(const latest_contender *c, size_t bytes)
{
	static const _Atomic bool stop = false;
	c->reset(bytes);
	int64_t begin_ns = tac_clock_now_ns();
	for (int i = 0; i < PAIRS; i++) {
		c->write(1);
		c->read(1, &stop);
	}
	return (turn){.ns = (double)(tac_clock_now_ns() - begin_ns) / PAIRS};
}

static void read_back_to_back(other_thread *other)
{
	while (!atomic_load(&other->stop))
		other->done += other->latest->read(16, &other->stop);
}

static turn time_write_beside_a_reader(const latest_contender *c, size_t bytes)
{
	other_thread other = {.run = read_back_to_back, .latest = c};
	c->reset(bytes);
	start_other(&other);
	atomic_store(&other.go, true);
	int64_t begin_ns = tac_clock_now_ns();
	c->write(PAIRS / 10);
	double ns = (double)(tac_clock_now_ns() - begin_ns) / (PAIRS / 10);
	atomic_store(&other.stop, true);
	pthread_join(other.thread, NULL);
	return (turn){ns, (double)other.done / (PAIRS / 10)};
}

// Pauses between two writes, as a real writer does; without that a seqlock's reader starves.
static void write_every_microsecond(other_thread *other)
{
	while (!atomic_load(&other->stop)) {
		other->latest->write(1);
		other->done++;
		int64_t next_ns = tac_clock_now_ns() + TAC_NS_PER_US;
		while (tac_clock_now_ns() < next_ns) {
		}
	}
}

static turn time_read_beside_a_writer(const latest_contender *c, size_t bytes)
{
	other_thread other = {.run = write_every_microsecond, .latest = c};
	c->reset(bytes);
	start_other(&other);
	atomic_store(&other.go, true);
	int64_t begin_ns = tac_clock_now_ns();
	int reads = c->read(PAIRS / 10, &other.stop);
	double ns = (double)(tac_clock_now_ns() - begin_ns) / reads;
	atomic_store(&other.stop, true);
	pthread_join(other.thread, NULL);
	return (turn){ns, (double)other.done / reads};
}

// The table.

static FILE *csv;

static int compare(const void *a, const void *b)
{
	double x = ((const turn *)a)->ns, y = ((const turn *)b)->ns;
	return (x > y) - (x < y);
}

// `ours_ns` 0: this row is ours. Returns the minimum.
static double print_row(const char *what, size_t bytes, const char *name, turn turns[TURNS], double ours_ns)
{
	qsort(turns, TURNS, sizeof *turns, compare);
	double least_ns = turns[0].ns, median_ns = turns[TURNS / 2].ns;
	double ratio = ours_ns > 0 ? least_ns / ours_ns : 1.0, other = turns[TURNS / 2].other_per_op;
	printf("%-26s %5zu  %-15s %8.1f %8.1f %7.2f %9.3f\n", what, bytes, name, least_ns, median_ns, ratio,
	       other);
	if (csv)
		fprintf(csv, "%s,%zu,%s,%.2f,%.2f,%.3f,%.4f\n", what, bytes, name, least_ns, median_ns, ratio,
			other);
	return least_ns;
}

static void compare_rings(const char *what, turn (*time)(const ring_contender *))
{
	for (int s = 0; s < 4; s++) {
		static const size_t sizes[] = {8, 64, 200, 1024};
		ring_contender ours = {"tac_ring", sizes[s], tac_reset, tac_pairs, tac_produce, tac_consume};
		turn turns[2][TURNS];
		for (int t = 0; t < TURNS; t++) {
			turns[0][t] = time(&ours);
			if (CK)
				turns[1][t] = time(&ck_rings[s]);
		}
		double ours_ns = print_row(what, sizes[s], ours.name, turns[0], 0);
		if (CK)
			print_row(what, sizes[s], ck_rings[s].name, turns[1], ours_ns);
	}
}

static void compare_latest(const char *what, turn (*time)(const latest_contender *, size_t bytes))
{
	static const size_t sizes[] = {64, 256, 4096};
	const latest_contender contenders[] = {
		{"tac_latest", tac_latest_reset, tac_write, tac_read},
		{"  read in place", tac_latest_reset, tac_write, tac_read_in_place},
		{"mutex", mutex_reset, mutex_write, mutex_read},
		ck_latest[0],
	};
	for (int s = 0; s < 3; s++) {
		turn turns[4][TURNS];
		double ours_ns = 0;
		for (int t = 0; t < TURNS; t++)
			for (int c = 0; c < 3 + CK; c++)
				turns[c][t] = time(&contenders[c], sizes[s]);
		for (int c = 0; c < 3 + CK; c++) {
			double least_ns = print_row(what, sizes[s], contenders[c].name, turns[c], ours_ns);
			ours_ns = c == 0 ? least_ns : ours_ns;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--csv") == 0) {
		csv = fopen(argv[2], "w");
		if (!csv) {
			perror(argv[2]);
			return 1;
		}
		fprintf(csv, "what,bytes,contender,min_ns,median_ns,ratio,other_per_op\n");
	} else if (argc != 1) {
		fprintf(stderr, "usage: bench_lockfree [--csv FILE]\n");
		return 2;
	}
	if (!CK)
		printf("Concurrency Kit was not found when this was built: its rows are skipped.\n");
	printf("%-26s %5s  %-15s %8s %8s %7s %9s\n", "what", "bytes", "contender", "min ns", "median",
	       "ratio", "other/op");
	compare_rings("push + pop, one thread", time_pairs);
	compare_rings("stream, two threads", time_stream);
	compare_latest("write + read, one thread", time_write_and_read);
	compare_latest("write beside a reader", time_write_beside_a_reader);
	compare_latest("read beside a writer", time_read_beside_a_writer);
	tac_ring_destroy(&ring);
	tac_latest_destroy(&latest);
	return csv && fclose(csv) != 0;
}
