// MCAP (mcap.dev/spec): a recording as messages of ROS 2 in chunks with an index, uncompressed. Plotting
// tools and robotics libraries read it. A record is an opcode, the length of its content, and the content;
// numbers are little-endian, texts have a length before them.
#include "base/crc32.h"
#include "base/log.h"
#include "base/output.h"
#include "base/version.h"
#include "devices/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SAMPLES 256
#define CDR_HEADER    4 // bytes before a message's own; alignments count from there

// Opcodes of the records that are written.
typedef enum opcode {
	OP_HEADER = 0x01,
	OP_FOOTER = 0x02,
	OP_SCHEMA = 0x03,
	OP_CHANNEL = 0x04,
	OP_MESSAGE = 0x05,
	OP_CHUNK = 0x06,
	OP_MESSAGE_INDEX = 0x07,
	OP_CHUNK_INDEX = 0x08,
	OP_ATTACHMENT = 0x09,
	OP_ATTACHMENT_INDEX = 0x0A,
	OP_STATISTICS = 0x0B,
	OP_METADATA = 0x0C,
	OP_METADATA_INDEX = 0x0D,
	OP_DATA_END = 0x0F,
} opcode;

typedef enum channel {
	CHANNEL_POSE,
	CHANNEL_TWIST,
	CHANNEL_WRENCH,
	CHANNEL_JOY,
	CHANNEL_STATUS,
	CHANNELS,
} channel;

#define HEADER_FIELD "std_msgs/Header header\n"
#define SEPARATOR    "================================================================================\n"
#define HEADER_TYPES                                                                                         \
	SEPARATOR "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" SEPARATOR         \
		  "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
#define VECTOR_TYPE SEPARATOR "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"

static const struct {
	const char *topic, *type, *definition;
} channels[CHANNELS] = {
	[CHANNEL_POSE] =
		{"/device/pose", "geometry_msgs/msg/PoseStamped",
		 HEADER_FIELD
		 "geometry_msgs/Pose pose\n" SEPARATOR
		 "MSG: geometry_msgs/Pose\ngeometry_msgs/Point position\n"
		 "geometry_msgs/Quaternion orientation\n" SEPARATOR
		 "MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n" SEPARATOR
		 "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n" HEADER_TYPES},
	[CHANNEL_TWIST] = {"/device/twist", "geometry_msgs/msg/TwistStamped",
			   HEADER_FIELD "geometry_msgs/Twist twist\n" SEPARATOR
					"MSG: geometry_msgs/Twist\ngeometry_msgs/Vector3 linear\n"
					"geometry_msgs/Vector3 angular\n" VECTOR_TYPE HEADER_TYPES},
	[CHANNEL_WRENCH] = {"/device/wrench", "geometry_msgs/msg/WrenchStamped",
			    HEADER_FIELD "geometry_msgs/Wrench wrench\n" SEPARATOR
					 "MSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\n"
					 "geometry_msgs/Vector3 torque\n" VECTOR_TYPE HEADER_TYPES},
	[CHANNEL_JOY] = {"/device/joy", "sensor_msgs/msg/Joy",
			 HEADER_FIELD "float32[] axes\nint32[] buttons\n" HEADER_TYPES},
	[CHANNEL_STATUS] = {"/device/status", "std_msgs/msg/String", "string data\n"},
};

// ---- bytes ----

// Grows; after a failed allocation it only counts.
typedef struct buffer {
	uint8_t *bytes;
	size_t size, capacity;
	bool failed;
} buffer;

static void put_bytes(buffer *b, const void *bytes, size_t count)
{
	if (b->size + count > b->capacity && !b->failed) {
		const size_t capacity = 2 * (b->size + count);
		uint8_t *larger = realloc(b->bytes, capacity);
		b->failed = !larger;
		if (larger) {
			b->bytes = larger;
			b->capacity = capacity;
		}
	}
	if (!b->failed && count > 0)
		memcpy(b->bytes + b->size, bytes, count);
	b->size += count;
}

