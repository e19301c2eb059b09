#include "devices/recording.h"

#include "base/assert.h"
#include "base/crc32.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS        21
#define NIBBLE_BYTES ((WORDS + 1) / 2)
#define BLOCK_HEADER 16

static const uint8_t magic[8] = {0x89, 'T', 'A', 'C', 'R', 'E', 'C', '\n'};
static const uint8_t block_magic[4] = {'T', 'B', 'L', 'K'};

// ---- bytes ----

static void put(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *bytes, int count)
{
	uint64_t value = 0;
	for (int i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

// ---- header ----

static void put_float(uint8_t *out, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	put(out, bits, 4);
}

// Reads a maximum; an invalid one counts as unknown.
static float get_maximum(const uint8_t *bytes)
{
	const uint32_t bits = (uint32_t)get(bytes, 4);
	float value;
	memcpy(&value, &bits, sizeof value);
	return isfinite(value) && value > 0 ? value : 0;
}

void tac_recording_encode_header(const tac_recording_header *header, uint8_t *out)
{
	memset(out, 0, TAC_RECORDING_HEADER_BYTES);
	memcpy(out, magic, sizeof magic);
	put(out + 8, TAC_RECORDING_VERSION, 2);
	put(out + 10, TAC_RECORDING_HEADER_BYTES, 2);
	put_float(out + 12, header->max_force_N);
	put(out + 16, (uint64_t)header->period_ns, 8);
	memcpy(out + 24, header->name, sizeof header->name - 1);
	memcpy(out + 56, header->serial, sizeof header->serial - 1);
	put_float(out + 88, header->max_torque_Nm);
	put(out + 92, tac_crc32(0, out, 92), 4);
}

tac_result tac_recording_decode_header(const uint8_t *bytes, size_t size, tac_recording_header *out_header,
				       int *out_version)
{
	memset(out_header, 0, sizeof *out_header);
	*out_version = 0;
	if (size < TAC_RECORDING_HEADER_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
		return TAC_ERROR_FORMAT;
	const int version = (int)get(bytes + 8, 2);
	if (version != TAC_RECORDING_VERSION) {
		*out_version = version;
		return TAC_ERROR_FORMAT;
	}
	if (get(bytes + 10, 2) != TAC_RECORDING_HEADER_BYTES || get(bytes + 92, 4) != tac_crc32(0, bytes, 92))
		return TAC_ERROR_FORMAT;
	*out_version = version;
	out_header->max_force_N = get_maximum(bytes + 12);
	out_header->max_torque_Nm = get_maximum(bytes + 88);
	out_header->period_ns = (int64_t)get(bytes + 16, 8);
	memcpy(out_header->name, bytes + 24, sizeof out_header->name - 1);
	memcpy(out_header->serial, bytes + 56, sizeof out_header->serial - 1);
	return TAC_OK;
}

// ---- samples ----

// The numbers of a sample in the order of the file, without time and buttons.
static void sample_numbers(const tac_recording_sample *sample, double *out)
{
	const tac_dquat q = sample->state.T_base_tool.rotation;
	tac_dvec3_store(out, sample->state.T_base_tool.position);
	out[3] = q.x;
	out[4] = q.y;
	out[5] = q.z;
	out[6] = q.w;
	tac_dvec3_store(out + 7, sample->state.velocity_m_per_s);
	tac_dvec3_store(out + 10, sample->state.angular_velocity_rad_per_s);
	tac_dvec3_store(out + 13, sample->wrench.force_N);
	tac_dvec3_store(out + 16, sample->wrench.torque_Nm);
}

static void sample_to_words(const tac_recording_sample *sample, uint64_t *out)
{
	double numbers[WORDS - 2];
	sample_numbers(sample, numbers);
	out[0] = (uint64_t)sample->state.time_ns;
	memcpy(out + 1, numbers, sizeof numbers);
	out[WORDS - 1] = sample->state.buttons | (uint64_t)sample->status << 32;
}

static tac_recording_sample sample_from_words(const uint64_t *words)
{
	double n[WORDS - 2];
	memcpy(n, words + 1, sizeof n);
	tac_recording_sample sample = {
		.state = {.time_ns = (int64_t)words[0],
			  .T_base_tool = {tac_dvec3_load(n), tac_dquat_make(n[3], n[4], n[5], n[6])},
			  .velocity_m_per_s = tac_dvec3_load(n + 7),
			  .angular_velocity_rad_per_s = tac_dvec3_load(n + 10),
			  .buttons = (uint32_t)words[WORDS - 1]},
		.wrench = {tac_dvec3_load(n + 13), tac_dvec3_load(n + 16)},
	};
	// An unknown status, of a later version, becomes STALE.
	const uint64_t status = words[WORDS - 1] >> 32;
	sample.status = status < TAC_DEVICE_STATUS_COUNT ? (tac_device_status)status : TAC_DEVICE_STALE;
	return sample;
}

// The sample before, against which differences are taken.
typedef struct previous {
	uint64_t word[WORDS];
	uint64_t step; // last difference of times
} previous;

static void difference(previous *last, const uint64_t *words, uint64_t *out)
{
	const uint64_t step = words[0] - last->word[0];
	out[0] = step - last->step;
	out[0] = out[0] << 1 ^ (0 - (out[0] >> 63)); // small numbers of either sign have few bytes
	last->step = step;
	for (int i = 1; i < WORDS; i++)
		out[i] = words[i] ^ last->word[i];
	memcpy(last->word, words, sizeof last->word);
}

static void undo_difference(previous *last, const uint64_t *differences)
{
	last->step += differences[0] >> 1 ^ (0 - (differences[0] & 1));
	last->word[0] += last->step;
	for (int i = 1; i < WORDS; i++)
		last->word[i] ^= differences[i];
}

static int bytes_of(uint64_t value)
{
	return value == 0 ? 0 : 8 - __builtin_clzll(value) / 8;
}

size_t tac_recording_encode_block(const tac_recording_sample *samples, uint32_t count, uint8_t *out)
{
	TAC_ASSERT(count > 0 && count <= TAC_RECORDING_BLOCK_SAMPLES);
	previous last = {{0}, 0};
	uint8_t *at = out + BLOCK_HEADER;
	for (uint32_t s = 0; s < count; s++) {
		uint64_t words[WORDS], differences[WORDS];
		sample_to_words(&samples[s], words);
		difference(&last, words, differences);
		uint8_t *lengths = at;
		memset(lengths, 0, NIBBLE_BYTES);
		at += NIBBLE_BYTES;
		for (int i = 0; i < WORDS; i++) {
			const int bytes = bytes_of(differences[i]);
			lengths[i / 2] = (uint8_t)(lengths[i / 2] | bytes << 4 * (i % 2));
			put(at, differences[i], bytes);
			at += bytes;
		}
	}
	const size_t payload = (size_t)(at - out) - BLOCK_HEADER;
	memcpy(out, block_magic, sizeof block_magic);
	put(out + 4, payload, 4);
	put(out + 8, count, 4);
	put(out + 12, tac_crc32(tac_crc32(0, out, 12), out + BLOCK_HEADER, payload), 4);
	return BLOCK_HEADER + payload;
}

// The length in a block's header; 0 if it is no header or the length is too large.
static size_t block_length(const uint8_t *bytes, size_t size)
{
	if (size < BLOCK_HEADER || memcmp(bytes, block_magic, sizeof block_magic) != 0)
		return 0;
	const uint64_t length = BLOCK_HEADER + get(bytes + 4, 4), count = get(bytes + 8, 4);
	return length <= TAC_RECORDING_BLOCK_BYTES_MAX && length <= size && count > 0 &&
			       count <= TAC_RECORDING_BLOCK_SAMPLES
		       ? (size_t)length
		       : 0;
}

size_t tac_recording_decode_block(const uint8_t *bytes, size_t size, tac_recording_sample *out_samples,
				  uint32_t *out_count)
{
	*out_count = 0;
	const size_t length = block_length(bytes, size);
	if (length == 0 || get(bytes + 12, 4) != tac_crc32(tac_crc32(0, bytes, 12), bytes + BLOCK_HEADER,
							   length - BLOCK_HEADER))
		return 0;
	const uint32_t count = (uint32_t)get(bytes + 8, 4);
	const uint8_t *at = bytes + BLOCK_HEADER, *end = bytes + length;
	previous last = {{0}, 0};
	for (uint32_t s = 0; s < count; s++) {
		const uint8_t *lengths = at;
		if (end - at < NIBBLE_BYTES)
			return 0;
		at += NIBBLE_BYTES;
		uint64_t differences[WORDS];
		for (int i = 0; i < WORDS; i++) {
			const int word_bytes = lengths[i / 2] >> 4 * (i % 2) & 15;
			if (word_bytes > 8 || end - at < word_bytes)
				return 0;
			differences[i] = get(at, word_bytes);
			at += word_bytes;
		}
		undo_difference(&last, differences);
		out_samples[s] = sample_from_words(last.word);
	}
	if (at != end)
		return 0;
	*out_count = count;
	return length;
}

// ---- whole files ----

// The next offset, at `from` or later, at which a block may start; `size` if there is none.
static size_t next_block(const uint8_t *bytes, size_t size, size_t from)
{
	for (size_t i = from; i + sizeof block_magic <= size; i++) {
		if (memcmp(bytes + i, block_magic, sizeof block_magic) == 0)
			return i;
	}
	return size;
}

tac_result tac_recording_decode(const uint8_t *bytes, size_t size, const char *name,
				tac_recording *out_recording)
{
	tac_recording *r = out_recording;
	memset(r, 0, sizeof *r);
	int version;
	if (tac_recording_decode_header(bytes, size, &r->header, &version) != TAC_OK) {
		if (version != 0)
			tac_log(TAC_LOG_ERROR, "recording %s: expected version %d, found %d", name,
				TAC_RECORDING_VERSION, version);
		else
			tac_log(TAC_LOG_ERROR, "recording %s: expected a header of a recording, found %s",
				name, size < TAC_RECORDING_HEADER_BYTES ? "too few bytes" : "something else");
		return TAC_ERROR_FORMAT;
	}
	size_t capacity = 0, at = TAC_RECORDING_HEADER_BYTES;
	while (at < size) {
		if (capacity - r->count < TAC_RECORDING_BLOCK_SAMPLES) {
			capacity = 2 * capacity + TAC_RECORDING_BLOCK_SAMPLES;
			tac_recording_sample *more = realloc(r->samples, capacity * sizeof *more);
			if (!more) {
				tac_log(TAC_LOG_ERROR,
					"recording %s: expected memory for %zu samples, found none", name,
					capacity);
				tac_recording_fini(r);
				return TAC_ERROR_MEMORY;
			}
			r->samples = more;
		}
		uint32_t count;
		const size_t length =
			tac_recording_decode_block(bytes + at, size - at, r->samples + r->count, &count);
		if (length > 0) {
			r->count += count;
			at += length;
		} else {
			const size_t next = next_block(bytes, size, at + 1);
			r->lost_bytes += next - at;
			at = next;
		}
	}
	if (r->lost_bytes > 0) {
		tac_log(TAC_LOG_WARNING,
			"recording %s: %zu of %zu bytes are damaged or missing, %zu samples are left", name,
			r->lost_bytes, size, r->count);
		return TAC_PARTIAL;
	}
	return TAC_OK;
}

static tac_result fail_io(const char *doing, const char *path)
{
	tac_log(TAC_LOG_ERROR, "recording %s: expected to %s it, found: %s", path, doing, strerror(errno));
	return TAC_ERROR_IO;
}

tac_result tac_recording_load(const char *path, tac_recording *out_recording)
{
	memset(out_recording, 0, sizeof *out_recording);
	FILE *file = fopen(path, "rb");
	if (!file)
		return fail_io("open", path);
	uint8_t *bytes = NULL;
	size_t size = 0, capacity = 0;
	while (!feof(file) && !ferror(file)) {
		if (size == capacity) {
			capacity = 2 * capacity + 65536;
			uint8_t *more = realloc(bytes, capacity);
			if (!more) {
				tac_log(TAC_LOG_ERROR,
					"recording %s: expected %zu bytes of memory, found none", path,
					capacity);
				free(bytes);
				fclose(file);
				return TAC_ERROR_MEMORY;
			}
			bytes = more;
		}
		size += fread(bytes + size, 1, capacity - size, file);
	}
	tac_result result = ferror(file) ? fail_io("read", path) : TAC_OK;
	fclose(file);
	if (result == TAC_OK)
		result = tac_recording_decode(bytes, size, path, out_recording);
	free(bytes);
	return result;
}

void tac_recording_fini(tac_recording *recording)
{
	free(recording->samples);
	memset(recording, 0, sizeof *recording);
}

tac_result tac_recording_export_csv(const tac_recording *recording, const char *path)
{
	const bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdout : fopen(path, "w");
	if (!file)
		return fail_io("open", path);
	fputs("t_s,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz,buttons,status\n", file);
	for (size_t i = 0; i < recording->count; i++) {
		const tac_recording_sample *sample = &recording->samples[i];
		// Damaged times may have any value; their difference wraps instead of overflowing.
		const int64_t time_ns = (int64_t)((uint64_t)sample->state.time_ns -
						  (uint64_t)recording->samples[0].state.time_ns);
		double numbers[WORDS - 2];
		sample_numbers(sample, numbers);
		fprintf(file, "%.9f", (double)time_ns / 1e9);
		for (int n = 0; n < WORDS - 2; n++)
			fprintf(file, ",%.17g", numbers[n]);
		fprintf(file, ",%" PRIu32 ",%s\n", sample->state.buttons,
			tac_device_status_name(sample->status));
	}
	const bool failed = ferror(file) != 0;
	return (standard ? fflush(file) : fclose(file)) != 0 || failed ? fail_io("write", path) : TAC_OK;
}
