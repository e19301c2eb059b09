// Wire: a DDS participant and the topics of tactus.idl with their qualities of service. docs/share.md has the
// table.
#ifndef TAC_SHARE_BRIDGE_WIRE_H
#define TAC_SHARE_BRIDGE_WIRE_H

#include <dds/dds.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct wire_def {
	uint32_t domain;
	const char *interface; // network interface; NULL: DDS chooses
	const char
		*peers; // addresses, separated by commas, of hosts that multicast does not reach; NULL: none
	const char *security; // folder with this participant's credentials; NULL: none
} wire_def;

typedef enum wire_topic {
	WIRE_STATE,
	WIRE_TICKS,
	WIRE_EVENT,
	WIRE_INFO,
	WIRE_SCENE,
	WIRE_TOTALS,
	WIRE_FIGURES,
	WIRE_COMMAND,
	WIRE_CHUNK,
	WIRE_WANT,
	WIRE_TOPIC_COUNT,
} wire_topic;

typedef struct wire {
	dds_entity_t domain, participant;
	dds_entity_t topics[WIRE_TOPIC_COUNT];
} wire;

// Joins the domain. False after one line on stderr.
bool wire_open(const wire_def *def, wire *out_wire);
// Leaves it; the process must end then. DDS wakes its own threads over the network and waits for them: where
// the interface is gone it never returns, so this does after some seconds.
void wire_close(wire *w);

// An entity for one of the topics; negative after one line on stderr.
dds_entity_t wire_writer(wire *w, wire_topic topic);
dds_entity_t wire_reader(wire *w, wire_topic topic);

// A topic outside the table, with a quality of service that the caller keeps. Negative after one line.
dds_entity_t wire_topic_of(wire *w, const dds_topic_descriptor_t *type, const char *name);

// CLOCK_REALTIME minus CLOCK_MONOTONIC.
int64_t wire_clock_offset_ns(void);

// A random number, never 0.
uint64_t wire_random(void);

#endif
