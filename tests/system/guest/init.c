// The first process of the guest: mounts the file systems, loads the modules of /modules/list, runs the
// scenarios of /scenarios/list one after the other, prints how each ended, and switches the machine off.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what, const char *which)
{
	printf("guest: %s %s: %s\n", what, which, strerror(errno));
}

static void mount_one(const char *type, const char *where)
{
	if (mount(type, where, type, 0, NULL) != 0)
		fail("mount", where);
}

// Calls `each` with /FOLDER/NAME for every line NAME of /FOLDER/list.
static void for_each_line(const char *folder, void (*each)(const char *path))
{
	char list[64], line[128], path[256];
	snprintf(list, sizeof list, "/%s/list", folder);
	FILE *file = fopen(list, "re");
	if (!file) {
		fail("open", list);
		return;
	}
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(path, sizeof path, "/%s/%s", folder, line);
		each(path);
	}
	fclose(file);
}

static void load_module(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || syscall(SYS_finit_module, file, "", 0) != 0)
		fail("module", path);
	if (file >= 0)
		close(file);
}

static void run_scenario(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	int status = -1;
	pid_t child = fork();
	if (child == 0) {
		char *const arguments[] = {(char *)(size_t)path, NULL};
		execv(path, arguments);
		fail("run", path);
		_exit(127);
	}
	// Other processes that end meanwhile are its orphans.
	for (pid_t ended = -1; ended != child && (ended >= 0 || errno == EINTR || ended == -1);)
		if ((ended = wait(&status)) < 0 && errno == ECHILD)
			break;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		printf("guest: %s: ok\n", name);
	else
		printf("guest: %s: failed, status %#x\n", name, (unsigned)status);
	fflush(stdout);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_one("devtmpfs", "/dev");
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	for_each_line("modules", load_module);
	for_each_line("scenarios", run_scenario);
	printf("guest: end\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
