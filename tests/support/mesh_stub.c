// An importer that misbehaves as the name of its file says; see test_mesh_load.c. It replaces tactus-import
// and is never sanitized, because it runs under the same limits.
#include "collision/import/mesh_record.h"

#include <fcntl.h>
#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_bytes(const void *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t n = write(TAC_MESH_RECORD_FD, bytes, size);
		if (n <= 0)
			_exit(9);
		bytes = (const char *)bytes + n;
		size -= (size_t)n;
	}
}

static void write_failure(const char *message)
{
	char *bytes = calloc(1, tac_mesh_record_failure_size());
	tac_mesh_record_encode_failure(message, bytes);
	write_bytes(bytes, tac_mesh_record_failure_size());
}

static void write_environment(void)
{
	int descriptors = 0;
	for (int fd = 0; fd < 1024; fd++)
		descriptors += fcntl(fd, F_GETFD) >= 0;
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	char message[100];
	snprintf(message, sizeof message, "descriptors %d, usr1 blocked %d", descriptors,
		 sigismember(&mask, SIGUSR1));
	write_failure(message);
}

static const char *behaviour;

static bool is(const char *name)
{
	return strcmp(behaviour, name) == 0;
}

// The record of a mesh with one triangle, perhaps with an invalid index or coordinate.
static char *encode_mesh(size_t *out_size)
{
	tac_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
	tac_mesh_triangle triangles[] = {{{0, 1, 2}}};
	const int32_t surfaces[] = {0};
	const char *names[] = {"one"};
	if (is("lie_index"))
		triangles[0].vertex[2] = 1000000;
	if (is("lie_nan"))
		vertices[1].y = NAN;
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = 3;
	def.triangles = triangles;
	def.triangle_count = 1;
	def.triangle_surface = surfaces;
	def.surface_names = names;
	def.surface_count = 1;
	*out_size = tac_mesh_record_size(&def);
	char *bytes = calloc(1, *out_size);
	tac_mesh_record_encode(&def, bytes);
	return bytes;
}

static void exhaust_memory(void)
{
	for (;;) {
		char *p = malloc(1 << 20);
		if (!p)
			abort();
		for (volatile char *c = p; c < p + (1 << 20); c += 4096)
			*c = 1; // volatile: or the compiler would drop stores that nothing reads
	}
}

static void hang_or_crash(void)
{
	sem_t never; // waiting for it is one of the few ways to sleep that the importer has
	sem_init(&never, 0, 0);
	if (is("hang"))
		sem_wait(&never);
	if (is("hang_stubborn")) {
		for (int s = 1; s < 65; s++)
			signal(s, SIG_IGN);
		for (;;)
			sem_wait(&never);
	}
	if (is("spin"))
		for (volatile int i = 0;; i = !i)
			;
	if (is("crash"))
		raise(SIGSEGV);
	if (is("abort"))
		abort();
	if (is("eat"))
		exhaust_memory();
}

static void damage(char *bytes, size_t size)
{
	if (is("garbage"))
		memset(bytes, 0xA5, size);
	if (is("lie_vertices")) // the counts follow four 64-bit words
		memcpy(bytes + 32, &(int32_t){0x7FFFFFFF}, 4);
	if (is("lie_triangles"))
		memcpy(bytes + 36, &(int32_t){-1}, 4);
	if (is("lie_surfaces"))
		memcpy(bytes + 40, &(int32_t){499999999}, 4);
	if (is("lie_data"))
		bytes[size - 10] ^= 1;
}

int main(int argc, char **argv)
{
	behaviour = argc == 2 ? argv[1] : "";
	size_t size;
	char *bytes = encode_mesh(&size);

	hang_or_crash();
	if (is("exit"))
		return 7;
	if (is("silent"))
		return 0;
	if (is("noise")) {
		puts("noise on standard output");
		fputs("noise on standard error\n", stderr);
	}
	if (is("huge")) {
		signal(SIGXFSZ, SIG_IGN);
		lseek(TAC_MESH_RECORD_FD, INT64_C(1) << 44, SEEK_SET);
		return write(TAC_MESH_RECORD_FD, "x", 1) != 1 ? 5 : 0;
	}
	if (is("refuse")) {
		write_failure("two\nlines and \x1b[31mcolour");
		return 0;
	}
	if (is("environment")) {
		write_environment();
		return 0;
	}
	damage(bytes, size);
	write_bytes(bytes, is("short") ? size - 1 : size);
	if (is("long"))
		write_bytes("x", 1);
	return 0;
}
