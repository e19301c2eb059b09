#include "devices/recorder.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/output.h"
#include "devices/recording/format.h"
#include "rt/clock.h"
#include "rt/ring.h"
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_SAMPLES  16384 // 16 s at 1 kHz, 1.6 s at 10 kHz
#define RING_COMMANDS 4096
#define RING_SCENES   8
#define POLL_NS       (20 * TAC_NS_PER_MS)
// A sample is popped up to one poll after it was pushed, and its block is written at the first poll after it
// has waited this long.
#define COLLECT_NS (TAC_RECORDER_FLUSH_NS - 2 * POLL_NS)

struct tac_recorder {
	int fd;
	bool regular; // a file, not a stream: it can be locked, emptied and synced
	tac_ring *ring;
	tac_ring *commands, *scenes; // NULL: the recording has none
	pthread_t thread, sync_thread;
	bool started, sync_started;
	atomic_bool stop;
	sem_t sync_stop;
	_Atomic int sync_error; // errno of the first failed sync; 0: none
	_Atomic uint64_t unwritten;
	tac_result result;
	char path[256]; // for the log
	tac_recording_chain chain;
	uint64_t written;   // samples
	int64_t waiting_ns; // since when the first of `samples` waits
	tac_device_sample samples[TAC_RECORDING_BLOCK_SAMPLES];
	uint32_t count;
	uint8_t block[TAC_RECORDING_BLOCK_BYTES_MAX];
	tac_recording_command taken[TAC_RECORDING_BLOCK_COMMANDS];
};

_Static_assert(TAC_RECORDING_COMMANDS_BYTES_MAX <= TAC_RECORDING_BLOCK_BYTES_MAX, "commands fit the block");

static void fail(tac_recorder *recorder, const char *doing, int error)
{
	if (recorder->result == TAC_OK)
		tac_log(TAC_LOG_ERROR, "recorder %s: expected to %s it, found: %s", recorder->path, doing,
			strerror(error));
	recorder->result = TAC_ERROR_IO;
}

static void write_bytes(tac_recorder *recorder, const uint8_t *bytes, size_t size, uint32_t samples)
{
	int error = 0;
	if (recorder->result == TAC_OK)
		tac_output_write(recorder->fd, bytes, size, &error);
	if (error != 0)
		fail(recorder, "write", error);
	if (recorder->result == TAC_OK)
		recorder->written += samples;
	else
		atomic_fetch_add_explicit(&recorder->unwritten, samples, memory_order_relaxed);
}

// The scene with "" for a name and a folder that are not given.
static tac_recording_scene complete(const tac_recording_scene *scene)
{
	tac_recording_scene all = *scene;
	all.name = scene->name ? scene->name : "";
	all.folder = scene->folder ? scene->folder : "";
	return all;
}

static void write_scene(tac_recorder *recorder, const tac_recording_scene *scene)
{
	const size_t bytes = tac_recording_scene_bytes(scene);
	uint8_t *block = bytes > 0 ? malloc(bytes) : NULL;
	if (block)
		write_bytes(recorder, block, tac_recording_encode_scene(&recorder->chain, scene, block), 0);
	else if (bytes > 0)
		fail(recorder, "copy the scene to", ENOMEM);
	else
		tac_log(TAC_LOG_WARNING,
			"recorder %s: expected a scene of at most %d KiB, found a larger one; the recording "
			"will not contain it",
			recorder->path, TAC_RECORDING_SCENE_BYTES / 1024);
	free(block);
}

// ---- threads ----

static void write_block(tac_recorder *recorder)
{
	if (recorder->count == 0)
		return;
	const size_t size = tac_recording_encode_block(&recorder->chain, recorder->samples, recorder->count,
						       recorder->block);
	write_bytes(recorder, recorder->block, size, recorder->count);
	recorder->count = 0;
}

// Scenes first: a command may be the exchange for one.
static void drain_commands(tac_recorder *recorder)
{
	tac_recording_scene *scene;
	while (recorder->scenes && tac_ring_pop(recorder->scenes, &scene)) {
		write_scene(recorder, scene);
		free(scene);
	}
	uint32_t count = 0;
	while (recorder->commands && tac_ring_pop(recorder->commands, &recorder->taken[count])) {
		if (++count == TAC_RECORDING_BLOCK_COMMANDS || tac_ring_count(recorder->commands) == 0) {
			const size_t size = tac_recording_encode_commands(&recorder->chain, recorder->taken,
									  count, recorder->block);
			write_bytes(recorder, recorder->block, size, 0);
			count = 0;
		}
	}
}

static void drain(tac_recorder *recorder)
{
	drain_commands(recorder);
	const int64_t now_ns = tac_clock_now_ns();
	while (tac_ring_pop(recorder->ring, &recorder->samples[recorder->count])) {
		if (recorder->count == 0)
			recorder->waiting_ns = now_ns;
		if (++recorder->count == TAC_RECORDING_BLOCK_SAMPLES)
			write_block(recorder);
	}
	if (now_ns - recorder->waiting_ns >= COLLECT_NS)
		write_block(recorder);
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
			tac_clock_sleep_until_ns(tac_clock_now_ns() + POLL_NS);
	} while (!stop);
	write_block(recorder);
	return NULL;
}

