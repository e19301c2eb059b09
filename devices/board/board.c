#include "devices/board.h"

#include "base/assert.h"
#include "base/log.h"
#include "devices/board/board_connection.h"
#include "rt/clock.h"

#include <stdlib.h>
#include <string.h>

// The most cycles that the chip spends on a pair of nodes: a list of one pair, with its triangles.
#define CYCLES_PER_NODE 200

tac_board_def tac_board_def_default(void)
{
	return (tac_board_def){
		.vendor_id = TAC_BOARD_VENDOR_ID,
		.product_id = TAC_BOARD_PRODUCT_ID,
		.connect_ns = 3 * TAC_NS_PER_S,
		.answer_ns = TAC_NS_PER_S,
		.abort_ns = 100 * TAC_NS_PER_MS,
		.message_max = UINT32_C(256) << 10,
	};
}

const char *tac_board_outcome_name(tac_board_outcome outcome)
{
	static const char *const names[TAC_BOARD_OUTCOME_COUNT] = {
		[TAC_BOARD_ANSWERED] = "answered",
		[TAC_BOARD_NOT_CONNECTED] = "no board",
		[TAC_BOARD_BUSY] = "busy with another query",
		[TAC_BOARD_LATE] = "not answered in time",
		[TAC_BOARD_UNRESPONSIVE] = "an unresponsive board",
		[TAC_BOARD_CHIP_ERROR] = "stopped by the chip",
		[TAC_BOARD_TRUNCATED] = "more hits than fit",
		[TAC_BOARD_CORRUPT] = "a corrupt answer",
		[TAC_BOARD_SHORT_ANSWER] = "a short answer",
		[TAC_BOARD_OUT_OF_ORDER] = "an answer out of order",
		[TAC_BOARD_IMPOSSIBLE] = "an impossible answer",
		[TAC_BOARD_DENIED] = "a refusal",
		[TAC_BOARD_STALLED] = "a stall",
		[TAC_BOARD_BUS_ERROR] = "a bus error",
		[TAC_BOARD_UNPLUGGED] = "unplugged",
	};
	return outcome < TAC_BOARD_OUTCOME_COUNT ? names[outcome] : "unknown outcome";
}

// ---- the connection ----

tac_board_outcome tac_board_outcome_of(tac_usb_status status)
{
	switch (status) {
	case TAC_USB_OK:
		return TAC_BOARD_ANSWERED;
	case TAC_USB_TIMEOUT:
		return TAC_BOARD_LATE;
	case TAC_USB_FULL:
		return TAC_BOARD_UNRESPONSIVE;
	case TAC_USB_STALL:
		return TAC_BOARD_STALLED;
	case TAC_USB_OVERFLOW:
		return TAC_BOARD_CORRUPT;
	case TAC_USB_LOST:
		return TAC_BOARD_UNPLUGGED;
	case TAC_USB_ERROR:
	case TAC_USB_STATUS_COUNT:
		break;
	}
	return TAC_BOARD_BUS_ERROR;
}

tac_board_outcome tac_board_receive(tac_board *board, int64_t deadline_ns, tac_board_message *out_message)
{
	const uint8_t *bytes;
	uint32_t count;
	tac_usb_status status = tac_usb_receive(board->usb, deadline_ns, &bytes, &count);
	if (status == TAC_USB_TIMEOUT && tac_usb_first_error(board->usb) != TAC_USB_OK)
		return TAC_BOARD_UNRESPONSIVE; // the board takes no more data
	if (status != TAC_USB_OK)
		return tac_board_outcome_of(status);
	switch (tac_board_decode(bytes, count, out_message)) {
	case TAC_BOARD_OK:
		return out_message->type == TAC_BOARD_REFUSED ? TAC_BOARD_DENIED : TAC_BOARD_ANSWERED;
	case TAC_BOARD_SHORT:
		return TAC_BOARD_SHORT_ANSWER;
	default:
		return TAC_BOARD_CORRUPT;
	}
}

// Ends the connection: the supervisor takes over.
static void give_up(tac_board *board, tac_board_outcome reason)
{
	atomic_store(&board->connected, false);
	atomic_store(&board->failure, (int)reason);
	sem_post(&board->wake);
}

// ---- queries: the real-time thread ----

// Sends ABORT for the running query. False: it cannot be sent.
static bool send_abort(tac_board *board, int64_t now_ns)
{
	void *buffer = tac_usb_buffer(board->usb);
	if (!buffer)
		return false;
	board->abort_sequence = ++board->sequence;
	size_t count =
		tac_board_empty_encode(buffer, TAC_BOARD_OVERHEAD, board->abort_sequence, TAC_BOARD_ABORT);
	board->aborting = tac_usb_send(board->usb, (uint32_t)count) == TAC_USB_OK;
	board->abort_since_ns = now_ns;
	return board->aborting;
}

