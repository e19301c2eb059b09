// Virtual Falcon: a Novint Falcon as a program, for tests and for those who have none: the FTDI bridge, the
// boot loader that takes the firmware, the packets, homing, and behind them the simulated device in its hand
// (devices/sim.h), seen through the delta mechanism: motor values become a force on the grip, the grip's
// position becomes encoder counts. It is a model for devices/virtual_usb.h.
//
// What is not known of the real one is chosen here: the mark that an axis must pass to be homed, what the
// encoders say before (counts from where it was switched on), and that an image is taken by its length and
// sum.
#ifndef TAC_DEVICES_VIRTUAL_FALCON_H
#define TAC_DEVICES_VIRTUAL_FALCON_H

#include "devices/sim.h"
#include "devices/virtual_usb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_VIRTUAL_FALCON_IMAGE_MAX 65536

typedef struct tac_virtual_falcon_def {
	const char *serial;   // kept, not copied
	bool loaded;          // the firmware runs from the start; else after every reset it must be loaded
	uint32_t image_bytes; // the image it wants; 0: any
	uint32_t image_crc;   // tac_board_crc of it
	int wrong_echoes;     // so many attempts to load the firmware meet one wrong echo
	bool deaf;            // the boot loader never answers
	tac_sim_def sim;      // the mechanism and the hand; the origin is the middle of the workspace
} tac_virtual_falcon_def;

// What only a simulation can tell.
typedef struct tac_virtual_falcon_state {
	bool running; // the firmware
	uint8_t homed, leds;
	uint64_t commands; // packets understood
	uint64_t attempts; // to load the firmware
	int16_t motor[3];  // as commanded last
	int largest_motor; // of all commands so far
	double largest_N;  // force on the grip by the motors, so far
	tac_dvec3 force_N; // now
	tac_dvec3 position_m;
} tac_virtual_falcon_state;

typedef struct tac_virtual_falcon tac_virtual_falcon;

// Serial "VF000001", any image of 1 byte or more, the simulated Falcon in a stylus grip. The hand pulls the
// grip out and pushes it in, which homes it, and then goes slowly up and down, 4 s a time, for an hour.
// Thread: setup.
tac_virtual_falcon_def tac_virtual_falcon_def_default(void);

// TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line. Thread: setup.
tac_result tac_virtual_falcon_create(const tac_virtual_falcon_def *def, tac_virtual_falcon **out_falcon);

// Frees it and nulls the pointer; NULL in it is allowed. Thread: setup, when no device runs the model.
void tac_virtual_falcon_destroy(tac_virtual_falcon **falcon);

// The model for tac_virtual_usb_create. Thread: any.
tac_virtual_model *tac_virtual_falcon_model(tac_virtual_falcon *falcon);

// And back. Thread: any.
tac_virtual_falcon *tac_virtual_falcon_of(tac_virtual_model *model);

// Thread: any but RT.
tac_virtual_falcon_state tac_virtual_falcon_read(tac_virtual_falcon *falcon);

#ifdef __cplusplus
}
#endif

#endif
