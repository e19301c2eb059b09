// Falcon protocol: the packets between a Novint Falcon and its host, as bytes and as structures. Encoding and
// decoding are pure functions, independent of USB. The facts are from the libnifalcon project.
//
// A packet is 16 bytes both ways: '<', three signed 16-bit numbers of four nibbles each, low nibble first, a
// status, a byte of unknown use, '>'. Between the brackets 0x41 is added to every byte, so that neither
// bracket can occur there. The device answers each command with one report. Through its FTDI bridge the
// packets are a stream of bytes: they may arrive in pieces, several at once, or after garbage.
#ifndef TAC_DEVICES_FALCON_FALCON_PROTOCOL_H
#define TAC_DEVICES_FALCON_FALCON_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_FALCON_VENDOR_ID    0x0403
#define TAC_FALCON_PRODUCT_ID   0xCB48
#define TAC_FALCON_ENDPOINT_OUT 0x02
#define TAC_FALCON_ENDPOINT_IN  0x81

#define TAC_FALCON_PACKET_BYTES 16
#define TAC_FALCON_MOTOR_MAX    4096 // of either sign; larger values have an unknown effect
#define TAC_FALCON_BUTTONS      4

// The FTDI bridge in front of the device: requests of type 0x40, and their values.
#define TAC_FALCON_BRIDGE_STATUS_BYTES 2 // at the start of every USB packet from the device
#define TAC_FALCON_BRIDGE_PACKET_BYTES 64

typedef enum tac_falcon_bridge_request {
	TAC_FALCON_BRIDGE_RESET = 0, // 1: purge data from the device, 2: purge data to it
	TAC_FALCON_BRIDGE_MODEM = 1, // 0x0100: DTR low, 0x0101: DTR high, 0x0200: RTS low
	TAC_FALCON_BRIDGE_FLOW = 2,
	TAC_FALCON_BRIDGE_BAUD = 3,
	TAC_FALCON_BRIDGE_FORMAT = 4,
	TAC_FALCON_BRIDGE_LATENCY = 9, // ms
} tac_falcon_bridge_request;

#define TAC_FALCON_BAUD_RUN    2      // 1.5 Mbaud
#define TAC_FALCON_BAUD_HELLO  0x4138 // 9600
#define TAC_FALCON_BAUD_LOAD   0x15   // about 143,000
#define TAC_FALCON_BLOCK_BYTES 62     // bytes of the firmware per write

// Lamps around the grip, as bits; sources disagree about the colours.
#define TAC_FALCON_LED_A 0x02u
#define TAC_FALCON_LED_B 0x04u
#define TAC_FALCON_LED_C 0x08u

// Host to device.
typedef struct tac_falcon_command {
	int16_t motor[3]; // -TAC_FALCON_MOTOR_MAX … TAC_FALCON_MOTOR_MAX
	uint8_t leds;     // TAC_FALCON_LED_…
	bool home;        // set in every packet, or the device loses its homing
} tac_falcon_command;

// Device to host.
typedef struct tac_falcon_report {
	int16_t encoder[3];
	uint8_t buttons; // bits 0 … 3
	uint8_t homed;   // bits 0 … 2: this axis is homed
} tac_falcon_report;

#define TAC_FALCON_HOMED_ALL 7u

// Fills TAC_FALCON_PACKET_BYTES at `out`. Motor values beyond the maximum saturate; bits that are not lamps
// are cleared. Thread: RT.
void tac_falcon_command_encode(const tac_falcon_command *command, uint8_t *out);
// Encoder values are encoded unchanged; buttons and homed are masked. Thread: RT.
void tac_falcon_report_encode(const tac_falcon_report *report, uint8_t *out);

// Decodes TAC_FALCON_PACKET_BYTES at `bytes`; false, and nothing stored, if they are no packet.
// Thread: RT.
bool tac_falcon_command_decode(const uint8_t *bytes, tac_falcon_command *out_command);
bool tac_falcon_report_decode(const uint8_t *bytes, tac_falcon_report *out_report);

// An incomplete packet. All zero: empty.
typedef struct tac_falcon_stream {
	uint8_t bytes[TAC_FALCON_PACKET_BYTES];
	uint8_t count;
	uint64_t dropped; // bytes that belonged to no packet
} tac_falcon_stream;

// Takes one byte of the stream. True if it completes a packet, which stays in stream->bytes until the next
// call; its brackets and the range of each byte are valid. Other bytes are dropped and counted, and the next
// '<' starts a new packet. Thread: RT.
bool tac_falcon_stream_push(tac_falcon_stream *stream, uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif
