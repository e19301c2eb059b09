// The connection supervisor: a thread that connects to a board, uploads the trees, notices failures and
// reconnects. It holds the connection while the board is not ready for queries.
#include "base/crc32.h"
#include "base/log.h"
#include "devices/board/board_connection.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>

#define ANSWER_NS        (2 * TAC_NS_PER_S)   // to requests other than queries
#define CHECK_NS         (50 * TAC_NS_PER_MS) // between two checks of an idle connection
#define RETRY_FIRST_NS   (20 * TAC_NS_PER_MS) // after a failed attempt; doubles up to RETRY_LAST_NS
#define RETRY_LAST_NS    (5 * TAC_NS_PER_S)
#define LATE_LOG_NS      TAC_NS_PER_S          // least time between two log lines about late queries
#define HELLOS           3                     // attempts per connection
#define PACKET_BYTES     512                   // of a bulk endpoint at high speed
#define HOLD_INTERVAL_NS (100 * TAC_NS_PER_US) // between two attempts to take the connection

static bool stopped(void *user)
{
	return atomic_load(&((tac_board *)user)->stop);
}

// ---- requests ----

// Sends the `count` bytes encoded into the buffer and receives an answer of that type.
static tac_board_outcome exchange(tac_board *board, size_t count, tac_board_type type,
				  tac_board_message *out_message)
{
	if (count == 0)
		return TAC_BOARD_IMPOSSIBLE;
	tac_usb_status status = tac_usb_send(board->usb, (uint32_t)count);
	if (status != TAC_USB_OK)
		return tac_board_outcome_of(status);
	tac_board_outcome outcome = tac_board_receive(board, tac_clock_now_ns() + ANSWER_NS, out_message);
	if (outcome == TAC_BOARD_ANSWERED &&
	    (out_message->type != type || out_message->sequence != board->sequence))
		outcome = TAC_BOARD_OUT_OF_ORDER;
	return outcome;
}

// One HELLO. Answers to requests of a connection that was cut may still arrive; they are skipped.
static tac_board_outcome hello(tac_board *board, int64_t deadline_ns, tac_board_message *out_message)
{
	void *buffer = tac_usb_buffer(board->usb);
	if (!buffer)
		return TAC_BOARD_UNRESPONSIVE;
	size_t count =
		tac_board_empty_encode(buffer, board->def.message_max, ++board->sequence, TAC_BOARD_HELLO);
	tac_board_outcome outcome = tac_board_outcome_of(tac_usb_send(board->usb, (uint32_t)count));
	while (outcome == TAC_BOARD_ANSWERED) {
		outcome = tac_board_receive(board, deadline_ns, out_message);
		if (out_message->type == TAC_BOARD_CAPABILITIES && out_message->sequence == board->sequence)
			break;
	}
	return outcome;
}

