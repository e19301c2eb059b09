// Kept Falcon: a virtual Falcon whose motors outlive the process that drives them. Linked into tactus-keep,
// it plugs a mirrored Falcon into each process that starts, guard and keeper, as if they shared one device on
// the bus.
#include "tests/support/mirrored_falcon.h"
#include "tests/support/usb_shim.h"

#include <pthread.h>

static motors_file *file;

// Cuts the connection of this process when the test wants it. Other processes still reach the device.
static void *unplug_when_asked(void *usb)
{
	while (atomic_load(&file->unplugged) != getpid())
		usleep(1000);
	usb_shim_unplug(usb);
	return NULL;
}

__attribute__((constructor)) static void plug_falcon(void)
{
	pthread_t thread;
	file = motors_map(getenv(MOTORS_VARIABLE));
	tac_virtual_usb *usb = file ? mirrored_falcon_create(file) : NULL;
	if (file && !usb)
		abort();
	if (!usb)
		return;
	usb_shim_plug(usb);
	if (pthread_create(&thread, NULL, unplug_when_asked, usb) != 0)
		abort();
	pthread_detach(thread);
}
