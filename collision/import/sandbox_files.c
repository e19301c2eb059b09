#include "collision/import/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ       (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define VERSIONS   8
#define CACHE_FILE "/etc/ld.so.cache" // where the dynamic loader looks libraries up

// The structure of the newest version known here; older kernels read a part of it.
typedef struct ruleset {
	uint64_t files, network, scopes;
} ruleset;

// What each version of the interface can deny; the kernel refuses bits that it does not know.
static const struct {
	size_t size;
	ruleset deny;
} versions[VERSIONS] = {
	{0, {0}},
	{8, {.files = 0x1FFF}},
	{8, {.files = 0x3FFF}},                             // linking across folders
	{8, {.files = 0x7FFF}},                             // truncating
	{16, {.files = 0x7FFF, .network = 3}},              // TCP
	{16, {.files = 0xFFFF, .network = 3}},              // ioctl on devices
	{24, {.files = 0xFFFF, .network = 3, .scopes = 3}}, // abstract sockets, signals
	{24, {.files = 0xFFFF, .network = 3, .scopes = 3}},
};

const char *const *tac_sandbox_library_folders(void)
{
	static const char *const folders[] = {
		"/lib",       "/lib64",         "/usr/lib",
		"/usr/lib64", "/usr/local/lib", "/usr/local/lib64",
		"/nix/store", "/gnu/store",     TAC_ASSIMP_FOLDER,
		NULL,
	};
	return folders;
}

static bool allow(int rules, int fd, uint64_t access)
{
	const struct landlock_path_beneath_attr below = {.allowed_access = access, .parent_fd = fd};
	return fd >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0;
}

static void allow_path(int rules, const char *path, uint64_t access)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	allow(rules, fd, access);
	if (fd >= 0)
		close(fd);
}

// The version of the interface to use, 0 without Landlock.
static int landlock_version(void)
{
	const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return version < 1 ? 0 : version >= VERSIONS ? VERSIONS - 1 : (int)version;
}

bool tac_sandbox_has_landlock(void)
{
	return landlock_version() > 0;
}

bool tac_sandbox_restrict_files(int program_fd)
{
	const int version = landlock_version();
	if (version == 0)
		return false;
	const int rules =
		(int)syscall(SYS_landlock_create_ruleset, &versions[version].deny, versions[version].size, 0);
	if (rules < 0)
		return false;
	bool restricted = allow(rules, TAC_SANDBOX_FOLDER_FD, READ);
	if (program_fd >= 0) {
		allow(rules, program_fd, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE);
		const char *const *folders = tac_sandbox_library_folders();
		for (int i = 0; folders[i]; i++)
			allow_path(rules, folders[i], READ | LANDLOCK_ACCESS_FS_EXECUTE);
		allow_path(rules, CACHE_FILE, LANDLOCK_ACCESS_FS_READ_FILE);
	}
	restricted = restricted && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return restricted;
}