static void put(buffer *b, uint64_t value, int count)
{
	uint8_t bytes[8];
	for (int i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	put_bytes(b, bytes, (size_t)count);
}

static void put_text(buffer *b, const char *text)
{
	put(b, strlen(text), 4);
	put_bytes(b, text, strlen(text));
}

// Writes `value` over `count` bytes at `at`, which were put as zeros.
static void patch(buffer *b, size_t at, uint64_t value, int count)
{
	for (int i = 0; i < count && !b->failed; i++)
		b->bytes[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

// A record, or an array with its length before it, lies between begin and end.
static size_t begin_record(buffer *b, opcode op)
{
	put(b, op, 1);
	put(b, 0, 8);
	return b->size;
}

static void end_record(buffer *b, size_t begin)
{
	patch(b, begin - 8, b->size - begin, 8);
}

static size_t begin_array(buffer *b)
{
	put(b, 0, 4);
	return b->size;
}

static void end_array(buffer *b, size_t begin)
{
	patch(b, begin - 4, b->size - begin, 4);
}

// ---- messages, in CDR ----

typedef struct message {
	buffer *out;
	size_t record; // where its content begins
	size_t body;   // where alignments count from
} message;

static void align(message *m, size_t to)
{
	while ((m->out->size - m->body) % to != 0)
		put(m->out, 0, 1);
}

static void put_number(message *m, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	align(m, 8);
	put(m->out, bits, 8);
}

static void put_vector(message *m, tac_dvec3 v)
{
	put_number(m, v.x);
	put_number(m, v.y);
	put_number(m, v.z);
}

static void put_string(message *m, const char *text)
{
	align(m, 4);
	put(m->out, strlen(text) + 1, 4); // with its NUL
	put_bytes(m->out, text, strlen(text) + 1);
}

typedef struct index_entry {
	uint64_t time_ns, offset; // of the message in its chunk
} index_entry;

typedef struct chunk {
	uint64_t first_ns, last_ns, offset, bytes, records_bytes;
	uint64_t index_offset[CHANNELS], index_bytes;
} chunk;

typedef struct writer {
	FILE *file;
	uint64_t offset; // bytes in the file
	buffer scratch;  // what is written next
	buffer messages; // of the present chunk
	chunk *chunks;   // complete ones
	size_t chunk_count;
	uint64_t count[CHANNELS];
	index_entry index[CHANNELS][CHUNK_SAMPLES];
	uint32_t index_count[CHANNELS];
	uint64_t time_ns; // of the present sample
	bool gripper;     // the device has one
	int buttons;      // number of buttons that were ever held
} writer;

static message begin_message(writer *w, channel c, bool stamped)
{
	buffer *b = &w->messages;
	w->index[c][w->index_count[c]++] = (index_entry){w->time_ns, b->size};
	message m = {.out = b, .record = begin_record(b, OP_MESSAGE)};
	put(b, c + 1, 2);
	put(b, w->count[c]++, 4);
	put(b, w->time_ns, 8);                // of the log
	put(b, w->time_ns, 8);                // of the publisher
	put_bytes(b, "\0\1\0\0", CDR_HEADER); // plain CDR, little-endian
	m.body = b->size;
	if (stamped) {
		put(b, w->time_ns / 1000000000, 4);
		put(b, w->time_ns % 1000000000, 4);
		put_string(&m, "base");
	}
	return m;
}

static void put_sample(writer *w, const tac_device_sample *s, bool status_changed)
{
	message m = begin_message(w, CHANNEL_POSE, true);
	put_vector(&m, s->state.T_base_tool.position);
	const tac_dquat q = s->state.T_base_tool.rotation;
	put_vector(&m, tac_dvec3_make(q.x, q.y, q.z));
	put_number(&m, q.w);
	end_record(m.out, m.record);

	m = begin_message(w, CHANNEL_TWIST, true);
	put_vector(&m, s->state.velocity_m_per_s);
	put_vector(&m, s->state.angular_velocity_rad_per_s);
	end_record(m.out, m.record);

	m = begin_message(w, CHANNEL_WRENCH, true);
	put_vector(&m, s->wrench.force_N);
	put_vector(&m, s->wrench.torque_Nm);
	end_record(m.out, m.record);

	m = begin_message(w, CHANNEL_JOY, true);
	align(&m, 4);
	put(m.out, w->gripper, 4); // axes
	const float gripper_m = (float)s->state.gripper_m;
	uint32_t bits;
	memcpy(&bits, &gripper_m, sizeof bits);
	if (w->gripper)
		put(m.out, bits, 4);
	put(m.out, (uint64_t)w->buttons, 4);
	for (int i = 0; i < w->buttons; i++)
		put(m.out, s->state.buttons >> i & 1, 4);
	end_record(m.out, m.record);

	if (status_changed) {
		m = begin_message(w, CHANNEL_STATUS, false);
		put_string(&m, tac_device_status_name(s->status));
		end_record(m.out, m.record);
	}
}

// ---- the file ----

static void flush(writer *w)
{
	if (!w->scratch.failed)
		fwrite(w->scratch.bytes, 1, w->scratch.size, w->file);
	w->offset += w->scratch.size;
	w->scratch.size = 0;
}

static void put_channels(buffer *b)
{
	for (int c = 0; c < CHANNELS; c++) {
		size_t record = begin_record(b, OP_SCHEMA);
		put(b, (uint64_t)c + 1, 2);
		put_text(b, channels[c].type);
		put_text(b, "ros2msg");
		put_text(b, channels[c].definition);
		end_record(b, record);
		record = begin_record(b, OP_CHANNEL);
		put(b, (uint64_t)c + 1, 2);
		put(b, (uint64_t)c + 1, 2); // of its schema
		put_text(b, channels[c].topic);
		put_text(b, "cdr");
		put(b, 0, 4); // metadata
		end_record(b, record);
	}
}

static void end_chunk(writer *w)
{
	buffer *b = &w->scratch;
	chunk *k = &w->chunks[w->chunk_count++];
	k->last_ns = w->time_ns;
	k->offset = w->offset;
	k->records_bytes = w->messages.size;
	b->failed |= w->messages.failed;
	if (b->failed)
		return;
	const size_t record = begin_record(b, OP_CHUNK);
	put(b, k->first_ns, 8);
	put(b, k->last_ns, 8);
	put(b, k->records_bytes, 8);
	put(b, tac_crc32(0, w->messages.bytes, w->messages.size), 4);
	put_text(b, ""); // compression
	put(b, k->records_bytes, 8);
	put_bytes(b, w->messages.bytes, w->messages.size);
	end_record(b, record);
	k->bytes = b->size;
	w->messages.size = 0;
	for (int c = 0; c < CHANNELS; c++) {
		k->index_offset[c] = w->offset + b->size;
		const size_t index = begin_record(b, OP_MESSAGE_INDEX);
		put(b, (uint64_t)c + 1, 2);
		const size_t array = begin_array(b);
		for (uint32_t i = 0; i < w->index_count[c]; i++) {
			put(b, w->index[c][i].time_ns, 8);
			put(b, w->index[c][i].offset, 8);
		}
		end_array(b, array);
		end_record(b, index);
		w->index_count[c] = 0;
	}
	k->index_bytes = b->size - k->bytes;
	flush(w);
}

// Times of a damaged recording may have any value: here they never run backwards, and their seconds fit into
// the 31 bits of a ROS time.
static void set_time(writer *w, const tac_recording *r, size_t sample)
{
	const uint64_t time_ns =
		(uint64_t)r->samples[sample].state.time_ns - (uint64_t)r->samples[0].state.time_ns;
	if (time_ns >= w->time_ns && time_ns / 1000000000 <= INT32_MAX)
		w->time_ns = time_ns;
}

static void put_samples(writer *w, const tac_recording *r)
{
	for (size_t i = 0; i < r->count && !w->scratch.failed; i++) {
		set_time(w, r, i);
		if (i % CHUNK_SAMPLES == 0)
			w->chunks[w->chunk_count].first_ns = w->time_ns;
		put_sample(w, &r->samples[i], i == 0 || r->samples[i].status != r->samples[i - 1].status);
		if (i % CHUNK_SAMPLES == CHUNK_SAMPLES - 1 || i == r->count - 1)
			end_chunk(w);
	}
}

static void put_pair(buffer *b, const char *key, const char *value)
{
	put_text(b, key);
	put_text(b, value);
}

// What identifies the recording, and its scene as an attachment. The places of both for the summary.
typedef struct extras {
	uint64_t metadata_offset, metadata_bytes, scene_offset, scene_bytes;
} extras;

static extras put_extras(writer *w, const tac_recording *r)
{
	buffer *b = &w->scratch;
	extras e = {.metadata_offset = w->offset};
	size_t record = begin_record(b, OP_METADATA);
	put_text(b, "recording");
	const size_t map = begin_array(b);
	char period[32], loop_period[32], unrecorded[32];
	snprintf(period, sizeof period, "%lld", (long long)r->header.period_ns);
	snprintf(loop_period, sizeof loop_period, "%lld", (long long)r->header.loop_period_ns);
	snprintf(unrecorded, sizeof unrecorded, "%llu", (unsigned long long)r->unrecorded);
	put_pair(b, "device", r->header.name);
	put_pair(b, "serial", r->header.serial);
	put_pair(b, "period_ns", period);
	put_pair(b, "loop_period_ns", loop_period);
	put_pair(b, "scene", r->scene.text ? r->scene.name : "");
	put_pair(b, "unrecorded_samples", unrecorded);
	put_pair(b, "damage", r->damage ? r->damage : "");
	end_array(b, map);
	end_record(b, record);
	e.metadata_bytes = b->size;
	flush(w);
	e.scene_offset = w->offset;
	if (r->scene.text) {
		record = begin_record(b, OP_ATTACHMENT);
		put(b, 0, 8); // logged at
		put(b, 0, 8); // created at
		put_text(b, "scene.yaml");
		put_text(b, "application/yaml");
		put(b, strlen(r->scene.text), 8);
		put_bytes(b, r->scene.text, strlen(r->scene.text));
		put(b, b->failed ? 0 : tac_crc32(0, b->bytes + record, b->size - record), 4);
		end_record(b, record);
	}
	e.scene_bytes = b->size;
	flush(w);
	return e;
}

static void put_chunk_index(buffer *b, const chunk *k)
{
	const size_t record = begin_record(b, OP_CHUNK_INDEX);
	put(b, k->first_ns, 8);
	put(b, k->last_ns, 8);
	put(b, k->offset, 8);
	put(b, k->bytes, 8);
	const size_t map = begin_array(b);
	for (int c = 0; c < CHANNELS; c++) {
		put(b, (uint64_t)c + 1, 2);
		put(b, k->index_offset[c], 8);
	}
	end_array(b, map);
	put(b, k->index_bytes, 8);
	put_text(b, ""); // compression
	put(b, k->records_bytes, 8);
	put(b, k->records_bytes, 8);
	end_record(b, record);
}

static void put_statistics(writer *w, bool has_scene)
{
	buffer *b = &w->scratch;
	uint64_t messages = 0;
	for (int c = 0; c < CHANNELS; c++)
		messages += w->count[c];
	const size_t record = begin_record(b, OP_STATISTICS);
	put(b, messages, 8);
	put(b, CHANNELS, 2); // schemas
	put(b, CHANNELS, 4);
	put(b, has_scene, 4); // attachments
	put(b, 1, 4);         // metadata
	put(b, w->chunk_count, 4);
	put(b, w->chunk_count ? w->chunks[0].first_ns : 0, 8);
	put(b, w->time_ns, 8);
	const size_t map = begin_array(b);
	for (int c = 0; c < CHANNELS; c++) {
		put(b, (uint64_t)c + 1, 2);
		put(b, w->count[c], 8);
	}
	end_array(b, map);
	end_record(b, record);
}

static void put_summary(writer *w, const tac_recording *r, const extras *e)
{
	buffer *b = &w->scratch;
	size_t record = begin_record(b, OP_DATA_END);
	put(b, 0, 4); // no checksum of the data; each chunk has one
	end_record(b, record);
	flush(w);
	put_channels(b);
	for (size_t i = 0; i < w->chunk_count; i++)
		put_chunk_index(b, &w->chunks[i]);
	record = begin_record(b, OP_METADATA_INDEX);
	put(b, e->metadata_offset, 8);
	put(b, e->metadata_bytes, 8);
	put_text(b, "recording");
	end_record(b, record);
	if (r->scene.text) {
		record = begin_record(b, OP_ATTACHMENT_INDEX);
		put(b, e->scene_offset, 8);
		put(b, e->scene_bytes, 8);
		put(b, 0, 8);
		put(b, 0, 8);
		put(b, strlen(r->scene.text), 8);
		put_text(b, "scene.yaml");
		put_text(b, "application/yaml");
		end_record(b, record);
	}
	put_statistics(w, r->scene.text != NULL);
	record = begin_record(b, OP_FOOTER);
	put(b, w->offset, 8);               // where the summary begins
	put(b, 0, 8);                       // no offsets of its groups
	patch(b, record - 8, 8 + 8 + 4, 8); // its length is part of the checksum
	put(b, b->failed ? 0 : tac_crc32(0, b->bytes, b->size), 4);
	end_record(b, record);
}

static const uint8_t magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

static void write_file(writer *w, const tac_recording *r)
{
	buffer *b = &w->scratch;
	put_bytes(b, magic, sizeof magic);
	const size_t record = begin_record(b, OP_HEADER);
	put_text(b, "ros2");
	char library[64];
	snprintf(library, sizeof library, "tactus %s", tac_version());
	put_text(b, library);
	end_record(b, record);
	put_channels(b);
	flush(w);
	put_samples(w, r);
	const extras e = put_extras(w, r);
	put_summary(w, r, &e);
	put_bytes(b, magic, sizeof magic);
	flush(w);
}

tac_result tac_recording_export_mcap(const tac_recording *recording, const char *path)
{
	tac_output *output;
	tac_result result = tac_output_create(path, "MCAP", &output);
	if (result < TAC_OK)
		return result;
	writer *w = calloc(1, sizeof *w);
	if (w) {
		uint32_t held = 0;
		for (size_t i = 0; i < recording->count; i++)
			held |= recording->samples[i].state.buttons;
		while (w->buttons < 32 && held >> w->buttons)
			w->buttons++;
		w->gripper = recording->header.gripper_max_m > 0;
		w->file = tac_output_file(output);
		w->chunks = calloc(recording->count / CHUNK_SAMPLES + 1, sizeof *w->chunks);
		w->scratch.failed = !w->chunks;
		if (w->chunks)
			write_file(w, recording);
	}
	if (!w || w->scratch.failed) {
		tac_log(TAC_LOG_ERROR, "MCAP %s: expected memory, found none", path);
		tac_output_discard(&output);
		result = TAC_ERROR_MEMORY;
	} else {
		result = tac_output_commit(&output);
	}
	if (w) {
		free(w->scratch.bytes);
		free(w->messages.bytes);
		free(w->chunks);
	}
	free(w);
	return result;
}
