#include "devices/recording.h"

#include "base/log.h"
#include "base/output.h"
#include "devices/recording/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the bytes of a file, or of memory ----

// At least this many bytes are in view unless the file ends before: more than the largest block.
#define VIEW_BYTES   ((size_t)512 * 1024)
#define BUFFER_BYTES (2 * VIEW_BYTES)

_Static_assert(TAC_RECORDING_SCENE_BYTES_MAX < VIEW_BYTES && TAC_RECORDING_BLOCK_BYTES_MAX < VIEW_BYTES,
	       "a block is in view as a whole");

typedef struct view {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset; // of the first byte in view
	int fd;          // -1: everything is in view
	uint8_t *buffer;
	bool ended; // the file ends with the view
} view;

// Moves on by `count` bytes, at most the size of the view. False with errno.
static bool advance(view *v, size_t count)
{
	v->bytes += count;
	v->size -= count;
	v->offset += count;
	if (v->ended || v->size >= VIEW_BYTES)
		return true;
	memmove(v->buffer, v->bytes, v->size);
	v->bytes = v->buffer;
	while (!v->ended && v->size < BUFFER_BYTES) {
		const ssize_t got = read(v->fd, v->buffer + v->size, BUFFER_BYTES - v->size);
		if (got < 0 && errno != EINTR)
			return false;
		v->ended = got == 0;
		v->size += got > 0 ? (size_t)got : 0;
	}
	return true;
}

// ---- reading ----

// After this many bytes of blocks whose checksum is wrong, the rest is given up: looking for intact blocks in
// bytes made for that purpose would take long.
#define WRONG_BYTES_MAX (UINT64_C(64) << 20)

typedef struct reader {
	const char *name; // for the log
	view view;
	tac_recording_chain chain;
	tac_recording *out;
	size_t capacity, command_capacity;
	uint64_t wrong_bytes;
	bool finished;
} reader;

static void note_damage(reader *r, const char *damage)
{
	if (r->out->damage)
		return;
	r->out->damage = damage;
	r->out->damage_offset = r->view.offset;
	r->out->damage_sample = r->out->count;
}

static tac_result fail_io(const char *doing, const char *path)
{
	tac_log(TAC_LOG_ERROR, "recording %s: expected to %s it, found: %s", path, doing, strerror(errno));
	return TAC_ERROR_IO;
}

static tac_result fail_memory(const reader *r)
{
	tac_log(TAC_LOG_ERROR, "recording %s: expected memory for %zu samples, found none", r->name,
		r->out->count + TAC_RECORDING_BLOCK_SAMPLES);
	return TAC_ERROR_MEMORY;
}

static bool reserve_samples(reader *r)
{
	if (r->capacity - r->out->count >= TAC_RECORDING_BLOCK_SAMPLES)
		return true;
	const size_t capacity = r->capacity + r->capacity / 2 + TAC_RECORDING_BLOCK_SAMPLES;
	tac_device_sample *more = realloc(r->out->samples, capacity * sizeof *more);
	if (!more)
		return false;
	r->out->samples = more;
	r->capacity = capacity;
	return true;
}

// A scene that took the place of the one before.
static tac_result take_later_scene(tac_recording *out, const tac_recording_block *block)
{
	const size_t count = out->later_scene_count + 1;
	tac_recording_scene *scenes = realloc(out->later_scenes, count * sizeof *scenes);
	out->later_scenes = scenes ? scenes : out->later_scenes;
	char **memory = realloc(out->later_memory, count * sizeof *memory);
	out->later_memory = memory ? memory : out->later_memory;
	if (!scenes || !memory)
		return TAC_ERROR_MEMORY;
	const tac_result result = tac_recording_decode_scene(block, &scenes[count - 1], &memory[count - 1]);
	out->later_scene_count += result == TAC_OK;
	return result;
}

static tac_result take_commands(reader *r, const tac_recording_block *block)
{
	tac_recording *out = r->out;
	if (r->command_capacity - out->command_count < TAC_RECORDING_BLOCK_COMMANDS) {
		const size_t capacity =
			r->command_capacity + r->command_capacity / 2 + TAC_RECORDING_BLOCK_COMMANDS;
		tac_recording_command *more = realloc(out->commands, capacity * sizeof *more);
		if (!more)
			return TAC_ERROR_MEMORY;
		out->commands = more;
		r->command_capacity = capacity;
	}
	const int count = tac_recording_decode_commands(block, out->commands + out->command_count);
	if (count < 0)
		return TAC_ERROR_FORMAT;
	out->command_count += (size_t)count;
	return TAC_OK;
}

static tac_result take_device(tac_recording *out, const tac_recording_block *block)
{
	out->has_device = tac_recording_decode_device(block, &out->device);
	if (!out->has_device) {
		out->device = (tac_device_info){0};
		return TAC_ERROR_FORMAT;
	}
	out->device.period_ns = out->header.period_ns;
	memcpy(out->device.name, out->header.name, sizeof out->device.name);
	memcpy(out->device.serial, out->header.serial, sizeof out->device.serial);
	return TAC_OK;
}

