// The keeper: the thread that connects a board, loads the trees, notices when something is wrong, and begins
// again. It holds the link whenever there is none to use.
#include "base/assert.h"
#include "base/log.h"
#include "devices/board_private.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>

#define ANSWER_NS        (2 * TAC_NS_PER_S)   // to what is not a query
#define LOOK_NS          (50 * TAC_NS_PER_MS) // between two looks at an idle link
#define RETRY_FIRST_NS   (20 * TAC_NS_PER_MS) // after a connection that failed; doubles up to the last
#define RETRY_LAST_NS    (5 * TAC_NS_PER_S)
#define LATE_LOG_NS      TAC_NS_PER_S // late queries are logged at most this often
#define GREETINGS        3
#define PACKET_BYTES     512
#define HOLD_INTERVAL_NS (100 * TAC_NS_PER_US)

static bool stopped(void *user)
{
	return atomic_load(&((tac_board *)user)->stop);
}

// ---- conversation with a board ----

// Sends the `count` bytes that were encoded into the buffer and receives an answer of that type.
static tac_board_outcome exchange(tac_board *board, size_t count, tac_board_type type,
				  tac_board_message *out_message)
{
	if (count == 0)
		return TAC_BOARD_NONSENSE;
	tac_usb_status status = tac_usb_send(board->usb, (uint32_t)count);
	if (status != TAC_USB_OK)
		return board_outcome_of(status);
	tac_board_outcome outcome = board_receive(board, tac_clock_now_ns() + ANSWER_NS, out_message);
	if (outcome == TAC_BOARD_ANSWERED &&
	    (out_message->type != type || out_message->sequence != board->sequence))
		outcome = TAC_BOARD_ORDER;
	return outcome;
}

// One greeting. Answers to what was asked in a connection that was cut may still come: they are passed over.
static tac_board_outcome say_hello(tac_board *board, int64_t deadline_ns, tac_board_message *out_message)
{
	void *buffer = tac_usb_buffer(board->usb);
	if (buffer == NULL)
		return TAC_BOARD_STUCK;
	size_t count =
		tac_board_empty_encode(buffer, board->def.message_max, ++board->sequence, TAC_BOARD_HELLO);
	tac_board_outcome outcome = board_outcome_of(tac_usb_send(board->usb, (uint32_t)count));
	while (outcome == TAC_BOARD_ANSWERED) {
		outcome = board_receive(board, deadline_ns, out_message);
		if (out_message->type == TAC_BOARD_CAPABILITIES && out_message->sequence == board->sequence)
			break;
	}
	return outcome;
}

