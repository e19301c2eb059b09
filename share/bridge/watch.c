#include "share/bridge/clients.h"

#include "rt/clock.h"

#include <idl/tactus.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATIONS 128
#define POLL_NS  (5 * TAC_NS_PER_MS)

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

// What was heard of a station's present run. Ticks: numbers of records in blocks; a gap is a number that
// never came, of which `refused` were never sent.
typedef struct heard {
	char station[33];
	uint64_t bridge, run, runs;
	uint64_t states, blocks, ticks, gaps, repeated, refused;
	uint64_t first, next; // record numbers: of the first one heard, and the one that must follow
	uint64_t events, event_gaps, next_event;
	bool any_event;
	double force_N; // largest
	bool known, running, gone;
	char scene[96];
	bool totals_ended, told_complete;
	uint64_t totals_ticks, misses, published, dropped, totals_refused;
} heard;

typedef struct watch {
	wire wire;
	dds_entity_t readers[WIRE_TOPIC_COUNT];
	heard stations[STATIONS];
	int count;
} watch;

static heard *find(watch *w, const char *station)
{
	for (int i = 0; i < w->count; i++)
		if (strcmp(w->stations[i].station, station) == 0)
			return &w->stations[i];
	if (w->count == STATIONS)
		return NULL;
	heard *h = &w->stations[w->count++];
	*h = (heard){0};
	snprintf(h->station, sizeof h->station, "%s", station);
	return h;
}

// A new run has an account of its own.
static void begin_run(heard *h, uint64_t run)
{
	if (h->run == run || run == 0)
		return;
	h->run = run;
	h->runs++;
	h->totals_ended = h->told_complete = false;
	h->blocks = h->ticks = h->gaps = h->repeated = h->refused = h->next = h->first = 0;
}