// Takes the contents of a block that is in its place. TAC_ERROR_FORMAT: they are malformed.
static tac_result take_block(reader *r, const tac_recording_block *block)
{
	tac_recording *out = r->out;
	uint64_t samples;
	switch (block->kind) {
	case TAC_RECORDING_SAMPLES:
		if (!reserve_samples(r))
			return TAC_ERROR_MEMORY;
		if (!tac_recording_decode_samples(block, out->samples + out->count))
			return TAC_ERROR_FORMAT;
		out->count += block->samples;
		return TAC_OK;
	case TAC_RECORDING_SCENE:
		if (block->sequence == 0)
			return tac_recording_decode_scene(block, &out->scene, &out->scene_memory);
		return out->version >= 3 ? take_later_scene(out, block) : TAC_ERROR_FORMAT;
	case TAC_RECORDING_COMMANDS:
		return take_commands(r, block);
	case TAC_RECORDING_DEVICE:
		return take_device(out, block);
	default:
		if (!tac_recording_decode_end(block, &samples, &out->unrecorded))
			return TAC_ERROR_FORMAT;
		if (samples != out->count)
			note_damage(r, "an end mark that counts other samples");
		r->finished = true;
		return TAC_OK;
	}
}

// What is wrong with the place of an intact block; NULL: nothing.
static const char *misplaced(const reader *r, const tac_recording_block *block)
{
	if (r->out->version == 1)
		return NULL;
	if (block->sequence > r->chain.sequence)
		return "a later block than expected: some are missing";
	if (block->sequence < r->chain.sequence)
		return "a block for the second time, or in the wrong place";
	return block->previous == r->chain.sum ? NULL : "a block that does not follow the one before";
}

// The bytes to skip, from the start of the view, to reach something that may be a block.
static size_t skip_of(const reader *r)
{
	const size_t next = tac_recording_find_block(r->out->version, r->view.bytes, r->view.size);
	// The first bytes of a block's mark may be in view, the last ones not yet.
	return next == r->view.size && !r->view.ended ? next - 3 : next;
}

static const char no_block[] = "bytes that are no intact block";

// Reads one block, or skips bytes that are none.
static tac_result read_block(reader *r)
{
	tac_recording_block block;
	const bool intact =
		tac_recording_decode_block(r->out->version, &r->chain, r->view.bytes, r->view.size, &block);
	const char *damage = intact ? misplaced(r, &block) : no_block;
	if (damage)
		note_damage(r, damage);
	// After missing blocks, those that follow are taken; the numbers must only increase.
	if (intact && (!damage || block.sequence > r->chain.sequence)) {
		r->chain.sequence = block.sequence + 1;
		r->chain.sum = block.sum;
		const tac_result taken = take_block(r, &block);
		if (taken == TAC_ERROR_MEMORY)
			return fail_memory(r);
		if (taken == TAC_OK)
			return advance(&r->view, block.length) ? TAC_OK : fail_io("read", r->name);
		note_damage(r, "a malformed block");
	}
	size_t skipped = intact ? block.length : skip_of(r);
	r->wrong_bytes += intact ? 0 : block.length;
	if (r->wrong_bytes > WRONG_BYTES_MAX)
		skipped = r->view.size;
	r->out->lost_bytes += skipped;
	return advance(&r->view, skipped) ? TAC_OK : fail_io("read", r->name);
}

static tac_result read_header(reader *r)
{
	size_t bytes;
	if (tac_recording_decode_header(r->view.bytes, r->view.size, &r->out->header, &r->out->version,
					&bytes, &r->chain) == TAC_OK)
		return advance(&r->view, bytes) ? TAC_OK : fail_io("read", r->name);
	if (r->out->version != 0)
		tac_log(TAC_LOG_ERROR, "recording %s: expected version 1 to %d, found %d", r->name,
			TAC_RECORDING_VERSION, r->out->version);
	else
		tac_log(TAC_LOG_ERROR, "recording %s: expected a header of a recording, found %s", r->name,
			r->view.size < TAC_RECORDING_HEADER_BYTES ? "too few bytes" : "something else");
	return TAC_ERROR_FORMAT;
}

// Notes what is missing or left over at the end.
static void check_end(reader *r, bool being_written)
{
	if (r->finished && r->view.size > 0) {
		note_damage(r, "bytes after the end mark");
		r->out->lost_bytes += r->view.size;
	}
	if (r->finished || r->out->version == 1)
		return;
	const char *missing = being_written ? "no end mark: it is still being written"
					    : "no end mark: its recorder was killed or could not write";
	// Whoever is killed in the middle of a write leaves a part of the last block.
	if (r->out->damage == no_block && r->out->damage_offset + r->out->lost_bytes == r->view.offset)
		r->out->damage = missing;
	note_damage(r, missing);
}

