#include "devices/virtual_usb.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/rng.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define IN            0x80 // direction bit of an endpoint and of a request's type
#define ENDPOINTS     32   // 16 numbers, two directions
#define PACKET_MAX    1024
#define WAIT_LIMIT_NS (100 * TAC_NS_PER_MS) // the thread checks again after this in any case

// Chapter 9 of the USB specification.
enum {
	REQUEST_GET_STATUS = 0,
	REQUEST_CLEAR_FEATURE = 1,
	REQUEST_SET_FEATURE = 3,
	REQUEST_SET_ADDRESS = 5,
	REQUEST_GET_DESCRIPTOR = 6,
	REQUEST_GET_CONFIGURATION = 8,
	REQUEST_SET_CONFIGURATION = 9,
	REQUEST_GET_INTERFACE = 10,
	REQUEST_SET_INTERFACE = 11,
	DESCRIPTOR_DEVICE = 1,
	DESCRIPTOR_CONFIGURATION = 2,
	DESCRIPTOR_STRING = 3,
	DESCRIPTOR_ENDPOINT = 5,
	TYPE_MASK = 0x60, // standard, class, vendor
	RECIPIENT_MASK = 0x1F,
	RECIPIENT_ENDPOINT = 2,
	LANGUAGE_ENGLISH = 0x0409,
};

typedef struct endpoint {
	uint32_t packet_bytes;
	bool halted;
	tac_virtual_fault fault;
	int64_t fault_end_ns; // of SILENCE; 0: none
} endpoint;

struct tac_virtual_usb {
	tac_virtual_model *model;
	pthread_t thread;
	pthread_mutex_t lock;     // of everything below; never held while the model runs
	pthread_cond_t changed;   // the thread has work to do
	pthread_cond_t ended;     // `current` or `completing` has ended, or `tried` has changed
	tac_virtual_urb *first;   // in the order of submission
	tac_virtual_urb *current; // in progress
	endpoint endpoints[ENDPOINTS];
	bool stop, plugged, reset;
	bool completing;       // a transfer has left the queue and its owner does not have it yet
	uint64_t asked, tried; // cancellations; those before which the thread has tried all transfers
	uint8_t configuration;
	tac_rng rng;
	atomic_uint_fast64_t fault_count;

	// Of the device's thread.
	uint8_t packet[PACKET_MAX];
	uint8_t *corrupt; // copy of an OUT transfer with bits flipped
	uint32_t corrupt_bytes;
};

static int slot_of(uint8_t address)
{
	return (address & 15) | ((address & IN) != 0 ? 16 : 0);
}

// What the device's thread did with a transfer.
typedef enum progress {
	WAITS, // nothing can move on this endpoint now
	ENDED, // status and done are set
} progress;

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static void read_endpoints(tac_virtual_usb *device)
{
	const uint8_t *p = device->model->configuration_descriptor, *end = p + get16(p + 2);
	device->endpoints[slot_of(0)].packet_bytes = device->endpoints[slot_of(IN)].packet_bytes = 64;
	for (; p + 2 <= end && p[0] >= 2; p += p[0])
		if (p[1] == DESCRIPTOR_ENDPOINT && p[0] >= 7 && p + 7 <= end) {
			uint32_t bytes = get16(p + 4) & 0x7FF;
			device->endpoints[slot_of(p[2])].packet_bytes =
				bytes < PACKET_MAX ? bytes : PACKET_MAX;
		}
}

// ---- control requests ----

static uint32_t string_descriptor(const tac_virtual_model *model, uint8_t index, uint8_t *out)
{
	uint32_t length = 2;
	if (index == 0) {
		out[2] = LANGUAGE_ENGLISH & 0xFF;
		out[3] = LANGUAGE_ENGLISH >> 8;
		length = 4;
	} else {
		const char *text = NULL;
		for (int i = 1; i <= index && model->strings[i - 1]; i++)
			text = i == index ? model->strings[i - 1] : NULL;
		if (!text)
			return 0;
		for (; *text != 0 && length < 254; text++) { // UTF-16 of ASCII
			out[length++] = (uint8_t)*text;
			out[length++] = 0;
		}
	}
	out[0] = (uint8_t)length;
	out[1] = DESCRIPTOR_STRING;
	return length;
}

