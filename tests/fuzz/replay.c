// Runs a fuzz target: each file of a folder once, then, if a count is given, that many mutants of them.
//	test_NAME_corpus FOLDER [MUTANTS [SEED]]
// Mutants are reproducible: the same corpus and seed give the same ones. When the target aborts, the mutant
// is left in the file fuzz-crash of the working folder. libFuzzer, which needs clang, finds more in the same
// time (docs/testing.md); this needs nothing and runs under every sanitizer.
#include "base/rng.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEEDS_MAX 1024
#define BYTES_MAX ((size_t)1 << 20)

typedef struct text {
	uint8_t *bytes;
	size_t size;
} text;

static text seeds[SEEDS_MAX];
static int seed_count;
static uint8_t mutant[BYTES_MAX];
static size_t mutant_size;
static tac_rng rng;

// ---- the corpus ----

static void read_seed(const char *folder, const char *name)
{
	char path[4096];
	static uint8_t data[BYTES_MAX];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = name[0] != '.' && seed_count < SEEDS_MAX ? fopen(path, "rb") : NULL;
	if (!f)
		return;
	text seed = {.size = fread(data, 1, sizeof data, f)};
	fclose(f);
	seed.bytes = malloc(seed.size + 1);
	if (!seed.bytes)
		abort();
	memcpy(seed.bytes, data, seed.size);
	seeds[seed_count++] = seed;
}

static int by_content(const void *a, const void *b)
{
	const text *x = a, *y = b;
	const int order = memcmp(x->bytes, y->bytes, x->size < y->size ? x->size : y->size);
	return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

// ---- mutation ----

static size_t below(size_t n)
{
	return n > 0 ? (size_t)(tac_rng_u64(&rng) % n) : 0;
}

// Replaces `removed` bytes at `at` by `count` bytes.
static void replace_bytes(size_t at, size_t removed, const uint8_t *bytes, size_t count)
{
	static uint8_t copy[4096];
	if (count > sizeof copy)
		count = sizeof copy;
	if (removed > mutant_size - at)
		removed = mutant_size - at;
	if (mutant_size - removed + count > sizeof mutant)
		return;
	if (count > 0) // then `bytes` is not NULL; it may lie in the mutant
		memcpy(copy, bytes, count);
	memmove(mutant + at + count, mutant + at + removed, mutant_size - at - removed);
	memcpy(mutant + at, copy, count);
	mutant_size += count - removed;
}

static void mutate_once(void)
{
	static const char *const words[] = {"nan", "-1", "1e999", "99999999999", "inf",  "{",
					    "[",   "\n", ",",     "1e-9",        "0x10", "-0",
					    ": ",  "- ", "\"",    "=",           "&a",   "*a"};
	static const uint32_t numbers[] = {0,          1,          0x7f,       0x80,       0xff,      0x7fff,
					   0xffffffff, 0x7fffffff, 0x80000000, 0x7f800000, 0x7fc00000};
	const size_t at = below(mutant_size + 1);
	const text *other = &seeds[below((size_t)seed_count)];
	const char *word = words[below(sizeof words / sizeof words[0])];
	const uint32_t number = numbers[below(sizeof numbers / sizeof numbers[0])];
	const uint64_t noise = tac_rng_u64(&rng);
	switch (below(8)) {
	case 0:
		if (at < mutant_size)
			mutant[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		replace_bytes(at, 4, (const uint8_t *)&number, 4);
		break;
	case 2:
		if (below(4) == 0)
			mutant_size = at;
		break;
	case 3:
		replace_bytes(at, below(64), NULL, 0);
		break;
	case 4:
		replace_bytes(at, 0, mutant + at, below(mutant_size - at < 64 ? mutant_size - at + 1 : 64));
		break;
	case 5: {
		const size_t from = below(other->size + 1);
		replace_bytes(at, below(64), other->bytes + from,
			      below(other->size - from < 256 ? other->size - from + 1 : 256));
		break;
	}
	case 6:
		replace_bytes(at, below(4), (const uint8_t *)word, strlen(word));
		break;
	default:
		replace_bytes(at, below(8), (const uint8_t *)&noise, below(9));
		break;
	}
}

static void make_mutant(void)
{
	const text *seed = &seeds[below((size_t)seed_count)];
	memcpy(mutant, seed->bytes, seed->size);
	mutant_size = seed->size;
	for (size_t n = 1 + below(2) * below(8); n > 0; n--)
		mutate_once();
}

// ---- the run ----

static void keep_mutant(int signal_number)
{
	const int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, mutant, mutant_size) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

int main(int argc, char **argv)
{
	DIR *folder = argc >= 2 ? opendir(argv[1]) : NULL;
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		read_seed(argv[1], entry->d_name);
	if (folder)
		closedir(folder);
	if (seed_count == 0) {
		fprintf(stderr, "usage: %s FOLDER [MUTANTS [SEED]]\n", argv[0]);
		return 1;
	}
	qsort(seeds, (size_t)seed_count, sizeof seeds[0], by_content);
	for (int i = 0; i < seed_count; i++)
		LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].size);
	const long mutants = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
	const long seed = argc >= 4 ? strtol(argv[3], NULL, 10) : 1;
	rng = tac_rng_seed((uint64_t)seed, 0);
	signal(SIGABRT, keep_mutant);
	signal(SIGSEGV, keep_mutant);
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < mutants; i++) {
		make_mutant();
		LLVMFuzzerTestOneInput(mutant, mutant_size);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	const double seconds =
		(double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	printf("%d inputs", seed_count);
	if (mutants > 0)
		printf(", %ld mutants, %.0f a second", mutants, (double)mutants / seconds);
	printf("\n");
	return 0;
}