static tac_result report_damage(const reader *r)
{
	const tac_recording *out = r->out;
	if (!out->damage && out->unrecorded == 0)
		return TAC_OK;
	if (!out->damage)
		tac_log(TAC_LOG_WARNING,
			"recording %s: complete, but %" PRIu64
			" samples were lost while it was written; it has %zu",
			r->name, out->unrecorded, out->count);
	else
		tac_log(TAC_LOG_WARNING,
			"recording %s: incomplete: byte %" PRIu64 ", after %zu samples: found %s; %" PRIu64
			" bytes are skipped, %zu samples are left",
			r->name, out->damage_offset, out->damage_sample, out->damage, out->lost_bytes,
			out->count);
	return TAC_PARTIAL;
}

static bool being_written(int fd)
{
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

typedef enum extent { SCENE_ONLY, ALL, ALL_QUIETLY } extent;

// Reads everything, or the header and the scene alone.
static tac_result read_all(reader *r, extent what)
{
	tac_result result = read_header(r);
	if (what == SCENE_ONLY) {
		if (result == TAC_OK && r->out->version != 1 && r->view.size > 0)
			result = read_block(r);
		r->out->count = 0;
		r->out->damage = NULL;
	} else {
		while (result == TAC_OK && r->view.size > 0 && !r->finished)
			result = read_block(r);
		if (result == TAC_OK) {
			check_end(r, being_written(r->view.fd));
			result = what == ALL ? report_damage(r) : TAC_OK;
		}
	}
	if (result < TAC_OK)
		tac_recording_fini(r->out);
	return result;
}

tac_result tac_recording_decode(const uint8_t *bytes, size_t size, const char *name,
				tac_recording *out_recording)
{
	*out_recording = (tac_recording){0};
	reader r = {.name = name,
		    .view = {.bytes = bytes, .size = size, .fd = -1, .ended = true},
		    .out = out_recording};
	return read_all(&r, ALL);
}

// A pipe or device could wait or deliver bytes for ever. -1 after a log line.
static int open_regular(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) != 0) {
		fail_io("open", path);
	} else if (!S_ISREG(status.st_mode)) {
		tac_log(TAC_LOG_ERROR, "recording %s: expected a regular file, found %s", path,
			S_ISDIR(status.st_mode) ? "a folder" : "a pipe or a device");
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static tac_result load(const char *path, extent what, tac_recording *out_recording)
{
	*out_recording = (tac_recording){0};
	const int fd = open_regular(path);
	if (fd < 0)
		return TAC_ERROR_IO;
	reader r = {.name = path, .view = {.fd = fd, .buffer = malloc(BUFFER_BYTES)}, .out = out_recording};
	tac_result result;
	if (!r.view.buffer) {
		result = fail_memory(&r);
	} else {
		r.view.bytes = r.view.buffer;
		result = advance(&r.view, 0) ? read_all(&r, what) : fail_io("read", path);
	}
	free(r.view.buffer);
	close(fd);
	return result;
}

tac_result tac_recording_load(const char *path, tac_recording *out_recording)
{
	return load(path, ALL, out_recording);
}

tac_result tac_recording_load_scene(const char *path, tac_recording *out_recording)
{
	return load(path, SCENE_ONLY, out_recording);
}

tac_result tac_recording_load_quietly(const char *path, tac_recording *out_recording)
{
	return load(path, ALL_QUIETLY, out_recording);
}

void tac_recording_fini(tac_recording *recording)
{
	free(recording->samples);
	free(recording->commands);
	for (size_t i = 0; i < recording->later_scene_count; i++)
		free(recording->later_memory[i]);
	free(recording->later_scenes);
	free(recording->later_memory);
	free(recording->scene_memory);
	*recording = (tac_recording){0};
}

// ---- CSV ----

static void write_csv(const tac_recording *recording, FILE *file)
{
	const bool gripper = recording->header.gripper_max_m > 0;
	fputs("t_s,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz,buttons,status", file);
	fputs(gripper ? ",gripper_m,gripper_m_per_s,gripper_N\n" : "\n", file);
	for (size_t i = 0; i < recording->count; i++) {
		const tac_device_sample *sample = &recording->samples[i];
		// Damaged times may have any value; their difference wraps instead of overflowing.
		const int64_t time_ns = (int64_t)((uint64_t)sample->state.time_ns -
						  (uint64_t)recording->samples[0].state.time_ns);
		double values[TAC_RECORDING_VALUES];
		tac_recording_sample_values(sample, values);
		fprintf(file, "%.9f", (double)time_ns / 1e9);
		for (int n = 0; n < TAC_RECORDING_VALUES; n++)
			fprintf(file, ",%.17g", values[n]);
		fprintf(file, ",%" PRIu32 ",%s", sample->state.buttons,
			tac_device_status_name(sample->status));
		if (gripper)
			fprintf(file, ",%.17g,%.17g,%.17g", sample->state.gripper_m,
				sample->state.gripper_m_per_s, sample->gripper_N);
		fputc('\n', file);
	}
}

tac_result tac_recording_export_csv(const tac_recording *recording, const char *path)
{
	tac_output *output;
	const tac_result result = tac_output_create(path, "CSV", &output);
	if (result < TAC_OK)
		return result;
	write_csv(recording, tac_output_file(output));
	return tac_output_commit(&output);
}
