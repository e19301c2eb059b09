#include "tissue/elastic/cache.h"

#include "base/helper.h"
#include "base/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_DIGITS 16
#define SUFFIX      ".tissue"

static bool default_folder(char *out, size_t size)
{
	const char *tactus = secure_getenv("TACTUS_CACHE"), *cache = secure_getenv("XDG_CACHE_HOME"),
		   *home = secure_getenv("HOME");
	int length = -1;
	if (tac_helper_is_privileged())
		return false; // the user chooses these folders, and what lies in them
	if (tactus)
		length = snprintf(out, size, "%s", tactus);
	else if (cache && *cache == '/')
		length = snprintf(out, size, "%s/tactus", cache);
	else if (home && *home == '/')
		length = snprintf(out, size, "%s/.cache/tactus", home);
	return length > 0 && (size_t)length < size;
}

bool tac_elastic_cache_file(const tac_elastic_def *def, uint64_t hash, char *out_path, size_t size)
{
	char folder[PATH_MAX];
	if (def->cache_folder)
		snprintf(folder, sizeof folder, "%s", def->cache_folder);
	else if (!default_folder(folder, sizeof folder))
		return false;
	const int length = snprintf(out_path, size, "%s/%016" PRIx64 SUFFIX, folder, hash);
	return *folder && length > 0 && (size_t)length < size;
}

// Makes the folder of a file and those above it.
static void make_folders(const char *path)
{
	char part[PATH_MAX];
	snprintf(part, sizeof part, "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(part, 0700); // one that exists is no error, and one that fails is reported by the write
		*slash = '/';
	}
}

void tac_elastic_cache_keep(const tac_compliance *compliance, const char *path)
{
	make_folders(path);
	if (tac_compliance_write(compliance, path) == TAC_OK)
		tac_elastic_cache_limit(path, TAC_ELASTIC_CACHE_BYTES);
}

void tac_elastic_cache_used(const char *path)
{
	// A folder that is not ours to write to keeps its times, and its files.
	(void)!utimensat(AT_FDCWD, path, NULL, 0);
}

// ---- the limit ----

typedef struct file {
	char name[HASH_DIGITS + sizeof SUFFIX];
	uint64_t bytes;
	struct timespec used;
} file;

static bool is_ours(const char *name)
{
	return strlen(name) == HASH_DIGITS + strlen(SUFFIX) &&
	       strspn(name, "0123456789abcdef") == HASH_DIGITS && strcmp(name + HASH_DIGITS, SUFFIX) == 0;
}

static int by_use(const void *a, const void *b)
{
	const file *p = a, *q = b;
	if (p->used.tv_sec != q->used.tv_sec)
		return p->used.tv_sec < q->used.tv_sec ? -1 : 1;
	if (p->used.tv_nsec != q->used.tv_nsec)
		return p->used.tv_nsec < q->used.tv_nsec ? -1 : 1;
	return strcmp(p->name, q->name);
}

// The files of a folder, for the caller to free; NULL if there are none.
static file *list_files(DIR *folder, size_t *out_count)
{
	file *files = NULL;
	size_t room = 0;
	*out_count = 0;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		struct stat status;
		if (!is_ours(entry->d_name) ||
		    fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		if (*out_count == room) {
			room = 2 * room + 16;
			file *more = realloc(files, room * sizeof *files);
			if (!more)
				break; // the others are found when the next file is added
			files = more;
		}
		file *f = &files[(*out_count)++];
		memcpy(f->name, entry->d_name, sizeof f->name);
		f->bytes = (uint64_t)status.st_size;
		f->used = status.st_mtim;
	}
	return files;
}

// Whoever has a file open holds a shared lock on it.
static bool remove_unused(int folder, const char *name)
{
	const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	const bool removed = flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(folder, name, 0) == 0;
	close(fd);
	return removed;
}

int tac_elastic_cache_limit(const char *path, uint64_t limit)
{
	const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	DIR *open = opendir(folder);
	if (!open)
		return 0;
	size_t count;
	file *files = list_files(open, &count);
	uint64_t all = 0, freed = 0;
	for (size_t i = 0; i < count; i++)
		all += files[i].bytes;
	if (count > 0)
		qsort(files, count, sizeof *files, by_use);
	int removed = 0;
	for (size_t i = 0; i < count && all - freed > limit; i++) {
		if (strcmp(files[i].name, own) != 0 && remove_unused(dirfd(open), files[i].name)) {
			freed += files[i].bytes;
			removed++;
		}
	}
	if (removed > 0)
		tac_log(TAC_LOG_INFO,
			"tissue: removed %d bodies that were not used for longest from the cache %s, %.0f MB",
			removed, folder, 1e-6 * (double)freed);
	free(files);
	closedir(open);
	return removed;
}
