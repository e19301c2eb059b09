// The firmware of the FX2LP module beside the ULX3S: a vendor's interface with bulk endpoints 2 (OUT) and 6
// (IN) in front of the slave FIFO that hardware/board/fx2_bridge.sv reads and writes. The names and the
// numbers are those of Cypress's manual.
//
// Endpoint 6 needs no help: full packets are committed by themselves, the last one by PKTEND. The packets of
// endpoint 2 are handed over one by one, since a slave FIFO does not show their ends: hand_over().
//
// hardware/board/ulx3s/firmware builds it. Its hand_over() runs in the test of the gateware
// (tests/hardware/fx2_model.h); the rest has been compiled and never run.
#include "hardware/board/ulx3s/fx2lp.h"

// Port D: the wires beside the FIFO.
enum { PACKET = 0x01, SHORT = 0x02, TAKEN = 0x04, UNPLUGGED = 0x08 };

#define PACKET_BYTES 512

// Gives the next packet of endpoint 2 to the bridge, once it has taken the one before.
void hand_over(void)
{
	if (((IOD & PACKET) != 0) != ((IOD & TAKEN) != 0) || (EP2CS & EP_EMPTY) != 0)
		return;
	unsigned count = (unsigned)EP2BCH << 8 | EP2BCL;
	if (count < PACKET_BYTES)
		IOD |= SHORT;
	else
		IOD &= (unsigned char)~SHORT;
	OUTPKTEND = count != 0 ? 2 : EP_SKIP | 2; // an empty packet is no data, only an end
	SYNC_DELAY();
	IOD ^= PACKET;
}

#ifdef __SDCC
static __code const unsigned char device_descriptor[18] = {
	18, 1, 0x00, 0x02, 0xFF, 0, 0, 64, 0x09, 0x12, 0x01, 0x00, 1, 0, 1, 2, 3, 1,
};
static __code const unsigned char qualifier_descriptor[10] = {10, 6, 0x00, 0x02, 0xFF, 0, 0, 64, 1, 0};
// At full speed there are no endpoints: packets of 64 bytes would end every message.
static __code const unsigned char configuration[32] = {
	9, 2, 32, 0, 1,    1, 0, 0x80, 250, 9, 4, 0,    0, 2, 0xFF, 0,
	0, 0, 7,  5, 0x02, 2, 0, 2,    0,   7, 5, 0x86, 2, 0, 2,    0,
};
static __code const unsigned char slow_configuration[18] = {9, 2, 18, 0, 1, 1,    0, 0x80, 250,
							    9, 4, 0,  0, 0, 0xFF, 0, 0,    0};
// The serial number is that of collision_board.sv.
static __code const char *const __code strings[] = {"", "Tactus", "CollisionChip board", "U1"};
static unsigned char configured;

// Answers a control transfer with `count` bytes that are in EP0BUF, or fewer if the host wants fewer.
static void answer(unsigned char count)
{
	if (SETUPDAT[7] == 0 && SETUPDAT[6] < count)
		count = SETUPDAT[6];
	EP0BCH = 0;
	SYNC_DELAY();
	EP0BCL = count;
}

static void answer_bytes(__code const unsigned char *bytes, unsigned char count)
{
	for (unsigned char i = 0; i < count; i++)
		EP0BUF[i] = bytes[i];
	EP0BUF[1] = SETUPDAT[3]; // as asked for: a configuration, or that of the other speed
	answer(count);
}

static unsigned char answer_string(unsigned char index)
{
	unsigned char length = 2;
	if (index > 3)
		return 0;
	if (index == 0) { // languages: English (United States)
		EP0BUF[2] = 0x09;
		EP0BUF[3] = 0x04;
		length = 4;
	} else
		for (__code const char *c = strings[index]; *c; c++) {
			EP0BUF[length++] = *c;
			EP0BUF[length++] = 0;
		}
	EP0BUF[0] = length;
	EP0BUF[1] = 3;
	answer(length);
	return 1;
}

static unsigned char answer_descriptor(void)
{
	const unsigned char fast = (USBCS & USBCS_HIGH_SPEED) != 0;
	const unsigned char type = SETUPDAT[3];
	if (type == 1)
		answer_bytes(device_descriptor, sizeof device_descriptor);
	else if (type == 6)
		answer_bytes(qualifier_descriptor, sizeof qualifier_descriptor);
	else if ((type == 2 && fast) || (type == 7 && !fast))
		answer_bytes(configuration, sizeof configuration);
	else if (type == 2 || type == 7)
		answer_bytes(slow_configuration, sizeof slow_configuration);
	else
		return type == 3 && answer_string(SETUPDAT[2]);
	return 1;
}

