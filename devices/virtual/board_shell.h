// Board shell: what every virtual board has, whatever computes inside: the model of the chip
// (virtual_board.c) or its gates (tests/support/rtl_virtual_board.c). Descriptors, the check of the def, and
// the faults that a test injects. Embedded first in the board.
#ifndef TAC_DEVICES_VIRTUAL_BOARD_SHELL_H
#define TAC_DEVICES_VIRTUAL_BOARD_SHELL_H

#include "devices/board/board_protocol.h"
#include "devices/virtual_board.h"

#include <stdatomic.h>

#define TAC_BOARD_SHELL_MESSAGE_MIN 4096 // bytes

typedef struct tac_board_shell {
	tac_virtual_model base;
	tac_virtual_board_def def; // its serial number is the next field
	char serial[TAC_BOARD_SERIAL_BYTES + 1];
	const char *strings[4];
	uint8_t device_descriptor[18];
	atomic_int fault;
	atomic_uint_fast64_t fault_count;
} tac_board_shell;

// Allocates `bytes` zeroed bytes, which begin with the shell, and fills it but for the functions of `base`.
// Messages of up to message_max bytes are possible. TAC_ERROR_ARGUMENT or TAC_ERROR_MEMORY with a log line.
// Thread: setup.
tac_result tac_board_shell_create(const tac_virtual_board_def *def, uint32_t message_max, size_t bytes,
				  tac_board_shell **out_shell);

// Whether this fault is injected; it occurs once.
// Thread: any.
bool tac_board_shell_fault(tac_board_shell *shell, tac_virtual_board_fault fault);

#endif
