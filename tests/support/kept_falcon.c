// Kept Falcon: a virtual Falcon whose motors outlive the process that drives them. Linked into tactus-keep,
// it plugs a mirrored Falcon into each process that starts, guard and keeper, as if they shared one device on
// the bus.
#include "tests/support/mirrored_falcon.h"
#include "tests/support/usb_shim.h"

__attribute__((constructor)) static void plug_falcon(void)
{
	motors_file *file = motors_map(getenv(MOTORS_VARIABLE));
	tac_virtual_usb *usb = file ? mirrored_falcon_create(file) : NULL;
	if (file && !usb)
		abort();
	if (usb)
		usb_shim_plug(usb);
}
