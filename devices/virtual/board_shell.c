#include "devices/virtual/board_shell.h"

#include "base/log.h"
#include "devices/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
static const uint8_t configuration[32] = {
	9, 2, 32, 0, 1, 1, 0, 0x80, 250,                // configuration, 500 mA
	9, 4, 0, 0, 2, 0xFF, 0, 0, 0,                   // interface of a vendor's class
	7, 5, TAC_BOARD_OUT_ENDPOINT, 2, 0, 2, 0,       // bulk OUT, 512 bytes
	7, 5, TAC_BOARD_IN_ENDPOINT, 2, 0, 2, 0,        // bulk IN, 512 bytes
};
// clang-format on

tac_virtual_board_def tac_virtual_board_def_default(void)
{
	return (tac_virtual_board_def){
		.vendor_id = TAC_BOARD_VENDOR_ID,
		.product_id = TAC_BOARD_PRODUCT_ID,
		.serial = "V1",
		.memory_bytes = UINT32_C(256) << 20,
		.sram_words = 65536,
		.hit_capacity = 65536,
		.message_max = UINT32_C(256) << 10,
	};
}

bool tac_board_shell_fault(tac_board_shell *shell, tac_virtual_board_fault fault)
{
	int expected = (int)fault;
	bool now = atomic_compare_exchange_strong(&shell->fault, &expected, TAC_VIRTUAL_BOARD_NO_FAULT);
	if (now)
		atomic_fetch_add(&shell->fault_count, 1);
	return now;
}

void tac_virtual_board_inject(tac_virtual_model *model, tac_virtual_board_fault fault)
{
	atomic_store(&((tac_board_shell *)model)->fault, (int)fault);
}

uint64_t tac_virtual_board_fault_count(const tac_virtual_model *model)
{
	return atomic_load(&((const tac_board_shell *)model)->fault_count);
}

static bool def_fits(const tac_virtual_board_def *def, uint32_t message_max)
{
	size_t length = strlen(def->serial);
	bool printable = length > 0 && length <= TAC_BOARD_SERIAL_BYTES;
	for (size_t i = 0; printable && i < length; i++)
		printable = def->serial[i] > ' ' && def->serial[i] <= '~';
	return printable && def->message_max >= TAC_BOARD_SHELL_MESSAGE_MIN &&
	       def->message_max <= message_max && def->sram_words > 0 && def->hit_capacity > 0;
}

tac_result tac_board_shell_create(const tac_virtual_board_def *def, uint32_t message_max, size_t bytes,
				  tac_board_shell **out_shell)
{
	*out_shell = NULL;
	if (!def_fits(def, message_max)) {
		tac_log(TAC_LOG_ERROR,
			"virtual board: expected a serial number of 1 to %d printable characters, "
			"messages of %d to %u bytes and memories above 0, "
			"found '%s', %u, %u words, %u hits",
			TAC_BOARD_SERIAL_BYTES, TAC_BOARD_SHELL_MESSAGE_MIN, message_max, def->serial,
			def->message_max, def->sram_words, def->hit_capacity);
		return TAC_ERROR_ARGUMENT;
	}
	tac_board_shell *s = calloc(1, bytes);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "virtual board: no memory");
		return TAC_ERROR_MEMORY;
	}
	s->def = *def;
	snprintf(s->serial, sizeof s->serial, "%s", def->serial);
	s->def.serial = s->serial;
	s->strings[0] = "Tactus";
	s->strings[1] = "CollisionChip board";
	s->strings[2] = s->serial;
	// clang-format off
	const uint8_t descriptor[18] = {
		18, 1, 0x00, 0x02, 0xFF, 0, 0, 64, // USB 2.0, a vendor's class
		(uint8_t)def->vendor_id, (uint8_t)(def->vendor_id >> 8),
		(uint8_t)def->product_id, (uint8_t)(def->product_id >> 8),
		TAC_BOARD_VERSION, 0, 1, 2, 3, 1,  // three strings, one configuration
	};
	// clang-format on
	memcpy(s->device_descriptor, descriptor, sizeof descriptor);
	s->base.device_descriptor = s->device_descriptor;
	s->base.configuration_descriptor = configuration;
	s->base.strings = s->strings;
	s->base.high_speed = true;
	*out_shell = s;
	return TAC_OK;
}
