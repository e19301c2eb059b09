#include "collision/import/mesh_files.h"

#include "collision/import/mesh_record.h"
#include "collision/import/sandbox.h"

#include <assimp/cfileio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *mesh_name;
static tac_mesh_files_fail fail_import;

// ---- the mesh itself: several streams on one descriptor, each with a position of its own ----

typedef struct cursor {
	off64_t at;
} cursor;

static ssize_t cursor_read(void *cookie, char *bytes, size_t size)
{
	cursor *c = cookie;
	const ssize_t n = pread(TAC_SANDBOX_FILE_FD, bytes, size, c->at);
	if (n > 0)
		c->at += n;
	return n;
}

static int cursor_seek(void *cookie, off64_t *position, int whence)
{
	cursor *c = cookie;
	struct stat status;
	off64_t base = whence == SEEK_CUR ? c->at : 0;
	if (whence == SEEK_END) {
		if (fstat(TAC_SANDBOX_FILE_FD, &status) != 0)
			return -1;
		base = status.st_size;
	}
	if (base + *position < 0)
		return -1;
	c->at = base + *position;
	*position = c->at;
	return 0;
}

static int cursor_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *tac_mesh_files_open_mesh(void)
{
	cursor *c = calloc(1, sizeof *c);
	const cookie_io_functions_t functions = {
		.read = cursor_read, .seek = cursor_seek, .close = cursor_close};
	FILE *f = c ? fopencookie(c, "rb", functions) : NULL;
	if (!f)
		free(c);
	return f;
}

// ---- files beside it ----

static void refuse(const char *reference, const char *found)
{
	char message[TAC_MESH_RECORD_MESSAGE];
	snprintf(message, sizeof message, "refers to '%.200s', %s; expected files in its folder or below",
		 reference, found);
	fail_import(message);
}

// Writes the path below the folder that `reference` means, without ".", ".." and empty parts. A backslash
// separates, too: files from Windows contain it. Returns false if the reference leads out of the folder.
static bool resolve(const char *reference, char out_path[PATH_MAX])
{
	size_t length = 0;
	out_path[0] = 0;
	if (reference[0] == '/' || reference[0] == '\\')
		return false;
	for (const char *part = reference; *part;) {
		const size_t size = strcspn(part, "/\\");
		if (size == 2 && strncmp(part, "..", 2) == 0) {
			if (length == 0)
				return false;
			char *slash = strrchr(out_path, '/');
			length = slash ? (size_t)(slash - out_path) : 0;
		} else if (size > 0 && !(size == 1 && part[0] == '.')) {
			if (length + size + 2 > PATH_MAX)
				return false;
			if (length > 0)
				out_path[length++] = '/';
			memcpy(out_path + length, part, size);
			length += size;
		}
		out_path[length] = 0;
		part += size + (part[size] != 0);
	}
	return true;
}

// Opens a regular file below the folder, part by part, so that a symbolic link anywhere on the way is
// noticed. Returns -1 with errno.
static int open_below(char *path)
{
	int folder = TAC_SANDBOX_FOLDER_FD;
	for (char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		*slash = 0;
		struct stat status;
		const int next = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		// O_DIRECTORY reports a link as ENOTDIR.
		const bool link = next < 0 && errno == ENOTDIR &&
				  fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
				  S_ISLNK(status.st_mode);
		if (folder != TAC_SANDBOX_FOLDER_FD)
			close(folder);
		if (next < 0) {
			errno = link ? ELOOP : ENOENT;
			return -1;
		}
		folder = next;
	}
	const int fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const int error = errno;
	if (folder != TAC_SANDBOX_FOLDER_FD)
		close(folder);
	errno = error;
	struct stat status;
	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

// The reader of Quake's MD3 looks for shader files in folders above by itself.
static bool searches_above(void)
{
	const char *dot = strrchr(mesh_name, '.');
	return dot && strcasecmp(dot, ".md3") == 0;
}

static FILE *open_reference(const char *reference)
{
	char path[PATH_MAX];
	if (strcmp(reference, mesh_name) == 0)
		return tac_mesh_files_open_mesh();
	if (!resolve(reference, path)) {
		if (!searches_above())
			refuse(reference, "outside of its folder");
		return NULL;
	}
	if (strcmp(path, mesh_name) == 0)
		return tac_mesh_files_open_mesh();
	const int fd = open_below(path);
	if (fd < 0 && errno == ELOOP)
		refuse(reference, "a symbolic link");
	FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

// ---- assimp's interface ----

static size_t file_read(struct aiFile *file, char *bytes, size_t size, size_t count)
{
	return fread(bytes, size, count, (FILE *)file->UserData);
}

static size_t file_write(struct aiFile *file, const char *bytes, size_t size, size_t count)
{
	(void)file, (void)bytes, (void)size, (void)count;
	return 0;
}

static size_t file_tell(struct aiFile *file)
{
	return (size_t)ftell((FILE *)file->UserData);
}

static size_t file_size(struct aiFile *file)
{
	FILE *f = (FILE *)file->UserData;
	const long at = ftell(f);
	if (fseek(f, 0, SEEK_END) != 0)
		return 0;
	const long size = ftell(f);
	fseek(f, at, SEEK_SET);
	return size > 0 ? (size_t)size : 0;
}

static enum aiReturn file_seek(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
	const int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
	return fseek((FILE *)file->UserData, (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}

static void file_flush(struct aiFile *file)
{
	(void)file;
}

static struct aiFile *files_open(struct aiFileIO *files, const char *name, const char *mode)
{
	(void)files;
	if (strpbrk(mode, "wa+")) {
		refuse(name, "to be written");
		return NULL;
	}
	FILE *stream = open_reference(name);
	struct aiFile *file = stream ? malloc(sizeof *file) : NULL;
	if (!file) {
		if (stream)
			fclose(stream);
		return NULL;
	}
	*file = (struct aiFile){.ReadProc = file_read,
				.WriteProc = file_write,
				.TellProc = file_tell,
				.FileSizeProc = file_size,
				.SeekProc = file_seek,
				.FlushProc = file_flush,
				.UserData = (char *)stream};
	return file;
}

static void files_close(struct aiFileIO *files, struct aiFile *file)
{
	(void)files;
	fclose((FILE *)file->UserData);
	free(file);
}

struct aiFileIO *tac_mesh_files(const char *name, tac_mesh_files_fail fail)
{
	static struct aiFileIO files = {.OpenProc = files_open, .CloseProc = files_close};
	mesh_name = name;
	fail_import = fail;
	return &files;
}