// Returns the bytes of the data stage, or STALL. `bytes` holds TAC_VIRTUAL_CONTROL_MAX.
static int standard_request(tac_virtual_usb *device, const tac_virtual_setup *setup, uint8_t *bytes)
{
	const tac_virtual_model *model = device->model;
	endpoint *target = &device->endpoints[slot_of((uint8_t)setup->index)];
	bool on_endpoint = (setup->type & RECIPIENT_MASK) == RECIPIENT_ENDPOINT;
	uint32_t length = 0;
	switch (setup->request) {
	case REQUEST_GET_DESCRIPTOR:
		switch (setup->value >> 8) {
		case DESCRIPTOR_DEVICE:
			length = model->device_descriptor[0];
			memcpy(bytes, model->device_descriptor, length);
			return (int)length;
		case DESCRIPTOR_CONFIGURATION:
			length = get16(model->configuration_descriptor + 2);
			length = length < TAC_VIRTUAL_CONTROL_MAX ? length : TAC_VIRTUAL_CONTROL_MAX;
			memcpy(bytes, model->configuration_descriptor, length);
			return (int)length;
		case DESCRIPTOR_STRING:
			length = string_descriptor(model, (uint8_t)setup->value, bytes);
			return length > 0 ? (int)length : TAC_VIRTUAL_STALL;
		default: // also the qualifier: the device has one speed
			return TAC_VIRTUAL_STALL;
		}
	case REQUEST_GET_STATUS:
		bytes[0] = on_endpoint && target->halted;
		bytes[1] = 0;
		return 2;
	case REQUEST_CLEAR_FEATURE:
	case REQUEST_SET_FEATURE:
		if (on_endpoint && setup->value == 0) // ENDPOINT_HALT
			target->halted = setup->request == REQUEST_SET_FEATURE;
		return 0;
	case REQUEST_GET_CONFIGURATION:
		bytes[0] = device->configuration;
		return 1;
	case REQUEST_SET_CONFIGURATION:
		device->configuration = (uint8_t)setup->value;
		return 0;
	case REQUEST_GET_INTERFACE:
		bytes[0] = 0;
		return 1;
	case REQUEST_SET_INTERFACE:
		return setup->value == 0 ? 0 : TAC_VIRTUAL_STALL;
	case REQUEST_SET_ADDRESS:
		return 0;
	default:
		return TAC_VIRTUAL_STALL;
	}
}

static progress run_control(tac_virtual_usb *device, tac_virtual_urb *urb)
{
	tac_virtual_setup setup = {
		.type = urb->setup[0],
		.request = urb->setup[1],
		.value = (uint16_t)get16(urb->setup + 2),
		.index = (uint16_t)get16(urb->setup + 4),
		.count = (uint16_t)get16(urb->setup + 6),
	};
	uint8_t bytes[TAC_VIRTUAL_CONTROL_MAX];
	bool in = (setup.type & IN) != 0;
	int done = TAC_VIRTUAL_STALL;
	if (setup.count <= sizeof bytes && setup.count <= urb->count) {
		if (!in)
			memcpy(bytes, urb->bytes, setup.count);
		if ((setup.type & TYPE_MASK) == 0) {
			done = standard_request(device, &setup, bytes);
		} else if (device->model->control) {
			pthread_mutex_unlock(&device->lock);
			done = device->model->control(device->model, &setup, bytes);
			pthread_mutex_lock(&device->lock);
		}
	}
	if (done < 0) {
		urb->status = -EPIPE;
		return ENDED;
	}
	urb->done = in ? (uint32_t)done : setup.count;
	if (in) {
		urb->done = urb->done < setup.count ? urb->done : setup.count;
		memcpy(urb->bytes, bytes, urb->done);
	}
	urb->status = 0;
	return ENDED;
}

// ---- bulk ----

static void flip_bits(tac_virtual_usb *device, uint8_t *bytes, uint32_t count)
{
	uint32_t flips = 1 + tac_rng_below(&device->rng, 8);
	for (uint32_t i = 0; i < flips && count > 0; i++)
		bytes[tac_rng_below(&device->rng, count)] ^= (uint8_t)(1U << tac_rng_below(&device->rng, 8));
}

