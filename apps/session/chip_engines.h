// The board among the engines that `--collider` names.
#ifndef TAC_APPS_BOARD_H
#define TAC_APPS_BOARD_H

#include <stdbool.h>

// Adds the engine "board". It looks for USB devices when a shape is built for it, not before. TACTUS_BOARD in
// the environment chooses another one than the first 1209:0001: VENDOR:PRODUCT[:SERIAL], ids in hexadecimal.
// False: that makes no sense; one line was printed.
bool board_offer(void);

// Takes it away again and frees it.
void board_withdraw(void);

#endif
