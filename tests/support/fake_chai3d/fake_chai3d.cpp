// The state that the stand-in for CHAI3D and its test share; linked into the plugin built against it.
#include "tests/support/fake_chai3d/fake_chai3d.h"

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
