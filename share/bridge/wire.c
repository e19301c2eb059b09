#include "share/bridge/wire.h"

#include <idl/tactus.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define LEASE     DDS_MSECS(500) // a station that is silent for so long is gone
#define NEVER     DDS_INFINITY
#define CLOSE_S   5   // for DDS to say good-bye
#define BLOCKS    250 // of ticks that a slow reader may be behind: 5 s
#define EVENTS    256
#define FOR_LATER DDS_DURABILITY_TRANSIENT_LOCAL
#define FOR_NOW   DDS_DURABILITY_VOLATILE

// History of KEEP_LAST `depth`.
typedef struct quality {
	const char *name;
	const dds_topic_descriptor_t *type;
	bool reliable;
	int32_t depth;
	dds_durability_kind_t durability;
	bool lives; // its writer's lease tells whether the station is there
} quality;

static const quality qualities[WIRE_TOPIC_COUNT] = {
	[WIRE_STATE] = {"tactus/state", &tactus_State_desc, false, 1, FOR_NOW, false},
	[WIRE_TICKS] = {"tactus/ticks", &tactus_Block_desc, true, BLOCKS, FOR_NOW, false},
	[WIRE_EVENT] = {"tactus/event", &tactus_Event_desc, true, EVENTS, FOR_LATER, false},
	[WIRE_INFO] = {"tactus/info", &tactus_Info_desc, true, 1, FOR_LATER, true},
	[WIRE_SCENE] = {"tactus/scene", &tactus_Scene_desc, true, 1, FOR_LATER, false},
	[WIRE_TOTALS] = {"tactus/totals", &tactus_Totals_desc, true, 1, FOR_LATER, false},
	[WIRE_FIGURES] = {"tactus/figures", &tactus_Figures_desc, true, 1, FOR_LATER, false},
	[WIRE_COMMAND] = {"tactus/command", &tactus_Command_desc, true, 16, FOR_NOW, false},
	[WIRE_CHUNK] = {"tactus/chunk", &tactus_Chunk_desc, true, 64, FOR_NOW, false},
	[WIRE_WANT] = {"tactus/want", &tactus_Want_desc, true, 1, FOR_NOW, false},
};

// ---- configuration ----

// Appends three texts; what does not fit is cut, and DDS then refuses the configuration.
static void append(char *xml, size_t size, const char *before, const char *value, const char *after)
{
	const size_t used = strlen(xml);
	snprintf(xml + used, size - used, "%s%s%s", before, value, after);
}

static void add_peers(char *xml, size_t size, const char *peers)
{
	char copy[512];
	snprintf(copy, sizeof copy, "%s", peers);
	append(xml, size, "<Peers>", "", "");
	for (char *next = copy, *peer; (peer = strsep(&next, ","));)
		append(xml, size, "<Peer address=\"", peer, "\"/>");
	append(xml, size, "</Peers>", "", "");
}

// The credentials that share/security/tactus-credentials makes, and the plugins that use them.
static void add_security(char *xml, size_t size, const char *folder)
{
	static const struct {
		const char *before, *file, *after;
	} parts[] = {
		{"<Security><Authentication><Library path=\"" TACTUS_DDS_SECURITY
		 "/libdds_security_auth.so\" "
		 "initFunction=\"init_authentication\" finalizeFunction=\"finalize_authentication\"/>"
		 "<IdentityCertificate>file:",
		 "certificate.pem", "</IdentityCertificate>"},
		{"<PrivateKey>file:", "key.pem", "</PrivateKey>"},
		{"<IdentityCA>file:", "authority.pem", "</IdentityCA></Authentication>"},
		{"<AccessControl><Library path=\"" TACTUS_DDS_SECURITY "/libdds_security_ac.so\" "
		 "initFunction=\"init_access_control\" finalizeFunction=\"finalize_access_control\"/>"
		 "<Governance>file:",
		 "governance.xml.p7s", "</Governance>"},
		{"<Permissions>file:", "permissions.xml.p7s", "</Permissions>"},
		{"<PermissionsCA>file:", "authority.pem",
		 "</PermissionsCA></AccessControl><Cryptographic><Library path=\"" TACTUS_DDS_SECURITY
		 "/libdds_security_crypto.so\" initFunction=\"init_crypto\" "
		 "finalizeFunction=\"finalize_crypto\"/></Cryptographic></Security>"},
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		append(xml, size, parts[i].before, folder, "/");
		append(xml, size, parts[i].file, parts[i].after, "");
	}
}