// Waits for the answer to the last abort. Only the RESULT of the aborted query may come before it; anything
// else is an error.
static tac_board_outcome finish_abort(tac_board *board, int64_t now_ns, int64_t deadline_ns)
{
	for (int i = 0; i < 2; i++) {
		tac_board_message message;
		tac_board_outcome outcome = tac_board_receive(board, deadline_ns, &message);
		if (outcome == TAC_BOARD_LATE && now_ns - board->abort_since_ns > board->def.abort_ns)
			return TAC_BOARD_UNRESPONSIVE;
		if (outcome != TAC_BOARD_ANSWERED)
			return outcome;
		if (message.type == TAC_BOARD_ABORTED && message.sequence == board->abort_sequence) {
			board->aborting = false;
			return TAC_BOARD_ANSWERED;
		}
		if (message.type != TAC_BOARD_RESULT)
			return TAC_BOARD_OUT_OF_ORDER;
	}
	return TAC_BOARD_OUT_OF_ORDER;
}

static uint64_t cycle_limit(const tac_board *board, const tac_budget *budget, int64_t now_ns)
{
	uint64_t limit = UINT64_MAX;
	if (budget->nodes > 0 && (uint64_t)budget->nodes < UINT64_MAX / CYCLES_PER_NODE)
		limit = (uint64_t)budget->nodes * CYCLES_PER_NODE;
	if (budget->deadline_ns > 0) {
		double cycles =
			(double)(budget->deadline_ns - now_ns) * 1e-9 * (double)board->capabilities.clock_hz;
		limit = cycles < (double)limit ? (uint64_t)cycles : limit;
	}
	return limit;
}

static tac_board_outcome send_query(tac_board *board, const tac_context *context, int64_t now_ns)
{
	void *buffer = tac_usb_buffer(board->usb);
	if (!buffer)
		return TAC_BOARD_UNRESPONSIVE;
	tac_chip_query query;
	tac_chip_batch batch;
	tac_chip_query_of(context, TAC_CHIP_CLOSED_TRI | TAC_CHIP_SCHED, &query);
	tac_chip_query_encode(&query, &batch);
	tac_board_query message = {
		.cycle_limit = cycle_limit(board, &context->budget, now_ns),
		.hits_max = board->hits_max,
		.write_count = batch.count,
	};
	_Static_assert(TAC_CHIP_BATCH_MAX <= TAC_BOARD_WRITES_MAX, "every batch fits a query");
	_Static_assert((int)TAC_CHIP_COUNTER_COUNT == TAC_BOARD_COUNTERS, "an answer has all counters");
	for (uint32_t i = 0; i < batch.count; i++)
		message.writes[i] = (tac_board_write){batch.writes[i].offset, batch.writes[i].value};
	size_t count = tac_board_query_encode(buffer, board->def.message_max, ++board->sequence, &message);
	return tac_board_outcome_of(tac_usb_send(board->usb, (uint32_t)count));
}

// Whether the answer is possible, so that nothing is read out of bounds later.
static bool is_possible(const tac_context *context, const tac_board_result *result, tac_overlap contact)
{
	if ((contact == TAC_OVERLAP_HIT) != (result->hit_total > 0))
		return false;
	if (context->mode == TAC_QUERY_FIRST && result->hit_total > 1)
		return false;
	for (uint32_t i = 0; i < result->hit_count; i++) {
		tac_board_hit hit = tac_board_result_hit(result, i);
		if (hit.tumbled >= (uint32_t)context->moving->mesh->triangle_count ||
		    hit.aligned >= (uint32_t)context->fixed->mesh->triangle_count)
			return false;
	}
	return true;
}

static tac_board_outcome take_result(tac_board *board, tac_context *context, const tac_board_message *message,
				     tac_overlap *out_contact)
{
	tac_board_result result;
	if (message->type != TAC_BOARD_RESULT || message->sequence != board->sequence)
		return TAC_BOARD_OUT_OF_ORDER;
	if (tac_board_result_decode(message, &result) != TAC_BOARD_OK)
		return TAC_BOARD_IMPOSSIBLE;
	context->counters = tac_chip_counters_of(result.counters);
	memcpy(context->scratch, result.counters, sizeof result.counters);
	tac_overlap contact = tac_chip_answer(result.status);
	if (contact == TAC_OVERLAP_UNKNOWN)
		return TAC_BOARD_CHIP_ERROR;
	if (!is_possible(context, &result, contact))
		return TAC_BOARD_IMPOSSIBLE;
	for (uint32_t i = 0; i < result.hit_count; i++) {
		tac_board_hit hit = tac_board_result_hit(&result, i);
		tac_context_report(context, (int32_t)hit.aligned, (int32_t)hit.tumbled);
	}
	if (result.hit_count < result.hit_total)
		return TAC_BOARD_TRUNCATED;
	*out_contact = contact;
	return TAC_BOARD_ANSWERED;
}

