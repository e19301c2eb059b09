#include "devices/recording/format.h"

#include "base/assert.h"
#include "base/crc32.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS          (CLOCK_WORD + 2)
#define STATUS_WORD    (TAC_RECORDING_VALUES + 1)
#define GRIPPER        3                           // words of the gripper; since version 3
#define CLOCK_WORD     (STATUS_WORD + 1 + GRIPPER) // the first of two words of the tick; since version 4
#define HEADER_BYTES_1 96                          // of version 1
#define BLOCK_HEADER_1 16
#define SCENE_FIXED    16 // bytes of a scene before its hashes
#define COMMAND_FIXED  12 // bytes of a command before its data

static const uint8_t magic[8] = {0x89, 'T', 'A', 'C', 'R', 'E', 'C', '\n'};
static const uint8_t block_magic[TAC_RECORDING_BLOCK_KINDS][4] = {
	[TAC_RECORDING_SAMPLES] = {'T', 'B', 'L', 'K'}, [TAC_RECORDING_SCENE] = {'T', 'S', 'C', 'N'},
	[TAC_RECORDING_END] = {'T', 'E', 'N', 'D'},     [TAC_RECORDING_COMMANDS] = {'T', 'C', 'M', 'D'},
	[TAC_RECORDING_DEVICE] = {'T', 'D', 'E', 'V'},
};

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

static uint32_t get32(const uint8_t *bytes)
{
	return (uint32_t)get(bytes, 4);
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
	const uint32_t bits = get32(bytes);
	float value;
	memcpy(&value, &bits, sizeof value);
	return isfinite(value) && value > 0 ? value : 0;
}

void tac_recording_encode_header(const tac_recording_header *header, uint8_t *out,
				 tac_recording_chain *out_chain)
{
	const size_t sum_at = TAC_RECORDING_HEADER_BYTES - 4;
	memset(out, 0, TAC_RECORDING_HEADER_BYTES);
	memcpy(out, magic, sizeof magic);
	put(out + 8, TAC_RECORDING_VERSION, 2);
	put(out + 10, TAC_RECORDING_HEADER_BYTES, 2);
	put_float(out + 12, header->max_force_N);
	put(out + 16, (uint64_t)header->period_ns, 8);
	memcpy(out + 24, header->name, sizeof header->name - 1);
	memcpy(out + 56, header->serial, sizeof header->serial - 1);
	put_float(out + 88, header->max_torque_Nm);
	put_float(out + 92, header->max_gripper_N);
	put_float(out + 104, header->gripper_max_m);
	put(out + 96, header->run, 8);
	put(out + 108, (uint64_t)header->loop_period_ns, 8);
	const uint32_t sum = tac_crc32(0, out, sum_at);
	put(out + sum_at, sum, 4);
	*out_chain = (tac_recording_chain){.seed = sum, .sum = sum};
}

tac_result tac_recording_decode_header(const uint8_t *bytes, size_t size, tac_recording_header *out_header,
				       int *out_version, size_t *out_size, tac_recording_chain *out_chain)
{
	*out_header = (tac_recording_header){0};
	*out_chain = (tac_recording_chain){0};
	*out_version = 0;
	if (size < 12 || memcmp(bytes, magic, sizeof magic) != 0)
		return TAC_ERROR_FORMAT;
	const int version = (int)get(bytes + 8, 2);
	if (version < 1 || version > TAC_RECORDING_VERSION) {
		*out_version = version;
		return TAC_ERROR_FORMAT;
	}
	const size_t length = version == 1 ? HEADER_BYTES_1 : TAC_RECORDING_HEADER_BYTES;
	if (size < length || get(bytes + 10, 2) != length)
		return TAC_ERROR_FORMAT;
	const uint32_t sum = get32(bytes + length - 4);
	if (sum != tac_crc32(0, bytes, length - 4))
		return TAC_ERROR_FORMAT;
	*out_version = version;
	*out_size = length;
	*out_chain = (tac_recording_chain){.seed = sum, .sum = sum};
	out_header->max_force_N = get_maximum(bytes + 12);
	out_header->max_torque_Nm = get_maximum(bytes + 88);
	out_header->period_ns = (int64_t)get(bytes + 16, 8);
	memcpy(out_header->name, bytes + 24, sizeof out_header->name - 1);
	memcpy(out_header->serial, bytes + 56, sizeof out_header->serial - 1);
	if (version >= 3) {
		out_header->max_gripper_N = get_maximum(bytes + 92);
		out_header->gripper_max_m = get_maximum(bytes + 104);
	}
	out_header->run = version == 1 ? 0 : get(bytes + 96, 8);
	if (version >= 4 && (int64_t)get(bytes + 108, 8) > 0)
		out_header->loop_period_ns = (int64_t)get(bytes + 108, 8);
	return TAC_OK;
}

