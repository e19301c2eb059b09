// Preloaded into a program (LD_PRELOAD): plugs in a virtual board, which the program's own libusb finds as if
// it were on the bus, without a kernel that emulates USB.
#include "devices/virtual_board.h"
#include "tests/support/usb_shim.h"

static tac_virtual_model *model;
static tac_virtual_usb *device;

__attribute__((constructor)) static void plug_board(void)
{
	const tac_virtual_board_def def = tac_virtual_board_def_default();
	if (tac_virtual_board_create(&def, &model) == TAC_OK &&
	    tac_virtual_usb_create(model, &device) == TAC_OK)
		usb_shim_plug(device);
}

__attribute__((destructor)) static void unplug_board(void)
{
	if (device)
		usb_shim_unplug(device);
	tac_virtual_usb_destroy(&device);
	tac_virtual_board_destroy(&model);
}
