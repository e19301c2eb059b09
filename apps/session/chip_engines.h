// Engines: the colliders that the command adds to those of tactus::collision: chip and board.
#ifndef TAC_APPS_SESSION_CHIP_ENGINES_H
#define TAC_APPS_SESSION_CHIP_ENGINES_H

#include <stdbool.h>

// Adds the engines chip and board. The board opens its USB device when the first shape is built for it. By
// default that is the first device 1209:0001; the environment variable TACTUS_BOARD selects another one as
// VENDOR:PRODUCT[:SERIAL], ids in hexadecimal. False, after one line on stderr, if the variable is malformed.
bool chip_engines_add(void);

// Removes the board from the list of colliders and frees it.
void chip_engines_remove(void);

#endif
