#include "apps/board.h"
#include "devices/board.h"

#include <stdio.h>
#include <stdlib.h>

// Below the loop's 80, above everything ordinary: it works while the loop waits.
#define IO_PRIORITY 79

static tac_board *board;

bool board_offer(void)
{
	tac_board_def def = tac_board_def_default();
	const char *text = getenv("TACTUS_BOARD");
	def.priority = IO_PRIORITY;
	if (text != NULL) {
		unsigned vendor, product;
		int used = 0;
		if (sscanf(text, "%4x:%4x%n", &vendor, &product, &used) != 2 ||
		    (text[used] != 0 && (text[used] != ':' || text[used + 1] == 0))) {
			fprintf(stderr,
				"tactus: TACTUS_BOARD: expected VENDOR:PRODUCT[:SERIAL] as in 1209:0001, "
				"found "
				"'%s'\n",
				text);
			return false;
		}
		def.vendor_id = (uint16_t)vendor;
		def.product_id = (uint16_t)product;
		def.serial = text[used] == ':' ? text + used + 1 : NULL;
	}
	return tac_board_create(&def, &board) == TAC_OK &&
	       tac_collider_add(tac_board_collider(board)) == TAC_OK;
}

void board_withdraw(void)
{
	if (board != NULL)
		tac_collider_remove(tac_board_collider(board));
	tac_board_destroy(&board);
}
