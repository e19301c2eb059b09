#include "tests/support/mirror.h"

#include "tests/support/motors.h"

#include <sys/file.h>

static motors_file *file;
static int claim = -1;

// Before the stand-ins' own constructors, which ask whether there is a file.
__attribute__((constructor(150))) static void map_file(void)
{
	file = motors_map(getenv(MOTORS_VARIABLE));
}

bool mirror_wanted(void)
{
	return file != NULL;
}

bool mirror_claim(void)
{
	if (!file)
		return true;
	const int fd = open(getenv(MOTORS_VARIABLE), O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		claim = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

void mirror_release(void)
{
	if (claim >= 0)
		close(claim);
	claim = -1;
}

void mirror_force(bool forces_on, const double force[3])
{
	motors_hang(file);
	const bool any = force[0] != 0 || force[1] != 0 || force[2] != 0; // also what is not a number
	motors_command(file, forces_on && any);
}