// The configuration of the environment (CYCLONEDDS_URI), then that of the options.
static void configure(const wire_def *def, char *xml, size_t size)
{
	const char *environment = getenv("CYCLONEDDS_URI");
	xml[0] = 0;
	if (environment)
		append(xml, size, "", environment, ",");
	append(xml, size, "<CycloneDDS><Domain id=\"any\"><General>", "", "");
	// The loopback interface carries multicast, although Linux does not say so.
	if (def->interface)
		append(xml, size, "<Interfaces><NetworkInterface name=\"", def->interface,
		       "\" multicast=\"true\"/></Interfaces>");
	append(xml, size, "</General><Discovery><ParticipantIndex>auto</ParticipantIndex>",
	       "<MaxAutoParticipantIndex>120</MaxAutoParticipantIndex>", "");
	if (def->peers)
		add_peers(xml, size, def->peers);
	append(xml, size, "</Discovery>", "", "");
	if (def->security)
		add_security(xml, size, def->security);
	append(xml, size, "</Domain></CycloneDDS>", "", "");
}

// ---- entities ----

static dds_entity_t checked(dds_entity_t entity, const char *what)
{
	if (entity < 0)
		fprintf(stderr, "tactus share: expected to create %s, found: %s\n", what,
			dds_strretcode(-entity));
	return entity;
}

static dds_qos_t *qos_of(const quality *q)
{
	dds_qos_t *qos = dds_create_qos();
	// A writer never waits: a block that cannot be stored is dropped and counted.
	dds_qset_reliability(qos, q->reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, 0);
	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, q->depth);
	dds_qset_durability(qos, q->durability);
	dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, q->depth, DDS_LENGTH_UNLIMITED,
				    DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
	dds_qset_liveliness(qos, DDS_LIVELINESS_AUTOMATIC, q->lives ? LEASE : NEVER);
	dds_qset_writer_data_lifecycle(qos, false);
	const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
	dds_qset_data_representation(qos, 1, &xcdr1);
	return qos;
}

bool wire_open(const wire_def *def, wire *out_wire)
{
	*out_wire = (wire){0};
	if (def->security && !TACTUS_DDS_SECURITY[0]) {
		fprintf(stderr,
			"tactus share: security: expected the plugins of DDS Security, found a Cyclone DDS "
			"without them\n");
		return false;
	}
	static char xml[16384];
	configure(def, xml, sizeof xml);
	out_wire->domain = checked(dds_create_domain(def->domain, xml), "a DDS domain");
	if (out_wire->domain < 0)
		return false;
	out_wire->participant = checked(dds_create_participant(def->domain, NULL, NULL), "a DDS participant");
	return out_wire->participant >= 0;
}

static void *delete_domain(void *domain)
{
	dds_delete((dds_entity_t)(intptr_t)domain);
	return NULL;
}

void wire_close(wire *w)
{
	pthread_t thread;
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += CLOSE_S;
	if (w->domain > 0 && pthread_create(&thread, NULL, delete_domain, (void *)(intptr_t)w->domain) == 0 &&
	    pthread_timedjoin_np(thread, NULL, &end) != 0)
		pthread_detach(thread);
	*w = (wire){0};
}

dds_entity_t wire_topic_of(wire *w, const dds_topic_descriptor_t *type, const char *name)
{
	return checked(dds_create_topic(w->participant, type, name, NULL, NULL), name);
}

static dds_entity_t topic_of(wire *w, wire_topic topic)
{
	if (w->topics[topic] == 0)
		w->topics[topic] = wire_topic_of(w, qualities[topic].type, qualities[topic].name);
	return w->topics[topic];
}

dds_entity_t wire_writer(wire *w, wire_topic topic)
{
	const dds_entity_t t = topic_of(w, topic);
	dds_qos_t *qos = qos_of(&qualities[topic]);
	const dds_entity_t writer =
		t < 0 ? t : checked(dds_create_writer(w->participant, t, qos, NULL), qualities[topic].name);
	dds_delete_qos(qos);
	return writer;
}

dds_entity_t wire_reader(wire *w, wire_topic topic)
{
	const dds_entity_t t = topic_of(w, topic);
	dds_qos_t *qos = qos_of(&qualities[topic]);
	// A reader that is slow for a while must not lose what the writer still has.
	if (qualities[topic].reliable && qualities[topic].durability == FOR_NOW)
		dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
	const dds_entity_t reader =
		t < 0 ? t : checked(dds_create_reader(w->participant, t, qos, NULL), qualities[topic].name);
	dds_delete_qos(qos);
	return reader;
}

// ---- time and chance ----

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t wire_clock_offset_ns(void)
{
	return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
}

uint64_t wire_random(void)
{
	uint64_t value = 0;
	while (value == 0)
		if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
			value = (uint64_t)now_ns(CLOCK_REALTIME);
	return value;
}
