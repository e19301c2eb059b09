// An importer that misbehaves in the way its file is called; see test_mesh_load.c. It takes the place of
// tactus-import and is never sanitized, because it runs under the same limits.
#include "collision/mesh_record.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void answer(const void *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t n = write(TAC_MESH_RECORD_FD, bytes, size);
		if (n <= 0)
			_exit(9);
		bytes = (const char *)bytes + n;
		size -= (size_t)n;
	}
}

static void say(const char *message)
{
	char *bytes = calloc(1, tac_mesh_record_failure_size());
	tac_mesh_record_encode_failure(message, bytes);
	answer(bytes, tac_mesh_record_failure_size());
}

static void tell_surroundings(void)
{
	int descriptors = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		descriptors++;
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	char message[100];
	// Without ".", ".." and the folder's own descriptor.
	snprintf(message, sizeof message, "policy %d, descriptors %d, usr1 blocked %d", sched_getscheduler(0),
		 descriptors - 3, sigismember(&mask, SIGUSR1));
	say(message);
}

int main(int argc, char **argv)
{
	const char *slash = argc == 2 ? strrchr(argv[1], '/') : NULL;
	const char *how = slash ? slash + 1 : "";
	tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
	tac_mesh_triangle triangles[] = {{{0, 1, 2}}};
	const int32_t surfaces[] = {0};
	const char *names[] = {"one"};
	if (strcmp(how, "lie_index") == 0)
		triangles[0].vertex[2] = 1000000;
	if (strcmp(how, "lie_nan") == 0)
		vertices[1].y = NAN;
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = 3;
	def.triangles = triangles;
	def.triangle_count = 1;
	def.triangle_surface = surfaces;
	def.surface_names = names;
	def.surface_count = 1;
	const size_t size = tac_mesh_record_size(&def);
	char *bytes = calloc(1, size);
	tac_mesh_record_encode(&def, bytes);

	uint64_t go; // as the importer does: the limits are set when this returns
	if (strcmp(how, "impatient") != 0 && read(0, &go, sizeof go) != sizeof go)
		return 8;
	if (strcmp(how, "hang") == 0)
		sleep(1000);
	if (strcmp(how, "hang_stubborn") == 0) {
		for (int s = 1; s < 65; s++)
			signal(s, SIG_IGN);
		for (;;)
			pause();
	}
	if (strcmp(how, "spin") == 0)
		for (volatile int i = 0;; i = !i)
			;
	if (strcmp(how, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "exit") == 0)
		return 7;
	if (strcmp(how, "silent") == 0)
		return 0;
	if (strcmp(how, "noise") == 0) {
		puts("noise on standard output");
		fputs("noise on standard error\n", stderr);
	}
	if (strcmp(how, "eat") == 0)
		for (;;) {
			char *p = malloc(1 << 20);
			if (!p)
				abort();
			for (volatile char *c = p; c < p + (1 << 20); c += 4096)
				*c = 1; // volatile: or the compiler sees that nobody reads it
		}
	if (strcmp(how, "huge") == 0) {
		signal(SIGXFSZ, SIG_IGN);
		if (ftruncate(TAC_MESH_RECORD_FD, INT64_C(1) << 44) != 0)
			return 5;
		return 0;
	}
	if (strcmp(how, "garbage") == 0)
		memset(bytes, 0xA5, size);
	if (strcmp(how, "lie_vertices") == 0) // the counts follow four 64-bit words
		memcpy(bytes + 32, &(int32_t){0x7FFFFFFF}, 4);
	if (strcmp(how, "lie_triangles") == 0)
		memcpy(bytes + 36, &(int32_t){-1}, 4);
	if (strcmp(how, "lie_surfaces") == 0)
		memcpy(bytes + 40, &(int32_t){499999999}, 4);
	if (strcmp(how, "lie_data") == 0)
		bytes[size - 10] ^= 1;
	if (strcmp(how, "refuse") == 0) {
		say("two\nlines and \x1b[31mcolour");
		return 0;
	}
	if (strcmp(how, "surroundings") == 0) {
		tell_surroundings();
		return 0;
	}
	answer(bytes, strcmp(how, "short") == 0 ? size - 1 : size);
	if (strcmp(how, "long") == 0)
		answer("x", 1);
	return 0;
}