// A thread of its own, because a sync can take longer than a block may wait.
static void *sync_thread(void *user)
{
	tac_recorder *recorder = user;
	for (;;) {
		const struct timespec until = tac_clock_timespec(tac_clock_now_ns() + TAC_RECORDER_SYNC_NS);
		if (sem_clockwait(&recorder->sync_stop, CLOCK_MONOTONIC, &until) == 0)
			return NULL;
		if (errno == ETIMEDOUT && fdatasync(recorder->fd) != 0) {
			int none = 0;
			atomic_compare_exchange_strong(&recorder->sync_error, &none, errno);
		}
	}
}

static void stop_threads(tac_recorder *recorder)
{
	atomic_store_explicit(&recorder->stop, true, memory_order_release);
	sem_post(&recorder->sync_stop);
	if (recorder->started)
		pthread_join(recorder->thread, NULL);
	if (recorder->sync_started)
		pthread_join(recorder->sync_thread, NULL);
}

// ---- set-up ----

// Opens and locks the file. It may be another recorder's, so its contents stay. False after a log line.
static bool open_file(tac_recorder *recorder, const char *path)
{
	// Not waiting for the reader of a pipe, but then for it to read.
	recorder->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	struct stat status;
	if (recorder->fd < 0 || fstat(recorder->fd, &status) != 0) {
		fail(recorder, "open", errno);
		return false;
	}
	recorder->regular = S_ISREG(status.st_mode);
	const int flags = fcntl(recorder->fd, F_GETFL);
	if (flags < 0 || fcntl(recorder->fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
		fail(recorder, "open", errno);
	} else if (recorder->regular && flock(recorder->fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK) {
			tac_log(TAC_LOG_ERROR,
				"recorder %s: expected a file that is not in use, found one that is being "
				"recorded or played back; it is unchanged",
				path);
			recorder->result = TAC_ERROR_IO;
		} else {
			fail(recorder, "lock", errno);
		}
	}
	return recorder->result == TAC_OK;
}

uint64_t tac_recorder_new_run(void)
{
	uint64_t run = 0;
	// Without random numbers, the time tells one run from another.
	if (getrandom(&run, sizeof run, GRND_NONBLOCK) != (ssize_t)sizeof run || run == 0)
		run = (uint64_t)tac_clock_now_ns() << 16 ^ (uint64_t)getpid() ^ 1;
	return run;
}

static void write_head(tac_recorder *recorder, const tac_recorder_def *def)
{
	if (recorder->regular && ftruncate(recorder->fd, 0) != 0) {
		fail(recorder, "empty", errno);
		return;
	}
	const tac_device_info *info = def->info;
	tac_recording_header header = {.period_ns = info->period_ns,
				       .max_force_N = (float)info->max_force_N,
				       .max_torque_Nm = (float)info->max_torque_Nm,
				       .gripper_max_m = (float)info->gripper_max_m,
				       .max_gripper_N = (float)info->max_gripper_N,
				       .run = def->run != 0 ? def->run : tac_recorder_new_run(),
				       .loop_period_ns = def->loop_period_ns};
	memcpy(header.name, info->name, sizeof header.name);
	memcpy(header.serial, info->serial, sizeof header.serial);
	uint8_t bytes[TAC_RECORDING_HEADER_BYTES];
	tac_recording_encode_header(&header, bytes, &recorder->chain);
	write_bytes(recorder, bytes, sizeof bytes, 0);
	if (recorder->result == TAC_OK && def->scene && def->scene->text) {
		const tac_recording_scene scene = complete(def->scene);
		write_scene(recorder, &scene);
	}
	const size_t device = tac_recording_encode_device(&recorder->chain, info, recorder->block);
	write_bytes(recorder, recorder->block, device, 0);
}

static tac_result start_threads(tac_recorder *recorder)
{
	tac_result result = recorder->result;
	if (result == TAC_OK)
		result = tac_thread_start(&recorder->thread, recorder_thread, recorder);
	recorder->started = result == TAC_OK;
	if (result == TAC_OK && recorder->regular) {
		result = tac_thread_start(&recorder->sync_thread, sync_thread, recorder);
		recorder->sync_started = result == TAC_OK;
	}
	return result;
}

// Marks the end, syncs and closes. The lock lasts until the file is closed.
static void finish_file(tac_recorder *recorder)
{
	if (recorder->sync_error != 0)
		fail(recorder, "sync", recorder->sync_error);
	if (recorder->result == TAC_OK) {
		uint8_t end[TAC_RECORDING_END_BYTES];
		write_bytes(recorder, end,
			    tac_recording_encode_end(&recorder->chain, recorder->written,
						     tac_recorder_lost(recorder), end),
			    0);
	}
	if (recorder->result == TAC_OK && recorder->regular && fsync(recorder->fd) != 0)
		fail(recorder, "sync", errno);
	if (close(recorder->fd) != 0)
		fail(recorder, "close", errno);
}

// Frees everything; the threads have ended.
static tac_result release(tac_recorder *recorder)
{
	tac_result result = recorder->result;
	if (result == TAC_OK && tac_recorder_lost(recorder) > 0)
		result = TAC_PARTIAL;
	tac_recording_scene *scene;
	while (recorder->scenes && tac_ring_pop(recorder->scenes, &scene))
		free(scene);
	tac_ring_destroy(&recorder->ring);
	tac_ring_destroy(&recorder->commands);
	tac_ring_destroy(&recorder->scenes);
	sem_destroy(&recorder->sync_stop);
	free(recorder);
	return result;
}

tac_result tac_recorder_create(const tac_recorder_def *def, tac_recorder **out_recorder)
{
	*out_recorder = NULL;
	tac_recorder *recorder = calloc(1, sizeof *recorder);
	if (!recorder) {
		tac_log(TAC_LOG_ERROR, "recorder %s: expected %zu bytes, found no memory", def->path,
			sizeof *recorder);
		return TAC_ERROR_MEMORY;
	}
	sem_init(&recorder->sync_stop, 0, 0);
	snprintf(recorder->path, sizeof recorder->path, "%s", def->path);
	tac_result result = TAC_ERROR_IO;
	if (open_file(recorder, def->path))
		result = tac_ring_create(RING_SAMPLES, sizeof(tac_device_sample), &recorder->ring);
	if (result == TAC_OK && def->commands)
		result = tac_ring_create(RING_COMMANDS, sizeof(tac_recording_command), &recorder->commands);
	if (result == TAC_OK && def->commands)
		result = tac_ring_create(RING_SCENES, sizeof(tac_recording_scene *), &recorder->scenes);
	if (result == TAC_OK) {
		write_head(recorder, def);
		result = start_threads(recorder);
	}
	if (result == TAC_OK) {
		*out_recorder = recorder;
		return TAC_OK;
	}
	stop_threads(recorder);
	if (recorder->fd >= 0)
		close(recorder->fd);
	release(recorder);
	return result;
}

// ---- the run ----

bool tac_recorder_write(tac_recorder *recorder, const tac_device_sample *sample)
{
	return tac_ring_push(recorder->ring, sample);
}

bool tac_recorder_write_command(tac_recorder *recorder, int64_t tick, const void *bytes, size_t size)
{
	TAC_ASSERT(recorder->commands && size <= TAC_RECORDING_COMMAND_BYTES);
	tac_recording_command command = {.tick = tick, .bytes = (uint32_t)size};
	memcpy(command.data, bytes, size);
	return tac_ring_push(recorder->commands, &command);
}

// A copy in one piece of memory.
static tac_recording_scene *copy_scene(const tac_recording_scene *scene)
{
	const char *const texts[3] = {scene->name, scene->folder, scene->text};
	size_t bytes = sizeof *scene;
	for (int i = 0; i < 3; i++)
		bytes += strlen(texts[i]) + 1;
	tac_recording_scene *copy = malloc(bytes);
	if (!copy)
		return NULL;
	*copy = *scene;
	char *at = (char *)(copy + 1);
	const char **const out[3] = {&copy->name, &copy->folder, &copy->text};
	for (int i = 0; i < 3; i++) {
		*out[i] = at;
		at = stpcpy(at, texts[i]) + 1;
	}
	return copy;
}

tac_result tac_recorder_add_scene(tac_recorder *recorder, const tac_recording_scene *scene)
{
	TAC_ASSERT(recorder->scenes);
	if (!scene->text) {
		tac_log(TAC_LOG_ERROR, "recorder %s: expected the text of a scene, found none",
			recorder->path);
		return TAC_ERROR_ARGUMENT;
	}
	const tac_recording_scene all = complete(scene);
	if (tac_recording_scene_bytes(&all) == 0 || tac_ring_count(recorder->scenes) == RING_SCENES) {
		tac_log(TAC_LOG_ERROR,
			"recorder %s: expected at most %d scenes that wait, of %d KiB each, found more",
			recorder->path, RING_SCENES, TAC_RECORDING_SCENE_BYTES / 1024);
		return TAC_ERROR_ARGUMENT;
	}
	tac_recording_scene *copy = copy_scene(&all);
	if (!copy) {
		tac_log(TAC_LOG_ERROR, "recorder %s: no memory for the scene", recorder->path);
		return TAC_ERROR_MEMORY;
	}
	tac_ring_push(recorder->scenes, &copy);
	return TAC_OK;
}

uint64_t tac_recorder_lost(const tac_recorder *recorder)
{
	return (recorder->ring ? tac_ring_refused(recorder->ring) : 0) +
	       (recorder->commands ? tac_ring_refused(recorder->commands) : 0) +
	       atomic_load_explicit(&recorder->unwritten, memory_order_relaxed);
}

tac_result tac_recorder_destroy(tac_recorder **recorder)
{
	if (!*recorder)
		return TAC_OK;
	stop_threads(*recorder);
	finish_file(*recorder);
	const tac_result result = release(*recorder);
	*recorder = NULL;
	return result;
}
