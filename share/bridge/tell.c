#include "share/bridge/clients.h"

#include "rt/clock.h"

#include <idl/tactus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS   3
#define REPEAT_NS (100 * TAC_NS_PER_MS)
#define POLL_NS   (2 * TAC_NS_PER_MS)

// Whether the answer to `number` has come; its text is in `out_text`.
static bool answered(dds_entity_t reader, uint64_t number, char out_text[97])
{
	char wanted[24];
	snprintf(wanted, sizeof wanted, "%016llx ", (unsigned long long)number);
	bool found = false;
	void *samples[1] = {NULL};
	dds_sample_info_t info;
	while (dds_take(reader, samples, &info, 1, 1) > 0) {
		const tactus_Event *e = samples[0];
		if (info.valid_data && strcmp(e->kind, "command") == 0 && strncmp(e->text, wanted, 17) == 0) {
			snprintf(out_text, 97, "%s", e->text + 17);
			found = true;
		}
		dds_return_loan(reader, samples, 1);
		samples[0] = NULL;
	}
	return found;
}

int tell_run(const wire_def *def, const tell_def *tell, double seconds)
{
	wire w;
	if (!wire_open(def, &w))
		return EXIT_FAILURE;
	const dds_entity_t writer = wire_writer(&w, WIRE_COMMAND);
	const dds_entity_t reader = writer < 0 ? writer : wire_reader(&w, WIRE_EVENT);
	if (reader < 0) {
		wire_close(&w);
		return EXIT_FAILURE;
	}
	tactus_Command command = {.number = wire_random(), .value = tell->value};
	snprintf(command.station, sizeof command.station, "%s", tell->station);
	snprintf(command.kind, sizeof command.kind, "%s", tell->kind);
	snprintf(command.text, sizeof command.text, "%s", tell->text ? tell->text : "");
	const int64_t begin_ns = tac_clock_now_ns();
	int64_t sent_ns = 0;
	int sent = 0;
	char text[97] = "";
	bool found = false;
	const struct timespec pause = {0, POLL_NS};
	while (!found && (double)(tac_clock_now_ns() - begin_ns) < seconds * 1e9) {
		dds_publication_matched_status_t matched = {0};
		dds_get_publication_matched_status(writer, &matched);
		// The bridge carries a command out once, however often it comes.
		const int64_t now_ns = tac_clock_now_ns();
		if (matched.current_count > 0 && sent < REPEATS && now_ns - sent_ns >= REPEAT_NS) {
			dds_write(writer, &command);
			sent_ns = now_ns;
			sent++;
		}
		found = answered(reader, command.number, text);
		nanosleep(&pause, NULL);
	}
	wire_close(&w);
	const bool done = found && strncmp(text, "refused", 7) != 0;
	if (!found)
		fprintf(stderr, "tactus share: expected an answer from station %s within %g s, found none\n",
			tell->station, seconds);
	else if (!done)
		fprintf(stderr, "tactus share: station %s: %s\n", tell->station, text);
	else
		printf("%s: %s\n", tell->station, text);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