static tac_board_outcome identify(tac_board *board)
{
	const int64_t deadline_ns = tac_clock_now_ns() + ANSWER_NS;
	tac_board_message message = {0};
	tac_board_outcome outcome = TAC_BOARD_DENIED;
	// After a message that was cut off, the board takes its rest and the first HELLO as one and refuses
	// it.
	for (int i = 0; i < HELLOS && outcome == TAC_BOARD_DENIED; i++)
		outcome = hello(board, deadline_ns, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	tac_board_capabilities *c = &board->capabilities;
	// Another major version has different registers.
	if (tac_board_capabilities_decode(&message, c) != TAC_BOARD_OK || c->chip_id != TAC_CHIP_ID_VALUE ||
	    c->chip_version >> 16 != TAC_CHIP_VERSION_VALUE >> 16)
		return TAC_BOARD_IMPOSSIBLE;
	uint32_t most = c->in_max < board->def.message_max ? c->in_max : board->def.message_max;
	board->hits_max = (most - TAC_BOARD_OVERHEAD - TAC_BOARD_RESULT_HEAD) / 8;
	return TAC_BOARD_ANSWERED;
}

static tac_board_outcome write_chunk(tac_board *board, const tac_board_chunk *chunk)
{
	tac_board_message message;
	tac_board_range range;
	void *buffer = tac_usb_buffer(board->usb);
	if (!buffer)
		return TAC_BOARD_UNRESPONSIVE;
	size_t count = tac_board_chunk_encode(buffer, board->def.message_max, ++board->sequence, chunk);
	tac_board_outcome outcome = exchange(board, count, TAC_BOARD_MEMORY_WRITTEN, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	bool same = tac_board_range_decode(&message, &range) == TAC_BOARD_OK &&
		    range.address == chunk->address && range.count == chunk->count;
	return same ? TAC_BOARD_ANSWERED : TAC_BOARD_IMPOSSIBLE;
}

static tac_board_outcome check_memory(tac_board *board, const tac_chip_shape *shape)
{
	tac_board_message message;
	tac_board_sum sum;
	void *buffer = tac_usb_buffer(board->usb);
	if (!buffer)
		return TAC_BOARD_UNRESPONSIVE;
	size_t count = tac_board_range_encode(buffer, board->def.message_max, ++board->sequence,
					      TAC_BOARD_MEMORY_CHECK,
					      (tac_board_range){shape->address, shape->count});
	tac_board_outcome outcome = exchange(board, count, TAC_BOARD_MEMORY_SUM, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	bool same = tac_board_sum_decode(&message, &sum) == TAC_BOARD_OK &&
		    sum.range.address == shape->address && sum.range.count == shape->count &&
		    sum.crc == tac_crc32(0, shape->bytes, shape->count);
	return same ? TAC_BOARD_ANSWERED : TAC_BOARD_IMPOSSIBLE;
}

static tac_board_outcome load(tac_board *board, tac_chip_shape *shape)
{
	uint32_t most = board->capabilities.out_max < board->def.message_max ? board->capabilities.out_max
									     : board->def.message_max;
	most = (most - TAC_BOARD_OVERHEAD - 4) / 256 * 256;
	if ((uint64_t)shape->address + shape->count > board->capabilities.memory_bytes) {
		shape->loaded = SHAPE_TOO_LARGE;
		return TAC_BOARD_ANSWERED;
	}
	for (uint32_t at = 0; at < shape->count; at += most) {
		uint32_t left = shape->count - at;
		tac_board_chunk chunk = {.address = shape->address + at,
					 .count = left < most ? left : most,
					 .bytes = (const uint8_t *)shape->bytes + at};
		tac_board_outcome outcome = write_chunk(board, &chunk);
		if (outcome != TAC_BOARD_ANSWERED)
			return outcome;
	}
	tac_board_outcome outcome = check_memory(board, shape);
	if (outcome == TAC_BOARD_ANSWERED) {
		shape->loaded = (uint32_t)atomic_load(&board->connection);
		atomic_fetch_add(&board->loaded_bytes, shape->count);
	}
	return outcome;
}

// Uploads every tree that this connection does not have yet, with `lock` held.
static tac_board_outcome load_all(tac_board *board)
{
	const uint32_t connection = (uint32_t)atomic_load(&board->connection);
	tac_board_outcome outcome = TAC_BOARD_ANSWERED;
	pthread_mutex_lock(&board->lock);
	board->loading = true;
	for (tac_chip_shape *s = board->space.first; s && outcome == TAC_BOARD_ANSWERED; s = s->next)
		if (s->loaded != connection && s->loaded != SHAPE_TOO_LARGE)
			outcome = load(board, s);
	board->loading = false;
	pthread_mutex_unlock(&board->lock);
	return outcome;
}

// ---- the connection ----

// Takes the connection from the queries. A running one ends by its deadline.
static void hold(tac_board *board)
{
	int nobody = HOLDER_NOBODY;
	while (atomic_load(&board->holder) != HOLDER_SUPERVISOR &&
	       !atomic_compare_exchange_strong(&board->holder, &nobody, HOLDER_SUPERVISOR)) {
		nobody = HOLDER_NOBODY;
		tac_clock_sleep_until_ns(tac_clock_now_ns() + HOLD_INTERVAL_NS);
	}
}

static void release(tac_board *board)
{
	atomic_store(&board->holder, HOLDER_NOBODY);
	pthread_mutex_lock(&board->lock);
	pthread_cond_broadcast(&board->changed);
	pthread_mutex_unlock(&board->lock);
}

// Of the holder.
static void disconnect(tac_board *board)
{
	atomic_store(&board->connected, false);
	tac_usb_close(&board->usb);
}

// Of the holder, while disconnected: opens the board and uploads every tree.
static bool connect(tac_board *board)
{
	tac_usb_def usb = tac_usb_def_default();
	usb.vendor_id = board->def.vendor_id;
	usb.product_id = board->def.product_id;
	usb.serial = board->def.serial;
	usb.out_endpoint = TAC_BOARD_OUT_ENDPOINT;
	usb.in_endpoint = TAC_BOARD_IN_ENDPOINT;
	usb.find_endpoints = true; // a USB bridge may have others
	usb.out_bytes = board->def.message_max;
	usb.in_bytes = (board->def.message_max / PACKET_BYTES + 1) * PACKET_BYTES;
	usb.out_limit_ms = ANSWER_NS / TAC_NS_PER_MS; // the deadline of a query is shorter
	usb.end_with_short = true;
	usb.clear_halts = true;
	usb.priority = board->def.priority;
	tac_board_outcome outcome = TAC_BOARD_NOT_CONNECTED;
	if (tac_usb_open(&usb, &board->usb) == TAC_OK) {
		board->aborting = false;
		atomic_store(&board->failure, TAC_BOARD_ANSWERED);
		atomic_fetch_add(&board->connection, 1);
		outcome = identify(board);
		if (outcome == TAC_BOARD_ANSWERED)
			outcome = load_all(board);
		if (outcome != TAC_BOARD_ANSWERED)
			tac_log(TAC_LOG_WARNING,
				"board: expected %s to answer HELLO and take the trees, found %s; trying "
				"again",
				tac_usb_serial(board->usb), tac_board_outcome_name(outcome));
	}
	if (outcome != TAC_BOARD_ANSWERED) {
		disconnect(board);
		atomic_fetch_add(&board->failed_connections, 1);
		return false;
	}
	atomic_fetch_add(&board->connections, 1);
	atomic_store(&board->connected, true);
	return true;
}

// Tries to connect until it succeeds, then releases the connection to the queries. False: it was stopped.
static bool reconnect(tac_board *board)
{
	tac_usb_def ids = {.vendor_id = board->def.vendor_id, .product_id = board->def.product_id};
	const int64_t since_ns = tac_clock_now_ns();
	const bool first = atomic_load(&board->connections) == 0;
	for (int64_t pause_ns = RETRY_FIRST_NS; !stopped(board);) {
		if (!tac_usb_wait(&ids, TAC_NS_PER_S, stopped, board))
			continue;
		if (connect(board)) {
			const tac_board_capabilities *c = &board->capabilities;
			if (first)
				tac_log(TAC_LOG_INFO,
					"board: %s connected, chip at %u MHz, %llu MiB of memory", c->serial,
					c->clock_hz / 1000000, (unsigned long long)(c->memory_bytes >> 20));
			else
				tac_log(TAC_LOG_INFO,
					"board: %s connected again after %lld ms, trees loaded and checked",
					c->serial,
					(long long)((tac_clock_now_ns() - since_ns) / TAC_NS_PER_MS));
			release(board);
			return true;
		}
		int64_t end_ns = tac_clock_now_ns() + pause_ns;
		while (tac_clock_now_ns() < end_ns && !stopped(board))
			tac_clock_sleep_until_ns(tac_clock_now_ns() + RETRY_FIRST_NS);
		pause_ns = 2 * pause_ns < RETRY_LAST_NS ? 2 * pause_ns : RETRY_LAST_NS;
	}
	return false;
}

// ---- the thread ----

static bool has_unloaded_shape(tac_board *board)
{
	const uint32_t connection = (uint32_t)atomic_load(&board->connection);
	bool any = false;
	pthread_mutex_lock(&board->lock);
	for (const tac_chip_shape *s = board->space.first; s; s = s->next)
		any = any || (s->loaded != connection && s->loaded != SHAPE_TOO_LARGE);
	pthread_mutex_unlock(&board->lock);
	return any;
}

// Checks the connection and uploads new shapes. ANSWERED: nothing is wrong.
static tac_board_outcome check(tac_board *board)
{
	tac_board_outcome outcome = (tac_board_outcome)atomic_load(&board->failure);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	if (tac_usb_first_error(board->usb) != TAC_USB_OK)
		return tac_board_outcome_of(tac_usb_first_error(board->usb));
	if (has_unloaded_shape(board)) {
		hold(board);
		outcome = load_all(board);
		release(board);
	}
	return outcome;
}

static void log_late(const tac_board *board, uint64_t *logged, int64_t *logged_at_ns)
{
	uint64_t late = atomic_load(&board->queries[TAC_BOARD_LATE]);
	if (late == *logged || tac_clock_now_ns() - *logged_at_ns < LATE_LOG_NS)
		return;
	tac_log(TAC_LOG_WARNING, "board: %llu queries were not answered within their budget",
		(unsigned long long)(late - *logged));
	*logged = late;
	*logged_at_ns = tac_clock_now_ns();
}

static void *supervisor_thread(void *user)
{
	tac_board *board = user;
	uint64_t late_logged = atomic_load(&board->queries[TAC_BOARD_LATE]);
	int64_t late_logged_ns = 0;
	bool connected = reconnect(board);
	while (connected && !stopped(board)) {
		struct timespec until = tac_clock_timespec(tac_clock_now_ns() + CHECK_NS);
		while (sem_clockwait(&board->wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
			;
		tac_board_outcome outcome = check(board);
		log_late(board, &late_logged, &late_logged_ns);
		if (outcome == TAC_BOARD_ANSWERED)
			continue;
		hold(board);
		tac_log(TAC_LOG_WARNING, "board: %s lost after %llu answers: %s; reconnecting",
			board->capabilities.serial,
			(unsigned long long)atomic_load(&board->queries[TAC_BOARD_ANSWERED]),
			tac_board_outcome_name(outcome));
		disconnect(board);
		connected = reconnect(board);
	}
	hold(board);
	disconnect(board);
	return NULL;
}

tac_result tac_board_supervisor_start(tac_board *board)
{
	atomic_store(&board->stop, false);
	tac_result result = tac_thread_start(&board->supervisor, supervisor_thread, board);
	board->supervisor_runs = result == TAC_OK;
	return result;
}

void tac_board_supervisor_stop(tac_board *board)
{
	atomic_store(&board->stop, true);
	sem_post(&board->wake);
	pthread_join(board->supervisor, NULL);
	board->supervisor_runs = false;
}
