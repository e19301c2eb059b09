// The side of the real-time thread: rings, one atomic word and a futex. libusb is not called here.
#include "base/assert.h"
#include "devices/usb/usb_connection.h"
#include "rt/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void *tac_usb_buffer(tac_usb *usb)
{
	uint32_t index;
	if (usb->filling < 0 && tac_ring_pop(usb->to_fill, &index))
		usb->filling = (int32_t)index;
	return usb->filling < 0 ? NULL : usb->out[usb->filling].bytes;
}

tac_usb_status tac_usb_send(tac_usb *usb, uint32_t count)
{
	TAC_ASSERT(usb->filling >= 0 && count <= usb->def.out_bytes);
	tac_usb_status error = tac_usb_first_error(usb);
	if (error != TAC_USB_OK)
		return error;
	usb->out[usb->filling].count = count;
	tac_usb_pass(usb->to_send, (uint32_t)usb->filling);
	usb->filling = -1;
	tac_usb_io_wake(usb);
	return TAC_USB_OK;
}

// Sleeps until rx_signal differs from `seen`, or until the deadline.
static void wait_rx(tac_usb *usb, uint32_t seen, int64_t deadline_ns)
{
	struct timespec until = tac_clock_timespec(deadline_ns);
	syscall(SYS_futex, &usb->rx_signal, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, NULL,
		FUTEX_BITSET_MATCH_ANY); // an absolute time on CLOCK_MONOTONIC
}

tac_usb_status tac_usb_receive(tac_usb *usb, int64_t deadline_ns, const uint8_t **out_bytes,
			       uint32_t *out_count)
{
	if (usb->reading >= 0) {
		tac_usb_pass(usb->empty, (uint32_t)usb->reading);
		usb->reading = -1;
	}
	// Bounded: a signal means a transfer or an error, and either ends the loop, as the deadline does.
	for (;;) {
		uint32_t seen = atomic_load(&usb->rx_signal), index;
		tac_usb_status error = tac_usb_first_error(usb);
		if (tac_ring_pop(usb->arrived, &index)) {
			usb->reading = (int32_t)index;
			*out_bytes = usb->in[index].bytes;
			*out_count = usb->in[index].count;
			return TAC_USB_OK;
		}
		if (error != TAC_USB_OK)
			return error;
		if (tac_clock_now_ns() >= deadline_ns)
			return TAC_USB_TIMEOUT;
		wait_rx(usb, seen, deadline_ns);
	}
}

tac_usb_status tac_usb_first_error(const tac_usb *usb)
{
	return (tac_usb_status)atomic_load(&usb->first_error);
}

tac_usb_counters tac_usb_counters_read(const tac_usb *usb)
{
	return (tac_usb_counters){
		.sent = atomic_load(&usb->sent),
		.received = atomic_load(&usb->received),
		.dropped = atomic_load(&usb->dropped),
		.failed = atomic_load(&usb->failed),
	};
}