static bool is_loaded(const tac_board *board, const tac_shape *shape)
{
	return ((const tac_chip_shape *)shape)->loaded == atomic_load(&board->connection);
}

// Of the holder of the connection.
static tac_board_outcome query(tac_board *board, tac_context *context, tac_overlap *out_contact)
{
	const int64_t now_ns = tac_clock_now_ns();
	int64_t deadline_ns = context->budget.deadline_ns;
	if (deadline_ns == 0)
		deadline_ns = now_ns + board->def.answer_ns;
	if (!atomic_load(&board->connected) || !is_loaded(board, context->moving) ||
	    !is_loaded(board, context->fixed))
		return TAC_BOARD_NOT_CONNECTED;
	if (now_ns >= deadline_ns)
		return TAC_BOARD_LATE;
	tac_board_outcome outcome = TAC_BOARD_ANSWERED;
	if (board->aborting)
		outcome = finish_abort(board, now_ns, deadline_ns);
	bool sent = false;
	if (outcome == TAC_BOARD_ANSWERED) {
		outcome = send_query(board, context, now_ns);
		sent = outcome == TAC_BOARD_ANSWERED;
	}
	if (outcome == TAC_BOARD_ANSWERED) {
		tac_board_message message;
		outcome = tac_board_receive(board, deadline_ns, &message);
		if (outcome == TAC_BOARD_ANSWERED)
			outcome = take_result(board, context, &message, out_contact);
	}
	if (outcome == TAC_BOARD_LATE && sent && !send_abort(board, now_ns))
		outcome = TAC_BOARD_UNRESPONSIVE;
	switch (outcome) {
	case TAC_BOARD_ANSWERED:
	case TAC_BOARD_NOT_CONNECTED:
	case TAC_BOARD_BUSY:
	case TAC_BOARD_LATE:
	case TAC_BOARD_CHIP_ERROR:
	case TAC_BOARD_TRUNCATED:
		break;
	default:
		give_up(board, outcome);
	}
	return outcome;
}

static tac_overlap run(const tac_collider *self, tac_context *context, bool resume)
{
	tac_board *board = ((const board_engine *)self)->board;
	TAC_ASSERT(!resume); // a query is never left pending
	(void)resume;
	int holder = HOLDER_NOBODY;
	tac_overlap contact = TAC_OVERLAP_UNKNOWN;
	tac_board_outcome outcome;
	if (atomic_compare_exchange_strong(&board->holder, &holder, HOLDER_QUERY)) {
		outcome = query(board, context, &contact);
		atomic_store(&board->holder, HOLDER_NOBODY);
	} else {
		outcome = holder == HOLDER_SUPERVISOR ? TAC_BOARD_NOT_CONNECTED : TAC_BOARD_BUSY;
	}
	atomic_fetch_add(&board->queries[outcome], 1);
	return contact;
}

void tac_board_chip_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT])
{
	TAC_ASSERT(context->moving && context->moving->collider->build &&
		   context->moving->collider->run == run);
	memcpy(out_counters, context->scratch, TAC_CHIP_COUNTER_COUNT * sizeof out_counters[0]);
}

// ---- shapes: set-up ----

// With `setup` held.
static void discard(tac_board *board, tac_chip_shape *shape)
{
	pthread_mutex_lock(&board->lock);
	if (shape->bytes)
		board->shapes--;
	tac_chip_shape_destroy(&board->space, &shape);
	bool last = board->shapes == 0 && board->supervisor_runs;
	pthread_mutex_unlock(&board->lock);
	if (last)
		tac_board_supervisor_stop(board);
}

static void destroy_shape(tac_shape *base)
{
	tac_board *board = ((const board_engine *)base->collider)->board;
	pthread_mutex_lock(&board->setup);
	discard(board, (tac_chip_shape *)base);
	pthread_mutex_unlock(&board->setup);
}

