#include "base/helper.h"

#include "base/search_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool tac_helper_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

// The file that holds this code. The loader's name of the program itself is empty, and a library that was
// loaded by a relative name may be another file by now: for both it is the program.
static const char *own_file(void)
{
	static const char here; // an address in this file
	Dl_info info;
	struct link_map *object = NULL;
	const bool known = dladdr1(&here, &info, (void **)&object, RTLD_DL_LINKMAP) != 0 && object;
	return known && object->l_name[0] == '/' ? object->l_name : "/proc/self/exe";
}

bool tac_helper_folder(char *out_folder, size_t size)
{
	char *file = realpath(own_file(), NULL);
	char *slash = file ? strrchr(file, '/') : NULL;
	const bool known = slash && (size_t)(slash - file) < size;
	if (known)
		*slash = 0;
	snprintf(out_folder, size, "%s", known ? file : "");
	free(file);
	return known;
}

static bool is_owner_of(uid_t owner, const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && owner == status.st_uid;
}

static bool is_trusted_owner(uid_t owner)
{
	if (owner == 0)
		return true;
	if (tac_helper_is_privileged())
		return false;
	return owner == geteuid() || is_owner_of(owner, "/proc/self/exe") || is_owner_of(owner, own_file());
}

// Whether somebody who is not trusted can change the file or the folder.
static bool is_exposed(const struct stat *status)
{
	const bool sticky_folder = S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX);
	const mode_t others = tac_helper_is_privileged() ? S_IWOTH | S_IWGRP : S_IWOTH;
	return !is_trusted_owner(status->st_uid) || ((status->st_mode & others) && !sticky_folder);
}

static bool refuse(const char *path, const struct stat *status, char *out_reason, size_t reason_size)
{
	snprintf(out_reason, reason_size,
		 "expected %s to belong to root%s and to be writable by no other user, found owner %u, mode "
		 "%04o",
		 path, tac_helper_is_privileged() ? "" : " or to the user", (unsigned)status->st_uid,
		 (unsigned)(status->st_mode & 07777));
	return false;
}

bool tac_helper_check(const char *path, char out_path[TAC_HELPER_PATH], char *out_reason, size_t reason_size)
{
	struct stat status;
	char *resolved = realpath(path, NULL);
	if (!resolved || strlen(resolved) >= TAC_HELPER_PATH || stat(resolved, &status) != 0 ||
	    !S_ISREG(status.st_mode)) {
		snprintf(out_reason, reason_size, "expected the file %s, found %s", path,
			 resolved ? "none" : strerror(errno));
		free(resolved);
		return false;
	}
	snprintf(out_path, TAC_HELPER_PATH, "%s", resolved);
	bool safe = !is_exposed(&status) || refuse(resolved, &status, out_reason, reason_size);
	for (char *slash = strrchr(resolved, '/'); safe && slash; slash = strrchr(resolved, '/')) {
		slash[slash == resolved ? 1 : 0] = 0;
		if (stat(resolved, &status) != 0 || is_exposed(&status))
			safe = refuse(resolved, &status, out_reason, reason_size);
		if (!tac_helper_is_privileged() || !resolved[1])
			break;
	}
	free(resolved);
	return safe;
}

// Checks `path` unless it is the caller's own choice.
static bool is_program(const char *path, bool checked, char out_path[TAC_HELPER_PATH], char *out_reason,
		       size_t reason_size)
{
	struct stat status;
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0) {
		snprintf(out_path, TAC_HELPER_PATH, "%s", path);
		snprintf(out_reason, reason_size, "expected a program at %s, found none", path);
		return false;
	}
	if (checked)
		return tac_helper_check(path, out_path, out_reason, reason_size);
	char *resolved = realpath(path, NULL); // it may be started again from another folder
	snprintf(out_path, TAC_HELPER_PATH, "%s", resolved ? resolved : path);
	free(resolved);
	return true;
}

bool tac_helper_find_program(const tac_helper_def *def, char out_path[TAC_HELPER_PATH], char *out_reason,
			     size_t reason_size)
{
	const char *named = def->variable ? secure_getenv(def->variable) : NULL;
	if (def->requested || named)
		return is_program(def->requested ? def->requested : named, !def->requested, out_path,
				  out_reason, reason_size);
	char folder[TAC_HELPER_PATH / 2], path[TAC_HELPER_PATH];
	const bool may_look = !tac_helper_is_privileged() && tac_helper_folder(folder, sizeof folder);
	for (int i = 0; may_look && def->places[i]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, def->places[i]);
		if (access(path, F_OK) == 0)
			return is_program(path, true, out_path, out_reason, reason_size);
	}
	const char *name = strrchr(def->installed, '/');
	if (name && tac_search_path_find(name + 1, path, sizeof path))
		return is_program(path, true, out_path, out_reason, reason_size);
	return is_program(def->installed, true, out_path, out_reason, reason_size);
}

// ---- starting ----

// Both return 0 or an errno.

static int add_files(posix_spawn_file_actions_t *files, const tac_helper_start_def *def)
{
	int error = 0;
	for (int i = 0; i < def->fd_count && !error; i++)
		error = posix_spawn_file_actions_adddup2(files, def->fds[i], TAC_HELPER_FIRST_FD + i);
	if (!error)
		error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(files, 0, 1);
	if (!error)
		error = posix_spawn_file_actions_adddup2(files, 0, 2);
	if (error)
		return error;
	return posix_spawn_file_actions_addclosefrom_np(files, TAC_HELPER_FIRST_FD + def->fd_count);
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	const struct sched_param ordinary = {.sched_priority = 0};
	const int policy = sched_getscheduler(0);
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	int flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	if (policy == SCHED_FIFO || policy == SCHED_RR) // others, as SCHED_IDLE, may not be left by everybody
		flags |= POSIX_SPAWN_SETSCHEDULER;
	int error = posix_spawnattr_setflags(attributes, (short)flags);
	if (!error)
		error = posix_spawnattr_setsigmask(attributes, &none);
	if (!error)
		error = posix_spawnattr_setsigdefault(attributes, &all);
	if (!error)
		error = posix_spawnattr_setschedpolicy(attributes, SCHED_OTHER);
	return error ? error : posix_spawnattr_setschedparam(attributes, &ordinary);
}

int tac_helper_start(const tac_helper_start_def *def, pid_t *out_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&files);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		error = add_files(&files, def);
		if (!error)
			error = set_attributes(&attributes);
		if (!error)
			error = posix_spawn(out_pid, def->program, &files, &attributes, def->arguments,
					    def->environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return error;
}
