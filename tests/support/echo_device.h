// A virtual USB device that echoes what it receives: full speed, bulk OUT 0x02 and IN 0x81 with packets of 64
// bytes, and vendor requests that set and read a number.
#ifndef TAC_TESTS_SUPPORT_ECHO_DEVICE_H
#define TAC_TESTS_SUPPORT_ECHO_DEVICE_H

#include "devices/virtual_usb.h"

#include <string.h>

#define ECHO_VENDOR  0x1209
#define ECHO_PRODUCT 0x0002
#define ECHO_OUT     0x02
#define ECHO_IN      0x81
#define ECHO_PACKET  64
#define ECHO_BYTES   65536

typedef struct echo_device {
	tac_virtual_model base;
	const char *strings[4];
	uint8_t bytes[ECHO_BYTES]; // of the message to be echoed
	uint32_t count, sent;
	bool ended;               // the message is complete
	_Atomic(uint16_t) number; // tests read it from another thread
} echo_device;

static const uint8_t echo_device_descriptor[18] = {
	18,   1, // device descriptor
	0x00, 0x02, 0, 0, 0, 64, ECHO_VENDOR & 0xFF, ECHO_VENDOR >> 8, ECHO_PRODUCT & 0xFF, ECHO_PRODUCT >> 8,
	0x00, 0x01, 1, 2, 3, 1, // strings, one configuration
};

static const uint8_t echo_configuration[32] = {
	9, 2, 32,       0, 1,           1,    0, 0x80, 50, // configuration
	9, 4, 0,        0, 2,           0xFF, 0, 0,    0,  // interface
	7, 5, ECHO_OUT, 2, ECHO_PACKET, 0,    0,           // bulk OUT
	7, 5, ECHO_IN,  2, ECHO_PACKET, 0,    0,           // bulk IN
};

static inline int echo_control(tac_virtual_model *model, const tac_virtual_setup *setup, uint8_t *bytes)
{
	echo_device *echo = (echo_device *)model;
	if (setup->type == 0x40 && setup->request == 7 && setup->count == 0) {
		echo->number = setup->value;
		return 0;
	}
	if (setup->type == 0x40 && setup->request == 8 && setup->count == 2) {
		echo->number = (uint16_t)(bytes[0] | bytes[1] << 8);
		return 0;
	}
	if (setup->type == 0xC0 && setup->request == 7) {
		bytes[0] = (uint8_t)echo->number;
		bytes[1] = (uint8_t)(echo->number >> 8);
		return 2;
	}
	return TAC_VIRTUAL_STALL;
}

static inline int echo_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
			   bool end)
{
	echo_device *echo = (echo_device *)model;
	if (endpoint != ECHO_OUT || echo->count + count > ECHO_BYTES)
		return TAC_VIRTUAL_STALL;
	if (echo->ended)
		return TAC_VIRTUAL_NAK; // one message at a time
	memcpy(echo->bytes + echo->count, bytes, count);
	echo->count += count;
	echo->ended = end;
	return 0;
}

static inline int echo_in(tac_virtual_model *model, uint8_t endpoint, uint8_t *packet, uint32_t capacity)
{
	echo_device *echo = (echo_device *)model;
	if (endpoint != ECHO_IN)
		return TAC_VIRTUAL_STALL;
	if (!echo->ended)
		return TAC_VIRTUAL_NAK;
	uint32_t left = echo->count - echo->sent, now = left < capacity ? left : capacity;
	memcpy(packet, echo->bytes + echo->sent, now);
	echo->sent += now;
	if (now < capacity) {
		echo->count = echo->sent = 0;
		echo->ended = false;
	}
	return (int)now;
}

static inline void echo_reset(tac_virtual_model *model)
{
	echo_device *echo = (echo_device *)model;
	echo->count = echo->sent = 0;
	echo->ended = false;
	echo->number = 0;
}

static inline void echo_init(echo_device *echo, const char *serial)
{
	memset(echo, 0, sizeof *echo);
	echo->strings[0] = "Tactus";
	echo->strings[1] = "Echo";
	echo->strings[2] = serial;
	echo->base = (tac_virtual_model){
		.device_descriptor = echo_device_descriptor,
		.configuration_descriptor = echo_configuration,
		.strings = echo->strings,
		.control = echo_control,
		.out = echo_out,
		.in = echo_in,
		.reset = echo_reset,
	};
}

#endif