static void count_fault(tac_virtual_usb *device, endpoint *e)
{
	e->fault = TAC_VIRTUAL_FAULT_NONE;
	atomic_fetch_add(&device->fault_count, 1);
}

static progress run_out(tac_virtual_usb *device, tac_virtual_urb *urb, endpoint *e)
{
	const uint8_t *bytes = urb->bytes;
	uint32_t count = urb->count;
	bool end = urb->zero_packet || count == 0 || count % e->packet_bytes != 0;
	tac_virtual_fault fault = e->fault;
	if (fault == TAC_VIRTUAL_FAULT_SHORT) {
		count /= 2;
		end = true;
	} else if (fault == TAC_VIRTUAL_FAULT_CORRUPT) {
		if (device->corrupt_bytes < count) {
			free(device->corrupt);
			device->corrupt = malloc(count);
			device->corrupt_bytes = device->corrupt ? count : 0;
		}
		if (device->corrupt) {
			memcpy(device->corrupt, bytes, count);
			flip_bits(device, device->corrupt, count);
			bytes = device->corrupt;
		}
	}
	pthread_mutex_unlock(&device->lock);
	int taken = device->model->out(device->model, urb->endpoint, bytes, count, end);
	pthread_mutex_lock(&device->lock);
	if (taken == TAC_VIRTUAL_NAK)
		return WAITS;
	if (fault != TAC_VIRTUAL_FAULT_NONE && e->fault == fault)
		count_fault(device, e);
	e->halted = taken == TAC_VIRTUAL_STALL;
	urb->status = e->halted ? -EPIPE : 0;
	urb->done = e->halted ? 0 : urb->count;
	return ENDED;
}

static progress run_in(tac_virtual_usb *device, tac_virtual_urb *urb, endpoint *e)
{
	int got = 0;
	do {
		pthread_mutex_unlock(&device->lock);
		got = device->model->in(device->model, urb->endpoint, device->packet, e->packet_bytes);
		pthread_mutex_lock(&device->lock);
		if (got == TAC_VIRTUAL_NAK)
			return WAITS;
		uint32_t room = urb->count - urb->done;
		if (got < 0 || (uint32_t)got > room) {
			e->halted = got < 0;
			urb->status = got < 0 ? -EPIPE : -EOVERFLOW;
			return ENDED;
		}
		memcpy(urb->bytes + urb->done, device->packet, (uint32_t)got);
		urb->done += (uint32_t)got;
	} while ((uint32_t)got == e->packet_bytes && urb->done < urb->count && !urb->cancelled);
	if (e->fault == TAC_VIRTUAL_FAULT_SHORT && urb->done > 0) {
		urb->done /= 2;
		count_fault(device, e);
	} else if (e->fault == TAC_VIRTUAL_FAULT_CORRUPT && urb->done > 0) {
		flip_bits(device, urb->bytes, urb->done);
		count_fault(device, e);
	}
	urb->status = 0;
	return ENDED;
}

static progress run(tac_virtual_usb *device, tac_virtual_urb *urb)
{
	endpoint *e = &device->endpoints[slot_of(urb->endpoint)];
	if (!device->plugged) {
		urb->status = -ESHUTDOWN;
		return ENDED;
	}
	if (e->fault == TAC_VIRTUAL_FAULT_SILENCE) {
		if (e->fault_end_ns == 0 || tac_clock_now_ns() < e->fault_end_ns)
			return WAITS;
		count_fault(device, e);
	}
	if (e->fault == TAC_VIRTUAL_FAULT_STALL) {
		count_fault(device, e);
		e->halted = (urb->endpoint & 15) != 0; // a control endpoint recovers by itself
		urb->status = -EPIPE;
		return ENDED;
	}
	if (e->fault == TAC_VIRTUAL_FAULT_BUS_ERROR) {
		count_fault(device, e);
		urb->status = -EPROTO;
		return ENDED;
	}
	if ((urb->endpoint & 15) == 0)
		return run_control(device, urb);
	if (e->halted || e->packet_bytes == 0) { // halted, or the device has no such endpoint
		urb->status = -EPIPE;
		return ENDED;
	}
	return (urb->endpoint & IN) != 0 ? run_in(device, urb, e) : run_out(device, urb, e);
}