// Waits, with `lock` held, until the supervisor has loaded the shape and released the connection.
static tac_result await_load(tac_board *board, const tac_chip_shape *shape)
{
	int64_t end_ns = tac_clock_now_ns() + board->def.connect_ns;
	while (shape->loaded == SHAPE_NOT_LOADED || atomic_load(&board->holder) == HOLDER_SUPERVISOR) {
		struct timespec until = tac_clock_timespec(tac_clock_now_ns() + 10 * TAC_NS_PER_MS);
		if (board->loading)
			end_ns = tac_clock_now_ns() + board->def.connect_ns;
		else if (tac_clock_now_ns() > end_ns)
			break;
		sem_post(&board->wake);
		pthread_cond_timedwait(&board->changed, &board->lock, &until);
	}
	if (shape->loaded != SHAPE_NOT_LOADED && shape->loaded != SHAPE_TOO_LARGE)
		return TAC_OK;
	if (shape->loaded == SHAPE_TOO_LARGE)
		tac_log(TAC_LOG_ERROR,
			"board: expected memory for a tree of %u bytes at %u, found %llu bytes in all",
			shape->count, shape->address, (unsigned long long)board->capabilities.memory_bytes);
	else
		tac_log(TAC_LOG_ERROR,
			"board: expected a board %04x:%04x%s%s to take a tree, found none for %lld ms",
			board->def.vendor_id, board->def.product_id,
			board->def.serial ? " with serial number " : "",
			board->def.serial ? board->def.serial : "",
			(long long)(board->def.connect_ns / TAC_NS_PER_MS));
	return shape->loaded == SHAPE_TOO_LARGE ? TAC_ERROR_MEMORY : TAC_ERROR_IO;
}

static tac_result build_shape(const tac_collider *self, const tac_mesh *mesh, tac_shape **out_shape)
{
	tac_board *board = ((const board_engine *)self)->board;
	tac_chip_shape *shape;
	pthread_mutex_lock(&board->setup);
	pthread_mutex_lock(&board->lock); // the supervisor sees complete shapes only
	tac_result result = tac_chip_shape_build(&board->space, self, mesh, &shape);
	if (result == TAC_OK && shape->bytes) {
		board->shapes++;
		if (!board->supervisor_runs)
			result = tac_board_supervisor_start(board);
		if (result == TAC_OK)
			result = await_load(board, shape);
	}
	pthread_mutex_unlock(&board->lock);
	if (result < 0 && shape)
		discard(board, shape);
	pthread_mutex_unlock(&board->setup);
	*out_shape = result < 0 ? NULL : &shape->base;
	return result;
}

tac_result tac_board_create(const tac_board_def *def, tac_board **out_board)
{
	*out_board = NULL;
	if (def->message_max < 4096 || def->message_max > TAC_BOARD_PAYLOAD_MAX + TAC_BOARD_OVERHEAD ||
	    def->connect_ns < 0 || def->answer_ns <= 0 || def->abort_ns <= 0) {
		tac_log(TAC_LOG_ERROR,
			"board: expected times above 0 and messages of 4096 to %u bytes, "
			"found %lld, %lld, %lld ns and %u bytes",
			TAC_BOARD_PAYLOAD_MAX + TAC_BOARD_OVERHEAD, (long long)def->connect_ns,
			(long long)def->answer_ns, (long long)def->abort_ns, def->message_max);
		return TAC_ERROR_ARGUMENT;
	}
	tac_board *board = calloc(1, sizeof *board);
	if (!board) {
		tac_log(TAC_LOG_ERROR, "board: no memory");
		return TAC_ERROR_MEMORY;
	}
	board->def = *def;
	board->engine = (board_engine){.base = {.name = "board",
						.flags = TAC_COLLIDER_TRIANGLES | TAC_COLLIDER_UPLOADS,
						.variant = "usb",
						.build = build_shape,
						.destroy = destroy_shape,
						.run = run},
				       .board = board};
	pthread_mutex_init(&board->setup, NULL);
	pthread_mutex_init(&board->lock, NULL);
	pthread_mutex_init(&board->space.lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&board->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sem_init(&board->wake, 0, 0);
	atomic_store(&board->holder, HOLDER_SUPERVISOR);
	*out_board = board;
	return TAC_OK;
}

void tac_board_destroy(tac_board **board)
{
	tac_board *b = *board;
	if (!b)
		return;
	TAC_ASSERT(b->shapes == 0);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->setup);
	pthread_mutex_destroy(&b->lock);
	pthread_mutex_destroy(&b->space.lock);
	sem_destroy(&b->wake);
	free(b);
	*board = NULL;
}

const tac_collider *tac_board_collider(const tac_board *board)
{
	return &board->engine.base;
}

tac_board_report tac_board_report_read(const tac_board *board)
{
	tac_board_report report = {
		.connected = atomic_load(&board->connected),
		.connections = atomic_load(&board->connections),
		.failed_connections = atomic_load(&board->failed_connections),
		.loaded_bytes = atomic_load(&board->loaded_bytes),
	};
	for (int i = 0; i < TAC_BOARD_OUTCOME_COUNT; i++)
		report.queries[i] = atomic_load(&board->queries[i]);
	return report;
}
