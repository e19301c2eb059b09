#include "apps/session/chip_engines.h"
#include "collision/chip_collider.h"
#include "devices/board.h"
#include "hardware/rtl.h"

#include <stdio.h>
#include <stdlib.h>

// Below the loop's 80 and above ordinary threads: the board's I/O runs while the loop waits for it.
#define IO_PRIORITY 79

static tac_board *board;

bool chip_engines_add(void)
{
	tac_board_def def = tac_board_def_default();
	const char *text = secure_getenv("TACTUS_BOARD");
	def.priority = IO_PRIORITY;
	if (text) {
		unsigned vendor, product;
		int used = 0;
		if (sscanf(text, "%4x:%4x%n", &vendor, &product, &used) != 2 ||
		    (text[used] != 0 && (text[used] != ':' || text[used + 1] == 0))) {
			fprintf(stderr,
				"tactus: TACTUS_BOARD: expected VENDOR:PRODUCT[:SERIAL] as in 1209:0001, "
				"found '%s'\n",
				text);
			return false;
		}
		def.vendor_id = (uint16_t)vendor;
		def.product_id = (uint16_t)product;
		def.serial = text[used] == ':' ? text + used + 1 : NULL;
	}
	return tac_collider_add(tac_chip_collider()) == TAC_OK && tac_board_create(&def, &board) == TAC_OK &&
	       tac_collider_add(tac_board_collider(board)) == TAC_OK &&
	       tac_collider_add(tac_rtl_collider()) == TAC_OK;
}

void chip_engines_remove(void)
{
	if (board)
		tac_collider_remove(tac_board_collider(board));
	tac_board_destroy(&board);
}