static tac_board_outcome greet(tac_board *board)
{
	const int64_t deadline_ns = tac_clock_now_ns() + ANSWER_NS;
	tac_board_message message = {0};
	tac_board_outcome outcome = TAC_BOARD_DENIED;
	// A message that was cut off in the middle swallows the first greeting, and the board refuses both.
	for (int i = 0; i < GREETINGS && outcome == TAC_BOARD_DENIED; ++i)
		outcome = say_hello(board, deadline_ns, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	tac_board_capabilities *c = &board->capabilities;
	// Another major version has other registers.
	if (tac_board_capabilities_decode(&message, c) != TAC_BOARD_OK || c->chip_id != TAC_CHIP_ID_VALUE ||
	    c->chip_version >> 16 != TAC_CHIP_VERSION_VALUE >> 16)
		return TAC_BOARD_NONSENSE;
	uint32_t most = c->in_max < board->def.message_max ? c->in_max : board->def.message_max;
	board->hits_fit = (most - TAC_BOARD_OVERHEAD - TAC_BOARD_RESULT_HEAD) / 8;
	return TAC_BOARD_ANSWERED;
}

static tac_board_outcome write_chunk(tac_board *board, const tac_board_chunk *chunk)
{
	tac_board_message message;
	tac_board_range range;
	void *buffer = tac_usb_buffer(board->usb);
	if (buffer == NULL)
		return TAC_BOARD_STUCK;
	size_t count = tac_board_chunk_encode(buffer, board->def.message_max, ++board->sequence, chunk);
	tac_board_outcome outcome = exchange(board, count, TAC_BOARD_MEMORY_WRITTEN, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	bool same = tac_board_range_decode(&message, &range) == TAC_BOARD_OK &&
		    range.address == chunk->address && range.count == chunk->count;
	return same ? TAC_BOARD_ANSWERED : TAC_BOARD_NONSENSE;
}

static tac_board_outcome check_memory(tac_board *board, const tac_chip_shape *shape)
{
	tac_board_message message;
	tac_board_sum sum;
	void *buffer = tac_usb_buffer(board->usb);
	if (buffer == NULL)
		return TAC_BOARD_STUCK;
	size_t count = tac_board_range_encode(buffer, board->def.message_max, ++board->sequence,
					      TAC_BOARD_MEMORY_CHECK,
					      (tac_board_range){shape->address, shape->count});
	tac_board_outcome outcome = exchange(board, count, TAC_BOARD_MEMORY_SUM, &message);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	bool same = tac_board_sum_decode(&message, &sum) == TAC_BOARD_OK &&
		    sum.range.address == shape->address && sum.range.count == shape->count &&
		    sum.crc == tac_board_crc(0, shape->bytes, shape->count);
	return same ? TAC_BOARD_ANSWERED : TAC_BOARD_NONSENSE;
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

// Loads every tree that this connection does not have yet. Other threads may take the lock in between.
static tac_board_outcome load_all(tac_board *board)
{
	const uint32_t connection = (uint32_t)atomic_load(&board->connection);
	tac_board_outcome outcome = TAC_BOARD_ANSWERED;
	pthread_mutex_lock(&board->lock);
	board->loading = true;
	for (tac_chip_shape *s = board->space.first; s != NULL && outcome == TAC_BOARD_ANSWERED; s = s->next)
		if (s->loaded != connection && s->loaded != SHAPE_TOO_LARGE)
			outcome = load(board, s);
	board->loading = false;
	pthread_mutex_unlock(&board->lock);
	return outcome;
}

// ---- the link ----

// Takes the link from the queries. One in work ends by its deadline.
static void hold(tac_board *board)
{
	int nobody = HOLDER_NOBODY;
	while (atomic_load(&board->holder) != HOLDER_KEEPER &&
	       !atomic_compare_exchange_strong(&board->holder, &nobody, HOLDER_KEEPER)) {
		nobody = HOLDER_NOBODY;
		tac_clock_sleep_until_ns(tac_clock_now_ns() + HOLD_INTERVAL_NS);
	}
}

static void let_go(tac_board *board)
{
	atomic_store(&board->holder, HOLDER_NOBODY);
	pthread_mutex_lock(&board->lock);
	pthread_cond_broadcast(&board->changed);
	pthread_mutex_unlock(&board->lock);
}

// As the holder.
static void disconnect(tac_board *board)
{
	atomic_store(&board->connected, false);
	tac_usb_close(&board->usb);
}

// As the holder, without a link: opens the board that is there and loads everything.
static bool connect(tac_board *board)
{
	tac_usb_def usb = tac_usb_def_default();
	usb.vendor_id = board->def.vendor_id;
	usb.product_id = board->def.product_id;
	usb.serial = board->def.serial;
	usb.out_endpoint = TAC_BOARD_OUT_ENDPOINT;
	usb.in_endpoint = TAC_BOARD_IN_ENDPOINT;
	usb.out_bytes = board->def.message_max;
	usb.in_bytes = (board->def.message_max / PACKET_BYTES + 1) * PACKET_BYTES;
	usb.out_limit_ms = ANSWER_NS / TAC_NS_PER_MS; // queries have deadlines of their own
	usb.end_with_short = true;
	usb.clear_halts = true;
	usb.priority = board->def.priority;
	tac_board_outcome outcome = TAC_BOARD_ABSENT;
	if (tac_usb_open(&usb, &board->usb) == TAC_OK) {
		board->aborting = false;
		atomic_store(&board->trouble, TAC_BOARD_ANSWERED);
		atomic_fetch_add(&board->connection, 1);
		outcome = greet(board);
		if (outcome == TAC_BOARD_ANSWERED)
			outcome = load_all(board);
		if (outcome != TAC_BOARD_ANSWERED)
			tac_log(TAC_LOG_WARNING,
				"board: expected %s to be greeted and loaded, found %s; trying again",
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

// Connects, however long it takes, and lets the queries have the link. False: told to stop.
static bool connect_again(tac_board *board)
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
			let_go(board);
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

static bool something_to_load(tac_board *board)
{
	const uint32_t connection = (uint32_t)atomic_load(&board->connection);
	bool some = false;
	pthread_mutex_lock(&board->lock);
	for (const tac_chip_shape *s = board->space.first; s != NULL; s = s->next)
		some = some || (s->loaded != connection && s->loaded != SHAPE_TOO_LARGE);
	pthread_mutex_unlock(&board->lock);
	return some;
}

// What is wrong with the link: ANSWERED means nothing.
static tac_board_outcome look(tac_board *board)
{
	tac_board_outcome outcome = (tac_board_outcome)atomic_load(&board->trouble);
	if (outcome != TAC_BOARD_ANSWERED)
		return outcome;
	if (tac_usb_trouble(board->usb) != TAC_USB_OK)
		return board_outcome_of(tac_usb_trouble(board->usb));
	if (something_to_load(board)) {
		hold(board);
		outcome = load_all(board);
		let_go(board);
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

static void *keeper_thread(void *user)
{
	tac_board *board = user;
	uint64_t late_logged = atomic_load(&board->queries[TAC_BOARD_LATE]);
	int64_t late_logged_ns = 0;
	bool connected = connect_again(board);
	while (connected && !stopped(board)) {
		struct timespec until = tac_clock_timespec(tac_clock_now_ns() + LOOK_NS);
		while (sem_clockwait(&board->call, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
			;
		tac_board_outcome outcome = look(board);
		log_late(board, &late_logged, &late_logged_ns);
		if (outcome == TAC_BOARD_ANSWERED)
			continue;
		hold(board);
		tac_log(TAC_LOG_WARNING, "board: %s lost after %llu answers: %s; connecting again",
			board->capabilities.serial,
			(unsigned long long)atomic_load(&board->queries[TAC_BOARD_ANSWERED]),
			tac_board_outcome_name(outcome));
		disconnect(board);
		connected = connect_again(board);
	}
	hold(board);
	disconnect(board);
	return NULL;
}

tac_result board_keeper_start(tac_board *board)
{
	atomic_store(&board->stop, false);
	tac_result result = tac_thread_start(&board->keeper, keeper_thread, board);
	board->keeper_runs = result == TAC_OK;
	return result;
}

void board_keeper_stop(tac_board *board)
{
	atomic_store(&board->stop, true);
	sem_post(&board->call);
	pthread_join(board->keeper, NULL);
	board->keeper_runs = false;
}
