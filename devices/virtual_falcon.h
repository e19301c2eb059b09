// Virtual Falcon: a Novint Falcon as a model for devices/virtual_usb.h, for tests and for users without the
// device. It has the FTDI bridge, the boot loader that takes the firmware, the packets and the homing. Behind
// them is the simulated device in its hand (devices/sim.h), through the delta mechanism: motor values become
// a force on the grip, the grip's position becomes encoder counts.
//
// Unknown details of the real device are chosen here: the mark that an axis must pass to be homed, the
// encoder values before homing (counts from where it was switched on), and that an image is accepted by its
// length and CRC.
#ifndef TAC_DEVICES_VIRTUAL_FALCON_H
#define TAC_DEVICES_VIRTUAL_FALCON_H

#include "devices/sim.h"
#include "devices/virtual_usb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_VIRTUAL_FALCON_IMAGE_MAX 65536

typedef struct tac_virtual_falcon_def {
	const char *serial; // not copied
	bool loaded;        // the firmware runs from the start; otherwise it must be loaded after every reset
	uint32_t image_bytes; // length of the expected image; 0: any
	uint32_t image_crc;   // tac_crc32 of it; 0: any
	int wrong_echoes;     // the number of attempts to load the firmware that meet a wrong echo
	bool mute;            // the boot loader never answers
	// The mechanism and the hand, whose path begins with the first packet. The origin is the centre of
	// the workspace.
	tac_sim_def sim;
} tac_virtual_falcon_def;

// The true state, which only a simulation has.
typedef struct tac_virtual_falcon_state {
	bool running; // the firmware
	uint8_t homed, leds;
	uint64_t commands; // packets decoded
	uint64_t attempts; // to load the firmware
	int16_t motor[3];  // last command
	int largest_motor; // of all commands
	double largest_N;  // largest force of the motors on the grip
	tac_dvec3 force_N; // now
	tac_dvec3 position_m;
} tac_virtual_falcon_state;

typedef struct tac_virtual_falcon tac_virtual_falcon;

// Serial "VF000001", any image of 1 byte or more, the simulated Falcon in a stylus grip. The hand pulls the
// grip out and pushes it in, which homes it, and then moves slowly up and down, with a period of 4 s, for an
// hour. Thread: setup.
tac_virtual_falcon_def tac_virtual_falcon_def_default(void);

// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line. Thread: setup.
tac_result tac_virtual_falcon_create(const tac_virtual_falcon_def *def, tac_virtual_falcon **out_falcon);

// Frees it and nulls the pointer; NULL in it is allowed. Thread: setup, after the device that runs the model
// is destroyed.
void tac_virtual_falcon_destroy(tac_virtual_falcon **falcon);

// The model for tac_virtual_usb_create. Thread: any.
tac_virtual_model *tac_virtual_falcon_model(tac_virtual_falcon *falcon);

// The Falcon of a model that tac_virtual_falcon_model returned. Thread: any.
tac_virtual_falcon *tac_virtual_falcon_of(tac_virtual_model *model);

// Thread: any but RT.
tac_virtual_falcon_state tac_virtual_falcon_read(tac_virtual_falcon *falcon);

#ifdef __cplusplus
}
#endif

#endif