static void hear_state(heard *h, const tactus_State *s)
{
	h->states++;
	const tactus_Vec3 f = s->newest.sent.force_N;
	h->force_N = fmax(h->force_N, sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
}

static void hear_block(heard *h, const tactus_Block *b)
{
	begin_run(h, b->run);
	h->blocks++;
	h->refused = b->refused;
	for (uint32_t i = 0; i < b->samples._length; i++) {
		const uint64_t number = b->samples._buffer[i].number;
		if (h->ticks == 0)
			h->first = h->next = number;
		if (number < h->next) {
			h->repeated++;
			continue;
		}
		h->gaps += number - h->next;
		h->next = number + 1;
		h->ticks++;
	}
}

static void hear_event(heard *h, const tactus_Event *e)
{
	h->events++;
	if (h->any_event && e->number > h->next_event)
		h->event_gaps += e->number - h->next_event;
	h->any_event = true;
	h->next_event = e->number + 1;
}

static void hear_info(heard *h, const tactus_Info *i)
{
	if (!h->known)
		fprintf(stderr, "tactus share: hears %s\n", h->station);
	else if (h->bridge != i->bridge)
		fprintf(stderr, "tactus share: %s has a new bridge\n", h->station);
	h->known = true;
	h->bridge = i->bridge;
	begin_run(h, i->run);
	h->running = i->running;
	snprintf(h->scene, sizeof h->scene, "%s", i->scene ? i->scene : "");
}

static void hear_totals(heard *h, const tactus_Totals *t)
{
	h->totals_ended = t->ended && t->run == h->run;
	h->totals_ticks = t->ticks;
	h->misses = t->misses;
	h->published = t->published;
	h->dropped = t->dropped;
	h->totals_refused = t->refused;
}

static void hear_life(heard *h, bool there)
{
	if (h->known && h->gone == there)
		fprintf(stderr, "tactus share: %s is %s\n", h->station, there ? "back" : "gone");
	h->gone = !there;
}

// Takes all that a reader has. The station is the first member of every type.
static void take(watch *w, wire_topic topic)
{
	void *samples[16] = {NULL};
	dds_sample_info_t infos[16];
	int32_t got;
	while ((got = dds_take(w->readers[topic], samples, infos, 16, 16)) > 0) {
		for (int32_t i = 0; i < got; i++) {
			heard *h = find(w, samples[i]);
			if (!h)
				continue;
			if (topic == WIRE_INFO)
				hear_life(h, infos[i].instance_state == DDS_IST_ALIVE);
			if (!infos[i].valid_data)
				continue;
			if (topic == WIRE_STATE)
				hear_state(h, samples[i]);
			else if (topic == WIRE_TICKS)
				hear_block(h, samples[i]);
			else if (topic == WIRE_EVENT)
				hear_event(h, samples[i]);
			else if (topic == WIRE_INFO)
				hear_info(h, samples[i]);
			else if (topic == WIRE_TOTALS)
				hear_totals(h, samples[i]);
		}
		dds_return_loan(w->readers[topic], samples, got);
		samples[0] = NULL;
	}
}

// Says once for each run that all of its ticks have come, as far as its end.
static void tell_complete(heard *h)
{
	const uint64_t records = h->published + h->dropped + h->totals_refused;
	if (h->told_complete || !h->totals_ended || h->next < h->totals_ticks || h->next < records)
		return;
	h->told_complete = true;
	fprintf(stderr, "tactus share: %s has ended a run of %llu ticks\n", h->station,
		(unsigned long long)h->totals_ticks);
}

static void print(const watch *w)
{
	printf("{\"stations\": [");
	for (int i = 0; i < w->count; i++) {
		const heard *h = &w->stations[i];
		printf("%s\n  {\"station\": \"%s\", \"there\": %s, \"running\": %s, \"run\": \"%016llx\", "
		       "\"runs\": %llu, \"states\": %llu, \"largest_force_N\": %.6g, \"blocks\": %llu, "
		       "\"ticks\": %llu, \"first\": %llu, \"gaps\": %llu, \"repeated\": %llu, "
		       "\"refused\": %llu, \"events\": %llu, \"event_gaps\": %llu, \"next_event\": %llu, "
		       "\"totals\": {\"ticks\": %llu, \"misses\": %llu, \"published\": %llu, "
		       "\"dropped\": %llu, \"refused\": %llu}}",
		       i ? "," : "", h->station, h->gone ? "false" : "true", h->running ? "true" : "false",
		       (unsigned long long)h->run, (unsigned long long)h->runs, (unsigned long long)h->states,
		       h->force_N, (unsigned long long)h->blocks, (unsigned long long)h->ticks,
		       (unsigned long long)h->first, (unsigned long long)h->gaps,
		       (unsigned long long)h->repeated, (unsigned long long)h->refused,
		       (unsigned long long)h->events, (unsigned long long)h->event_gaps,
		       (unsigned long long)h->next_event, (unsigned long long)h->totals_ticks,
		       (unsigned long long)h->misses, (unsigned long long)h->published,
		       (unsigned long long)h->dropped, (unsigned long long)h->totals_refused);
	}
	printf("]}\n");
	fflush(stdout);
}

int watch_run(const wire_def *def, double seconds)
{
	static const wire_topic heard_topics[] = {WIRE_INFO, WIRE_STATE, WIRE_TICKS, WIRE_EVENT, WIRE_TOTALS};
	enum { TOPICS = sizeof heard_topics / sizeof *heard_topics };
	watch *w = calloc(1, sizeof *w);
	bool good = w && wire_open(def, &w->wire);
	for (int i = 0; i < TOPICS && good; i++)
		good = (w->readers[heard_topics[i]] = wire_reader(&w->wire, heard_topics[i])) >= 0;
	const struct sigaction action = {.sa_handler = end};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	const int64_t begin_ns = tac_clock_now_ns();
	const struct timespec pause = {0, POLL_NS};
	while (good && !ended && (double)(tac_clock_now_ns() - begin_ns) < seconds * 1e9) {
		for (int i = 0; i < TOPICS; i++)
			take(w, heard_topics[i]);
		for (int i = 0; i < w->count; i++)
			tell_complete(&w->stations[i]);
		nanosleep(&pause, NULL);
	}
	if (good)
		print(w);
	if (w)
		wire_close(&w->wire);
	free(w);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
