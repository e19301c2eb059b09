// Mirror: makes a stand-in for a vendor's library behave as a real device does when processes die. The test
// names a motors_file (tests/support/motors.h); every command to the motors goes there, the last one stays
// when its process dies, and the device belongs to one process at a time.
#ifndef TAC_TESTS_SUPPORT_MIRROR_H
#define TAC_TESTS_SUPPORT_MIRROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether the test wants it. If not, the other functions do nothing.
bool mirror_wanted(void);

// Takes the device for this process; false if another process has it. It is free again when this process
// releases it or ends.
bool mirror_claim(void);
void mirror_release(void);

// A command reaches the device. It does not return while the test makes this process's library hang.
void mirror_force(bool forces_on, const double force[3]);

#ifdef __cplusplus
}
#endif

#endif