static void write_slowly(volatile __xdata unsigned char *which, unsigned char value)
{
	SYNC_DELAY();
	*which = value;
	SYNC_DELAY();
}

// Empties both FIFOs and frees the buffers of endpoint 2.
static void reset_fifos(void)
{
	write_slowly(&FIFORESET, 0x80); // NAK everything meanwhile
	write_slowly(&EP6FIFOCFG, 0x00);
	write_slowly(&FIFORESET, 0x02);
	write_slowly(&FIFORESET, 0x06);
	write_slowly(&EP6FIFOCFG, 0x0C); // commits full packets by itself, empty packets allowed, eight bits
	write_slowly(&FIFORESET, 0x00);
	for (unsigned char i = 0; i < 4; i++)
		write_slowly(&OUTPKTEND, EP_SKIP | 2);
}

// The bridge forgets what it was reading or sending, and so does this side.
static void reset_bridge(void)
{
	IOD |= UNPLUGGED;
	reset_fifos();
	IOD = (IOD & TAKEN) != 0 ? IOD | PACKET : IOD & (unsigned char)~PACKET;
	IOD &= (unsigned char)~UNPLUGGED;
}

static void clear_halt(unsigned char endpoint)
{
	EP2CS = endpoint == 0x02 ? 0 : EP2CS;
	EP6CS = endpoint == 0x86 ? 0 : EP6CS;
	TOGCTL = (endpoint & 0x0F) | (endpoint & 0x80 ? 0x10 : 0);
	SYNC_DELAY();
	TOGCTL = (endpoint & 0x0F) | (endpoint & 0x80 ? 0x10 : 0) | 0x20; // the toggle starts at 0
}

// Serves a control transfer; 0: it is refused.
static unsigned char serve(void)
{
	switch (SETUPDAT[1]) {
	case 0: // GET_STATUS
		EP0BUF[0] = EP0BUF[1] = 0;
		answer(2);
		return 1;
	case 1: // CLEAR_FEATURE: ENDPOINT_HALT
		if (SETUPDAT[0] != 0x02 || SETUPDAT[2] != 0)
			return 0;
		clear_halt(SETUPDAT[4]);
		return 1;
	case 6:
		return answer_descriptor();
	case 8: // GET_CONFIGURATION
		EP0BUF[0] = configured;
		answer(1);
		return 1;
	case 9: // SET_CONFIGURATION
		configured = SETUPDAT[2];
		clear_halt(0x02);
		clear_halt(0x86);
		reset_bridge();
		return 1;
	case 10: // GET_INTERFACE
		EP0BUF[0] = 0;
		answer(1);
		return 1;
	case 11: // SET_INTERFACE
		return SETUPDAT[2] == 0;
	default:
		return 0;
	}
}

void main(void)
{
	CPUCS = 0x10; // 48 MHz
	IOD = UNPLUGGED;
	OED = PACKET | SHORT | UNPLUGGED;
	write_slowly(&IFCONFIG, 0x03);     // slave FIFO, clock from the FPGA
	write_slowly(&REVCTL, 0x03);       // packets are committed as below
	write_slowly(&PINFLAGSAB, 0xE8);   // FLAGA: endpoint 2 not empty, FLAGB: endpoint 6 not full
	write_slowly(&FIFOPINPOLAR, 0x00); // all active low
	write_slowly(&EP1OUTCFG, 0x20);
	write_slowly(&EP1INCFG, 0x20);
	write_slowly(&EP2CFG, 0xA0); // OUT, bulk, four buffers of 512 bytes
	write_slowly(&EP4CFG, 0x20);
	write_slowly(&EP6CFG, 0xE0); // IN, the same
	write_slowly(&EP8CFG, 0x20);
	write_slowly(&EP2FIFOCFG, 0x00); // by hand, eight bits
	write_slowly(&EP4FIFOCFG, 0x00); // eight bits for all, so that port D is free
	write_slowly(&EP8FIFOCFG, 0x00);
	write_slowly(&EP6AUTOINLENH, PACKET_BYTES >> 8);
	write_slowly(&EP6AUTOINLENL, PACKET_BYTES & 0xFF);
	reset_bridge();
	USBCS = (USBCS | USBCS_RENUM) &
		(unsigned char)~USBCS_DISCONNECTED; // this program answers from now on
	for (;;) {
		if ((USBIRQ & USBIRQ_RESET) != 0) {
			USBIRQ = USBIRQ_RESET;
			configured = 0;
			reset_bridge();
		}
		if ((USBIRQ & USBIRQ_SETUP) != 0) {
			USBIRQ = USBIRQ_SETUP;
			if (!serve())
				EP0CS |= EP0_STALL;
			EP0CS |= EP0_DONE;
		}
		if (configured)
			hand_over();
	}
}
#endif