// ---- the device's thread ----

static void take_out(tac_virtual_usb *device, const tac_virtual_urb *urb)
{
	for (tac_virtual_urb **link = &device->first; *link; link = &(*link)->next)
		if (*link == urb) {
			*link = urb->next;
			return;
		}
}

// Moves every transfer that can move, in order on each endpoint. True: at least one moved. Called with the
// lock held, which it releases around the model.
static bool advance(tac_virtual_usb *device)
{
	uint32_t waiting = 0; // endpoints whose oldest transfer cannot move
	bool moved = false;
	for (tac_virtual_urb *urb = device->first; urb;) {
		uint32_t bit = UINT32_C(1) << slot_of(urb->endpoint);
		if ((waiting & bit) != 0) {
			urb = urb->next;
			continue;
		}
		device->current = urb;
		progress p = run(device, urb);
		device->current = NULL;
		if (urb->cancelled && p == WAITS) {
			urb->status = -ENOENT;
			p = ENDED;
		}
		if (p == ENDED) {
			take_out(device, urb);
			device->completing = true;
			pthread_mutex_unlock(&device->lock);
			urb->complete(urb);
			pthread_mutex_lock(&device->lock);
			device->completing = false;
			moved = true;
		} else {
			waiting |= bit;
		}
		pthread_cond_broadcast(&device->ended);
		urb = device->first; // the list may have changed
	}
	return moved;
}

static void *device_thread(void *user)
{
	tac_virtual_usb *device = user;
	tac_virtual_model *model = device->model;
	pthread_mutex_lock(&device->lock);
	while (!device->stop) {
		if (device->reset) {
			device->reset = false;
			pthread_mutex_unlock(&device->lock);
			if (model->reset)
				model->reset(model);
			pthread_mutex_lock(&device->lock);
		}
		const uint64_t asked = device->asked;
		while (advance(device))
			;
		device->tried = asked;
		pthread_cond_broadcast(&device->ended);
		int64_t now_ns = tac_clock_now_ns(), again_ns = INT64_MAX;
		if (model->step) {
			pthread_mutex_unlock(&device->lock);
			again_ns = model->step(model, now_ns);
			pthread_mutex_lock(&device->lock);
			if (advance(device))
				continue;
		}
		if (device->stop || device->reset || device->asked != device->tried || again_ns <= now_ns)
			continue;
		int64_t limit_ns = now_ns + WAIT_LIMIT_NS;
		for (int i = 0; i < ENDPOINTS; i++)
			if (device->endpoints[i].fault == TAC_VIRTUAL_FAULT_SILENCE &&
			    device->endpoints[i].fault_end_ns > now_ns &&
			    device->endpoints[i].fault_end_ns < limit_ns)
				limit_ns = device->endpoints[i].fault_end_ns;
		struct timespec until = tac_clock_timespec(again_ns < limit_ns ? again_ns : limit_ns);
		pthread_cond_timedwait(&device->changed, &device->lock, &until);
	}
	pthread_mutex_unlock(&device->lock);
	return NULL;
}

// ---- the host's side ----

static void lock(tac_virtual_usb *device)
{
	pthread_mutex_lock(&device->lock);
}

static void unlock_changed(tac_virtual_usb *device)
{
	pthread_cond_signal(&device->changed);
	pthread_mutex_unlock(&device->lock);
}

tac_result tac_virtual_usb_create(tac_virtual_model *model, tac_virtual_usb **out_device)
{
	*out_device = NULL;
	tac_virtual_usb *device = calloc(1, sizeof *device);
	if (!device) {
		tac_log(TAC_LOG_ERROR, "virtual USB: no memory for a device");
		return TAC_ERROR_MEMORY;
	}
	device->model = model;
	device->plugged = true;
	device->reset = true;
	device->rng = tac_rng_seed(1, 1);
	read_endpoints(device);
	pthread_mutex_init(&device->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&device->changed, &monotonic);
	pthread_cond_init(&device->ended, NULL);
	pthread_condattr_destroy(&monotonic);
	tac_result result = tac_thread_start(&device->thread, device_thread, device);
	if (result < 0) {
		free(device);
		return result;
	}
	*out_device = device;
	return TAC_OK;
}

