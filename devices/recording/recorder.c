#include "devices/recorder.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/ring.h"
#include "rt/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_SAMPLES 4096 // 4 s at 1 kHz

struct tac_recorder {
	FILE *file;
	tac_ring *ring;
	pthread_t thread;
	atomic_bool stop;
	_Atomic uint64_t unwritten;
	tac_result result;
	char path[256]; // for the log
	tac_recording_sample samples[TAC_RECORDING_BLOCK_SAMPLES];
	uint32_t count;
	uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX];
};

static void write_bytes(tac_recorder *recorder, const uint8_t *bytes, size_t size, uint32_t samples)
{
	if (recorder->result == TAC_OK &&
	    (fwrite(bytes, 1, size, recorder->file) != size || fflush(recorder->file) != 0)) {
		recorder->result = TAC_ERROR_IO;
		tac_log(TAC_LOG_ERROR, "recorder %s: expected to write %zu bytes, found: %s", recorder->path,
			size, strerror(errno));
	}
	if (recorder->result != TAC_OK)
		atomic_fetch_add_explicit(&recorder->unwritten, samples, memory_order_relaxed);
}

static void write_block(tac_recorder *recorder)
{
	if (recorder->count == 0)
		return;
	const size_t size = tac_recording_encode_block(recorder->samples, recorder->count, recorder->block);
	write_bytes(recorder, recorder->block, size, recorder->count);
	recorder->count = 0;
}

static void drain(tac_recorder *recorder)
{
	while (tac_ring_pop(recorder->ring, &recorder->samples[recorder->count])) {
		if (++recorder->count == TAC_RECORDING_BLOCK_SAMPLES)
			write_block(recorder);
	}
}

static void *recorder_thread(void *user)
{
	tac_recorder *recorder = user;
	// Read before the ring is drained: samples pushed before `stop` must not stay in it.
	bool stop;
	do {
		stop = atomic_load_explicit(&recorder->stop, memory_order_acquire);
		drain(recorder);
		if (!stop)
			tac_clock_sleep_until_ns(tac_clock_now_ns() + 20 * TAC_NS_PER_MS);
	} while (!stop);
	write_block(recorder);
	return NULL;
}

// Closes and frees everything; the thread has ended, or was never started.
static tac_result release(tac_recorder *recorder)
{
	tac_result result = recorder->result;
	if (recorder->file && fclose(recorder->file) != 0 && result == TAC_OK) {
		result = TAC_ERROR_IO;
		tac_log(TAC_LOG_ERROR, "recorder %s: expected to close it, found: %s", recorder->path,
			strerror(errno));
	}
	if (result == TAC_OK && recorder->ring && tac_recorder_lost(recorder) > 0)
		result = TAC_PARTIAL;
	tac_ring_destroy(&recorder->ring);
	free(recorder);
	return result;
}

tac_result tac_recorder_create(const char *path, const tac_device_info *info, tac_recorder **out_recorder)
{
	*out_recorder = NULL;
	tac_recorder *recorder = calloc(1, sizeof *recorder);
	if (!recorder) {
		tac_log(TAC_LOG_ERROR, "recorder %s: expected %zu bytes, found no memory", path,
			sizeof *recorder);
		return TAC_ERROR_MEMORY;
	}
	snprintf(recorder->path, sizeof recorder->path, "%s", path);
	recorder->file = fopen(path, "wb");
	if (!recorder->file) {
		tac_log(TAC_LOG_ERROR, "recorder %s: expected to open it, found: %s", path, strerror(errno));
		release(recorder);
		return TAC_ERROR_IO;
	}
	tac_recording_header header = {.period_ns = info->period_ns,
				       .max_force_N = (float)info->max_force_N,
				       .max_torque_Nm = (float)info->max_torque_Nm};
	memcpy(header.name, info->name, sizeof header.name);
	memcpy(header.serial, info->serial, sizeof header.serial);
	uint8_t bytes[TAC_RECORDING_HEADER_BYTES];
	tac_recording_encode_header(&header, bytes);
	write_bytes(recorder, bytes, sizeof bytes, 0);
	tac_result result = recorder->result;
	if (result == TAC_OK)
		result = tac_ring_create(RING_SAMPLES, sizeof(tac_recording_sample), &recorder->ring);
	if (result == TAC_OK)
		result = tac_thread_start(&recorder->thread, recorder_thread, recorder);
	if (result != TAC_OK) {
		release(recorder);
		return result;
	}
	*out_recorder = recorder;
	return TAC_OK;
}

bool tac_recorder_write(tac_recorder *recorder, const tac_recording_sample *sample)
{
	return tac_ring_push(recorder->ring, sample);
}

uint64_t tac_recorder_lost(const tac_recorder *recorder)
{
	return tac_ring_refused(recorder->ring) +
	       atomic_load_explicit(&recorder->unwritten, memory_order_relaxed);
}

tac_result tac_recorder_destroy(tac_recorder **recorder)
{
	if (!*recorder)
		return TAC_OK;
	atomic_store_explicit(&(*recorder)->stop, true, memory_order_release);
	pthread_join((*recorder)->thread, NULL);
	const tac_result result = release(*recorder);
	*recorder = NULL;
	return result;
}