// ---- samples ----

void tac_recording_sample_values(const tac_device_sample *sample, double *out)
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

static void sample_to_words(const tac_device_sample *sample, uint64_t *out)
{
	double numbers[TAC_RECORDING_VALUES];
	const double gripper[GRIPPER] = {sample->state.gripper_m, sample->state.gripper_m_per_s,
					 sample->gripper_N};
	tac_recording_sample_values(sample, numbers);
	out[0] = (uint64_t)sample->state.time_ns;
	memcpy(out + 1, numbers, sizeof numbers);
	memcpy(out + STATUS_WORD + 1, gripper, sizeof gripper);
	out[STATUS_WORD] = sample->state.buttons | (uint64_t)(sample->status & 0xffff) << 32 |
			   (uint64_t)(sample->flags & 0xffff) << 48;
	out[CLOCK_WORD] = (uint64_t)sample->now_ns - (uint64_t)sample->state.time_ns;
	out[CLOCK_WORD + 1] = (uint64_t)sample->delay_ns;
}

// `count` words; those that a version lacks are 0, and all before version 4 lack flags.
static tac_device_sample sample_from_words(const uint64_t *words, int count)
{
	double n[TAC_RECORDING_VALUES], gripper[GRIPPER];
	memcpy(n, words + 1, sizeof n);
	memcpy(gripper, words + STATUS_WORD + 1, sizeof gripper);
	tac_device_sample sample = {
		.state = {.time_ns = (int64_t)words[0],
			  .T_base_tool = {tac_dvec3_load(n), tac_dquat_make(n[3], n[4], n[5], n[6])},
			  .velocity_m_per_s = tac_dvec3_load(n + 7),
			  .angular_velocity_rad_per_s = tac_dvec3_load(n + 10),
			  .buttons = (uint32_t)words[STATUS_WORD],
			  .gripper_m = gripper[0],
			  .gripper_m_per_s = gripper[1]},
		.wrench = {tac_dvec3_load(n + 13), tac_dvec3_load(n + 16)},
		.gripper_N = gripper[2],
		.now_ns = (int64_t)(words[0] + words[CLOCK_WORD]),
		.delay_ns = (int64_t)words[CLOCK_WORD + 1],
		.flags = count == WORDS ? (uint32_t)(words[STATUS_WORD] >> 48) : 0,
	};
	// An unknown status, of a later version, becomes STALE.
	const uint64_t status = words[STATUS_WORD] >> 32 & (count == WORDS ? 0xffff : 0xffffffff);
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

// The lengths of a sample's words, four bits each.
static int nibble_bytes(int words)
{
	return (words + 1) / 2;
}

static int bytes_of(uint64_t value)
{
	return value == 0 ? 0 : 8 - __builtin_clzll(value) / 8;
}

// ---- blocks ----

// Completes the block at `out`, whose payload is in place, and returns its length.
static size_t seal(tac_recording_chain *chain, tac_recording_block_kind kind, uint32_t samples,
		   size_t payload_bytes, uint8_t *out)
{
	memcpy(out, block_magic[kind], sizeof block_magic[kind]);
	put(out + 4, payload_bytes, 4);
	put(out + 8, samples, 4);
	put(out + 12, chain->sequence++, 4);
	put(out + 16, chain->sum, 4);
	chain->sum = tac_crc32(chain->seed, out, TAC_RECORDING_BLOCK_HEADER - 4);
	chain->sum = tac_crc32(chain->sum, out + TAC_RECORDING_BLOCK_HEADER, payload_bytes);
	put(out + TAC_RECORDING_BLOCK_HEADER - 4, chain->sum, 4);
	return TAC_RECORDING_BLOCK_HEADER + payload_bytes;
}

size_t tac_recording_encode_block(tac_recording_chain *chain, const tac_device_sample *samples,
				  uint32_t count, uint8_t *out)
{
	TAC_ASSERT(count > 0 && count <= TAC_RECORDING_BLOCK_SAMPLES);
	previous last = {{0}, 0};
	uint8_t *at = out + TAC_RECORDING_BLOCK_HEADER;
	for (uint32_t s = 0; s < count; s++) {
		uint64_t words[WORDS], differences[WORDS];
		sample_to_words(&samples[s], words);
		difference(&last, words, differences);
		uint8_t *lengths = at;
		memset(lengths, 0, (size_t)nibble_bytes(WORDS));
		at += nibble_bytes(WORDS);
		for (int i = 0; i < WORDS; i++) {
			const int bytes = bytes_of(differences[i]);
			lengths[i / 2] = (uint8_t)(lengths[i / 2] | bytes << 4 * (i % 2));
			put(at, differences[i], bytes);
			at += bytes;
		}
	}
	return seal(chain, TAC_RECORDING_SAMPLES, count, (size_t)(at - out) - TAC_RECORDING_BLOCK_HEADER,
		    out);
}

size_t tac_recording_scene_bytes(const tac_recording_scene *scene)
{
	const size_t texts = strlen(scene->name) + strlen(scene->folder) + strlen(scene->text);
	return texts > TAC_RECORDING_SCENE_BYTES || scene->mesh_count > TAC_RECORDING_MESHES
		       ? 0
		       : TAC_RECORDING_BLOCK_HEADER + SCENE_FIXED + 8 * (size_t)scene->mesh_count + texts;
}

size_t tac_recording_encode_scene(tac_recording_chain *chain, const tac_recording_scene *scene, uint8_t *out)
{
	const char *const texts[3] = {scene->name, scene->folder, scene->text};
	uint8_t *const payload = out + TAC_RECORDING_BLOCK_HEADER;
	uint8_t *at = payload + SCENE_FIXED;
	put(payload + 12, scene->mesh_count, 4);
	for (uint32_t i = 0; i < scene->mesh_count; i++, at += 8)
		put(at, scene->mesh_hashes[i], 8);
	for (int i = 0; i < 3; i++) {
		const size_t bytes = strlen(texts[i]);
		put(payload + 4 * i, bytes, 4);
		memcpy(at, texts[i], bytes);
		at += bytes;
	}
	return seal(chain, TAC_RECORDING_SCENE, 0, (size_t)(at - payload), out);
}

size_t tac_recording_encode_commands(tac_recording_chain *chain, const tac_recording_command *commands,
				     uint32_t count, uint8_t *out)
{
	TAC_ASSERT(count > 0 && count <= TAC_RECORDING_BLOCK_COMMANDS);
	uint8_t *at = out + TAC_RECORDING_BLOCK_HEADER;
	for (uint32_t i = 0; i < count; i++) {
		TAC_ASSERT(commands[i].bytes <= TAC_RECORDING_COMMAND_BYTES);
		put(at, (uint64_t)commands[i].tick, 8);
		put(at + 8, commands[i].bytes, 4);
		memcpy(at + COMMAND_FIXED, commands[i].data, commands[i].bytes);
		at += COMMAND_FIXED + commands[i].bytes;
	}
	return seal(chain, TAC_RECORDING_COMMANDS, 0, (size_t)(at - out) - TAC_RECORDING_BLOCK_HEADER, out);
}

// ---- the device ----

#define DEVICE_COUNTS  5
#define DEVICE_NUMBERS 26 // of which the first 20 are not negative; the others are the workspace
#define DEVICE_TIMES   2

static void device_fields(tac_device_info *info, int *counts[DEVICE_COUNTS - 1],
			  double *numbers[DEVICE_NUMBERS], int64_t *times[DEVICE_TIMES])
{
	int *const c[] = {&info->position_axes, &info->rotation_axes, &info->force_axes, &info->torque_axes};
	double *const n[] = {
		&info->max_force_N,        &info->max_torque_Nm,         &info->full_force_s,
		&info->weight_N,           &info->max_stiffness_N_per_m, &info->max_damping_N_s_per_m,
		&info->gripper_max_m,      &info->max_gripper_N,         &info->linear.mass,
		&info->linear.damping,     &info->linear.coulomb,        &info->linear.resolution,
		&info->angular.mass,       &info->angular.damping,       &info->angular.coulomb,
		&info->angular.resolution, &info->gripper.mass,          &info->gripper.damping,
		&info->gripper.coulomb,    &info->gripper.resolution,    &info->workspace_min_m.x,
		&info->workspace_min_m.y,  &info->workspace_min_m.z,     &info->workspace_max_m.x,
		&info->workspace_max_m.y,  &info->workspace_max_m.z};
	_Static_assert(sizeof n / sizeof *n == DEVICE_NUMBERS, "as documented");
	memcpy(counts, c, sizeof c);
	memcpy(numbers, n, sizeof n);
	times[0] = &info->delay_ns;
	times[1] = &info->hold_ns;
}

size_t tac_recording_encode_device(tac_recording_chain *chain, const tac_device_info *info, uint8_t *out)
{
	tac_device_info copy = *info;
	int *counts[DEVICE_COUNTS - 1];
	double *numbers[DEVICE_NUMBERS];
	int64_t *times[DEVICE_TIMES];
	uint8_t *at = out + TAC_RECORDING_BLOCK_HEADER;
	device_fields(&copy, counts, numbers, times);
	for (int i = 0; i < DEVICE_COUNTS - 1; i++, at += 4)
		put(at, (uint64_t)*counts[i], 4);
	put(at, copy.buttons, 4);
	at += 4;
	for (int i = 0; i < DEVICE_NUMBERS; i++, at += 8) {
		uint64_t bits;
		memcpy(&bits, numbers[i], sizeof bits);
		put(at, bits, 8);
	}
	for (int i = 0; i < DEVICE_TIMES; i++, at += 8)
		put(at, (uint64_t)*times[i], 8);
	return seal(chain, TAC_RECORDING_DEVICE, 0, TAC_RECORDING_DEVICE_BYTES - TAC_RECORDING_BLOCK_HEADER,
		    out);
}

// No device has more; what is beyond them is no device.
#define DEVICE_AXES_MAX    3
#define DEVICE_BUTTONS_MAX 32
#define DEVICE_NUMBER_MAX  1e9
#define DEVICE_TIME_MAX_NS INT64_C(1000000000)

bool tac_recording_decode_device(const tac_recording_block *block, tac_device_info *out_info)
{
	int *counts[DEVICE_COUNTS - 1];
	double *numbers[DEVICE_NUMBERS];
	int64_t *times[DEVICE_TIMES];
	const uint8_t *at = block->payload;
	*out_info = (tac_device_info){0};
	if (block->payload_bytes != TAC_RECORDING_DEVICE_BYTES - TAC_RECORDING_BLOCK_HEADER)
		return false;
	device_fields(out_info, counts, numbers, times);
	bool good = true;
	for (int i = 0; i < DEVICE_COUNTS - 1; i++, at += 4) {
		good &= get32(at) <= DEVICE_AXES_MAX;
		*counts[i] = good ? (int)get32(at) : 0;
	}
	out_info->buttons = get32(at);
	good &= out_info->buttons <= DEVICE_BUTTONS_MAX;
	at += 4;
	for (int i = 0; i < DEVICE_NUMBERS; i++, at += 8) {
		const uint64_t bits = get(at, 8);
		const double least = i < DEVICE_NUMBERS - 6 ? 0 : -DEVICE_NUMBER_MAX;
		memcpy(numbers[i], &bits, sizeof bits);
		good &= *numbers[i] >= least && *numbers[i] <= DEVICE_NUMBER_MAX;
	}
	for (int i = 0; i < DEVICE_TIMES; i++, at += 8) {
		*times[i] = (int64_t)get(at, 8);
		good &= *times[i] >= 0 && *times[i] <= DEVICE_TIME_MAX_NS;
	}
	return good;
}

size_t tac_recording_encode_end(tac_recording_chain *chain, uint64_t samples, uint64_t unrecorded,
				uint8_t *out)
{
	put(out + TAC_RECORDING_BLOCK_HEADER, samples, 8);
	put(out + TAC_RECORDING_BLOCK_HEADER + 8, unrecorded, 8);
	return seal(chain, TAC_RECORDING_END, 0, 16, out);
}

// The kind of the block that begins at `bytes`, at least four; TAC_RECORDING_BLOCK_KINDS: none.
static tac_recording_block_kind kind_of(int version, const uint8_t *bytes)
{
	const int kinds = version == 1   ? 1
			  : version == 2 ? TAC_RECORDING_COMMANDS
			  : version == 3 ? TAC_RECORDING_DEVICE
					 : TAC_RECORDING_BLOCK_KINDS;
	for (int kind = 0; kind < kinds; kind++) {
		if (memcmp(bytes, block_magic[kind], sizeof block_magic[kind]) == 0)
			return (tac_recording_block_kind)kind;
	}
	return TAC_RECORDING_BLOCK_KINDS;
}

bool tac_recording_decode_block(int version, const tac_recording_chain *chain, const uint8_t *bytes,
				size_t size, tac_recording_block *out_block)
{
	static const size_t max[TAC_RECORDING_BLOCK_KINDS] = {
		[TAC_RECORDING_SAMPLES] = TAC_RECORDING_BLOCK_SAMPLES * TAC_RECORDING_SAMPLE_BYTES,
		[TAC_RECORDING_SCENE] = TAC_RECORDING_SCENE_BYTES_MAX - TAC_RECORDING_BLOCK_HEADER,
		[TAC_RECORDING_END] = TAC_RECORDING_END_BYTES - TAC_RECORDING_BLOCK_HEADER,
		[TAC_RECORDING_COMMANDS] = TAC_RECORDING_COMMANDS_BYTES_MAX - TAC_RECORDING_BLOCK_HEADER,
		[TAC_RECORDING_DEVICE] = TAC_RECORDING_DEVICE_BYTES - TAC_RECORDING_BLOCK_HEADER,
	};
	const size_t header = version == 1 ? BLOCK_HEADER_1 : TAC_RECORDING_BLOCK_HEADER;
	*out_block = (tac_recording_block){.kind = TAC_RECORDING_BLOCK_KINDS};
	if (size < header)
		return false;
	const tac_recording_block_kind kind = kind_of(version, bytes);
	const size_t payload_bytes = get32(bytes + 4);
	const uint32_t samples = get32(bytes + 8);
	if (kind == TAC_RECORDING_BLOCK_KINDS || payload_bytes > max[kind] || size - header < payload_bytes ||
	    samples > TAC_RECORDING_BLOCK_SAMPLES || (samples > 0) != (kind == TAC_RECORDING_SAMPLES))
		return false;
	*out_block = (tac_recording_block){.kind = kind,
					   .length = header + payload_bytes,
					   .samples = samples,
					   .words = version < 3    ? STATUS_WORD + 1
						    : version == 3 ? CLOCK_WORD
								   : WORDS,
					   .payload = bytes + header,
					   .payload_bytes = payload_bytes};
	uint32_t sum = tac_crc32(version == 1 ? 0 : chain->seed, bytes, header - 4);
	sum = tac_crc32(sum, bytes + header, payload_bytes);
	if (sum != get32(bytes + header - 4))
		return false;
	if (version != 1) {
		out_block->sequence = get32(bytes + 12);
		out_block->previous = get32(bytes + 16);
		out_block->sum = sum;
	}
	return true;
}

bool tac_recording_decode_samples(const tac_recording_block *block, tac_device_sample *out_samples)
{
	const uint8_t *at = block->payload, *end = at + block->payload_bytes;
	previous last = {{0}, 0};
	for (uint32_t s = 0; s < block->samples; s++) {
		const uint8_t *lengths = at;
		if (end - at < nibble_bytes(block->words))
			return false;
		at += nibble_bytes(block->words);
		uint64_t differences[WORDS] = {0};
		for (int i = 0; i < block->words; i++) {
			const int word_bytes = lengths[i / 2] >> 4 * (i % 2) & 15;
			if (word_bytes > 8 || end - at < word_bytes)
				return false;
			differences[i] = get(at, word_bytes);
			at += word_bytes;
		}
		undo_difference(&last, differences);
		out_samples[s] = sample_from_words(last.word, block->words);
	}
	return at == end;
}

int tac_recording_decode_commands(const tac_recording_block *block, tac_recording_command *out_commands)
{
	const uint8_t *at = block->payload, *end = at + block->payload_bytes;
	int count = 0;
	while (at < end) {
		if (count == TAC_RECORDING_BLOCK_COMMANDS || end - at < COMMAND_FIXED)
			return -1;
		tac_recording_command *c = &out_commands[count++];
		*c = (tac_recording_command){.tick = (int64_t)get(at, 8), .bytes = get32(at + 8)};
		at += COMMAND_FIXED;
		if (c->bytes > TAC_RECORDING_COMMAND_BYTES || end - at < (ptrdiff_t)c->bytes)
			return -1;
		memcpy(c->data, at, c->bytes);
		at += c->bytes;
	}
	return count;
}

tac_result tac_recording_decode_scene(const tac_recording_block *block, tac_recording_scene *out_scene,
				      char **out_memory)
{
	*out_scene = (tac_recording_scene){0};
	*out_memory = NULL;
	if (block->payload_bytes < SCENE_FIXED)
		return TAC_ERROR_FORMAT;
	uint64_t needed = SCENE_FIXED + 8 * get(block->payload + 12, 4);
	const uint8_t *at = block->payload + SCENE_FIXED;
	for (int i = 0; i < 3; i++)
		needed += get(block->payload + 4 * i, 4);
	const uint32_t meshes = get32(block->payload + 12);
	if (meshes > TAC_RECORDING_MESHES || needed != block->payload_bytes)
		return TAC_ERROR_FORMAT;
	char *memory = malloc(block->payload_bytes + 3); // each text ends with a 0
	if (!memory)
		return TAC_ERROR_MEMORY;
	*out_memory = memory;
	for (uint32_t i = 0; i < meshes; i++, at += 8)
		out_scene->mesh_hashes[i] = get(at, 8);
	out_scene->mesh_count = meshes;
	const char **const texts[3] = {&out_scene->name, &out_scene->folder, &out_scene->text};
	for (int i = 0; i < 3; i++) {
		const size_t bytes = get32(block->payload + 4 * i);
		memcpy(memory, at, bytes);
		memory[bytes] = '\0';
		*texts[i] = memory;
		memory += bytes + 1;
		at += bytes;
	}
	return TAC_OK;
}

bool tac_recording_decode_end(const tac_recording_block *block, uint64_t *out_samples,
			      uint64_t *out_unrecorded)
{
	if (block->payload_bytes != TAC_RECORDING_END_BYTES - TAC_RECORDING_BLOCK_HEADER)
		return false;
	*out_samples = get(block->payload, 8);
	*out_unrecorded = get(block->payload + 8, 8);
	return true;
}

size_t tac_recording_find_block(int version, const uint8_t *bytes, size_t size)
{
	for (size_t i = 1; i + 4 <= size; i++) {
		if (bytes[i] == 'T' && kind_of(version, bytes + i) != TAC_RECORDING_BLOCK_KINDS)
			return i;
	}
	return size;
}