void tac_virtual_usb_destroy(tac_virtual_usb **device)
{
	tac_virtual_usb *d = *device;
	if (!d)
		return;
	tac_virtual_usb_plug(d, false);
	lock(d);
	d->stop = true;
	unlock_changed(d);
	pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->changed);
	pthread_cond_destroy(&d->ended);
	pthread_mutex_destroy(&d->lock);
	free(d->corrupt);
	free(d);
	*device = NULL;
}

const tac_virtual_model *tac_virtual_usb_model(const tac_virtual_usb *device)
{
	return device->model;
}

void tac_virtual_usb_submit(tac_virtual_usb *device, tac_virtual_urb *urb)
{
	urb->done = 0;
	urb->status = 0;
	urb->next = NULL;
	urb->cancelled = false;
	lock(device);
	bool plugged = device->plugged;
	if (plugged) {
		tac_virtual_urb **link = &device->first;
		while (*link)
			link = &(*link)->next;
		*link = urb;
	}
	unlock_changed(device);
	if (!plugged) {
		urb->status = -ESHUTDOWN;
		urb->complete(urb);
	}
}

static bool is_queued(const tac_virtual_usb *device, const tac_virtual_urb *urb)
{
	const tac_virtual_urb *queued = device->first;
	while (queued && queued != urb)
		queued = queued->next;
	return queued != NULL;
}

bool tac_virtual_usb_cancel(tac_virtual_usb *device, tac_virtual_urb *urb)
{
	lock(device);
	// A real device takes what it can while this process is held up: its thread gets the time for that.
	const uint64_t mine = ++device->asked;
	pthread_cond_signal(&device->changed);
	while (is_queued(device, urb) && device->plugged && device->tried < mine)
		pthread_cond_wait(&device->ended, &device->lock);
	const bool queued = is_queued(device, urb);
	const bool idle = queued && device->current != urb;
	if (idle)
		take_out(device, urb);
	else if (queued)
		urb->cancelled = true; // in progress: the device's thread ends it
	unlock_changed(device);
	if (idle) {
		urb->status = -ENOENT;
		urb->complete(urb);
	}
	return queued;
}

void tac_virtual_usb_plug(tac_virtual_usb *device, bool plugged)
{
	lock(device);
	device->plugged = plugged;
	device->configuration = 0;
	pthread_cond_broadcast(&device->ended);
	if (plugged) {
		device->reset = true;
		for (int i = 0; i < ENDPOINTS; i++)
			device->endpoints[i].halted = false;
	}
	unlock_changed(device);
	if (plugged)
		return;
	// Queued transfers end here. The one in progress is waited for: no buffer is written to afterwards.
	for (;;) {
		lock(device);
		while (device->current || device->completing)
			pthread_cond_wait(&device->ended, &device->lock);
		tac_virtual_urb *urb = device->first;
		if (urb)
			take_out(device, urb);
		unlock_changed(device);
		if (!urb)
			return;
		urb->status = -ESHUTDOWN;
		urb->complete(urb);
	}
}

void tac_virtual_usb_reset(tac_virtual_usb *device)
{
	lock(device);
	device->reset = true;
	for (int i = 0; i < ENDPOINTS; i++)
		device->endpoints[i].halted = false;
	unlock_changed(device);
}

void tac_virtual_usb_clear_halt(tac_virtual_usb *device, uint8_t address)
{
	lock(device);
	device->endpoints[slot_of(address)].halted = false;
	unlock_changed(device);
}

void tac_virtual_usb_inject(tac_virtual_usb *device, uint8_t address, tac_virtual_fault fault,
			    int64_t duration_ns)
{
	lock(device);
	endpoint *e = &device->endpoints[slot_of(address)];
	e->fault = fault;
	e->fault_end_ns = duration_ns > 0 ? tac_clock_now_ns() + duration_ns : 0;
	unlock_changed(device);
}

uint64_t tac_virtual_usb_fault_count(const tac_virtual_usb *device)
{
	return atomic_load(&device->fault_count);
}
