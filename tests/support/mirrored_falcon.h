// Mirrored Falcon: a virtual Falcon that writes every command to its motors into a motors_file
// (tests/support/motors.h).
#ifndef TAC_TESTS_SUPPORT_MIRRORED_FALCON_H
#define TAC_TESTS_SUPPORT_MIRRORED_FALCON_H

#include "devices/virtual_usb.h"
#include "tests/support/motors.h"

// One per process. Its firmware is loaded. The hand moves the grip out and in, again and again, which homes
// it also where a busy machine misses the first motions. NULL with a log line if there is no memory.
tac_virtual_usb *mirrored_falcon_create(motors_file *file);

#endif
