// The state that the stand-in for CHAI3D and its test share; linked into the plugin built against it.
#include "tests/support/fake_chai3d/fake_chai3d.h"

#include "tests/support/mirror.h"

#include <mutex>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED fake_chai3d_state fake_chai3d;

static std::mutex mutex;

EXPORTED void fake_chai3d_lock(bool on)
{
	if (on)
		mutex.lock();
	else
		mutex.unlock();
}

// A device, if no test in this process can set it up.
__attribute__((constructor(200))) static void set_up()
{
	if (!mirror_wanted())
		return;
	fake_chai3d.devices = 1;
	for (int i = 0; i < 3; i++)
		fake_chai3d.rotation[4 * i] = 1;
}
