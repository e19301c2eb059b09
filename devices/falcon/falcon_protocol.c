#include "devices/falcon/falcon_protocol.h"

#include <string.h>

#define SHIFT 0x41 // added to every byte between the brackets

// Offsets in a packet.
enum {
	NUMBERS = 1,
	STATUS = 13,
	UNKNOWN = 14,
	CLOSE = 15,
};

// Bits of the status byte.
#define HOST_HOME   0x01u
#define HOST_LEDS   (TAC_FALCON_LED_A | TAC_FALCON_LED_B | TAC_FALCON_LED_C)
#define BUTTON_MASK 0x0Fu
#define HOMED_SHIFT 4
#define STATUS_MAX  0x7F // the top bit is not used by either side

static void encode(const int16_t numbers[3], uint8_t status, uint8_t *out)
{
	out[0] = '<';
	for (int i = 0; i < 3; i++) {
		const uint16_t bits = (uint16_t)numbers[i];
		for (int nibble = 0; nibble < 4; nibble++)
			out[NUMBERS + 4 * i + nibble] = (uint8_t)((bits >> 4 * nibble & 0xF) + SHIFT);
	}
	out[STATUS] = (uint8_t)(status + SHIFT);
	out[UNKNOWN] = SHIFT;
	out[CLOSE] = '>';
}

// Whether `byte` is valid at offset `place` of a packet.
static bool byte_fits(int place, uint8_t byte)
{
	switch (place) {
	case 0:
		return byte == '<';
	case STATUS:
		return byte >= SHIFT && byte <= SHIFT + STATUS_MAX;
	case UNKNOWN: // its range is unknown, but a bracket means that a byte was lost
		return byte != '<' && byte != '>';
	case CLOSE:
		return byte == '>';
	default:
		return byte >= SHIFT && byte <= SHIFT + 0xF;
	}
}

static bool decode(const uint8_t *bytes, int16_t out_numbers[3], uint8_t *out_status)
{
	for (int i = 0; i < TAC_FALCON_PACKET_BYTES; i++) {
		if (!byte_fits(i, bytes[i]))
			return false;
	}
	for (int i = 0; i < 3; i++) {
		unsigned bits = 0;
		for (int nibble = 0; nibble < 4; nibble++)
			bits |= (unsigned)(bytes[NUMBERS + 4 * i + nibble] - SHIFT) << 4 * nibble;
		out_numbers[i] = (int16_t)(bits < 0x8000 ? (int)bits : (int)bits - 0x10000);
	}
	*out_status = (uint8_t)(bytes[STATUS] - SHIFT);
	return true;
}

static int16_t saturate(int16_t value)
{
	if (value > TAC_FALCON_MOTOR_MAX)
		return TAC_FALCON_MOTOR_MAX;
	return value < -TAC_FALCON_MOTOR_MAX ? -TAC_FALCON_MOTOR_MAX : value;
}

void tac_falcon_command_encode(const tac_falcon_command *command, uint8_t *out)
{
	int16_t motor[3];
	for (int i = 0; i < 3; i++)
		motor[i] = saturate(command->motor[i]);
	encode(motor, (uint8_t)((command->leds & HOST_LEDS) | (command->home ? HOST_HOME : 0u)), out);
}

void tac_falcon_report_encode(const tac_falcon_report *report, uint8_t *out)
{
	encode(report->encoder,
	       (uint8_t)((report->buttons & BUTTON_MASK) | (report->homed & TAC_FALCON_HOMED_ALL)
								   << HOMED_SHIFT),
	       out);
}

bool tac_falcon_command_decode(const uint8_t *bytes, tac_falcon_command *out_command)
{
	tac_falcon_command c;
	uint8_t status;
	if (!decode(bytes, c.motor, &status))
		return false;
	c.leds = (uint8_t)(status & HOST_LEDS);
	c.home = (status & HOST_HOME) != 0;
	*out_command = c;
	return true;
}

bool tac_falcon_report_decode(const uint8_t *bytes, tac_falcon_report *out_report)
{
	tac_falcon_report r;
	uint8_t status;
	if (!decode(bytes, r.encoder, &status))
		return false;
	r.buttons = (uint8_t)(status & BUTTON_MASK);
	r.homed = (uint8_t)(status >> HOMED_SHIFT & TAC_FALCON_HOMED_ALL);
	*out_report = r;
	return true;
}

bool tac_falcon_stream_push(tac_falcon_stream *stream, uint8_t byte)
{
	if (stream->count >= TAC_FALCON_PACKET_BYTES) // the last packet was complete
		stream->count = 0;
	if (!byte_fits(stream->count, byte)) {
		stream->dropped += stream->count;
		stream->count = 0;
		if (byte != '<') {
			stream->dropped++;
			return false;
		}
	}
	stream->bytes[stream->count++] = byte;
	return stream->count == TAC_FALCON_PACKET_BYTES;
}
