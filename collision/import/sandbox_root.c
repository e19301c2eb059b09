#include "collision/import/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOUNT_POINT "/tmp" // any folder that exists; only this process sees what is mounted here
#define MESH_FOLDER "/mesh"
#define CACHE_FILE  "/etc/ld.so.cache"

static void write_line(const char *path, const char *line)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, line, strlen(line)) < 0)
		errno = 0; // without a map, the first folder cannot be made, and that is noticed
	close(fd);
}

// The user and the group keep their numbers in the new namespace; without, they could not make files in it.
// `user` and `group` are those before it was entered.
static void map_user(uid_t user, gid_t group)
{
	char line[64];
	write_line("/proc/self/setgroups", "deny");
	snprintf(line, sizeof line, "%u %u 1", (unsigned)user, (unsigned)user);
	write_line("/proc/self/uid_map", line);
	snprintf(line, sizeof line, "%u %u 1", (unsigned)group, (unsigned)group);
	write_line("/proc/self/gid_map", line);
}

// Makes the folder `path` and those above it below the mount point.
static void make_folders(const char *path)
{
	char part[PATH_MAX];
	const int length = snprintf(part, sizeof part, MOUNT_POINT "%s", path);
	for (int i = (int)sizeof MOUNT_POINT; i <= length; i++) {
		if (part[i] != '/' && part[i] != 0)
			continue;
		const char end = part[i];
		part[i] = 0;
		mkdir(part, 0755);
		part[i] = end;
	}
}

// Makes the folder or file `source` appear as `path` in the new root.
static bool show(const char *source, const char *path)
{
	char target[PATH_MAX];
	snprintf(target, sizeof target, MOUNT_POINT "%s", path);
	return mount(source, target, NULL, MS_BIND | MS_REC, NULL) == 0;
}

bool tac_sandbox_enter_root(uid_t user, gid_t group)
{
	map_user(user, group);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", MOUNT_POINT, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755") != 0)
		return false;
	make_folders(MESH_FOLDER);
	make_folders("/etc");
	const int cache = open(MOUNT_POINT CACHE_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (cache >= 0)
		close(cache);
	bool entered = show(".", MESH_FOLDER);
	show(CACHE_FILE, CACHE_FILE);
	const char *const *folders = tac_sandbox_library_folders();
	for (int i = 0; folders[i]; i++) {
		if (access(folders[i], F_OK) != 0)
			continue;
		make_folders(folders[i]);
		show(folders[i], folders[i]);
	}
	// The new root over the old one, which is then detached: man 2 pivot_root.
	entered = entered && chdir(MOUNT_POINT) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
		  umount2(".", MNT_DETACH) == 0 && chdir(MESH_FOLDER) == 0;
	// The descriptor of the folder would lead out of the new root: open it again.
	const int folder = entered ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	entered = folder >= 0 && dup2(folder, TAC_SANDBOX_FOLDER_FD) == TAC_SANDBOX_FOLDER_FD;
	if (folder >= 0)
		close(folder);
	return entered;
}
