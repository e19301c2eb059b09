// tactus-elastic NAME PARENT: computes the compliance of a body. The runtime starts it (prepare.c) with the
// descriptors of request.h; it reads and writes nothing else. Exit code 0: the result is the image of a
// compliance; otherwise a line that says why there is none, and the exit code is the tac_result without its
// sign.
#include "base/log.h"
#include "tissue/compliance/image.h"
#include "tissue/elastic/body.h"
#include "tissue/elastic/request.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 16
// The part of the time that lattice and factorisation take.
#define BEFORE_COLUMNS 0.1

static char message[ELASTIC_MESSAGE];

static void keep(void *user, tac_log_level level, const char *text)
{
	(void)user;
	if (level == TAC_LOG_ERROR)
		snprintf(message, sizeof message, "%s", text);
}

static void tell(double part)
{
	const float done = (float)part;
	// Progress that nobody reads is lost, and no reason to stop.
	if (write(ELASTIC_PROGRESS_FD, &done, sizeof done) != (ssize_t)sizeof done)
		return;
}

static void columns_done(void *user, double part)
{
	(void)user;
	tell(BEFORE_COLUMNS + (1 - BEFORE_COLUMNS) * part);
}

static int threads(void)
{
	cpu_set_t set;
	const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count < THREADS_MAX ? count : THREADS_MAX;
}

static tac_result compute(const void *request, size_t size, const char *name)
{
	tac_elastic_def def;
	if (!tac_elastic_request_decode(request, size, &def)) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected a request of this version, found %zu other bytes", name,
			size);
		return TAC_ERROR_FORMAT;
	}
	def.name = name;
	elastic_body body;
	tac_compliance *compliance = NULL;
	tell(0);
	tac_result result = tac_elastic_check(&def);
	if (result == TAC_OK)
		result = tac_elastic_body_init(&body, &def);
	if (result == TAC_OK) {
		tell(BEFORE_COLUMNS / 5);
		result = tac_elastic_body_compute(&body, &def, tac_elastic_request_hash(request, size),
						  threads(), columns_done, NULL, &compliance);
		tac_elastic_body_fini(&body);
	}
	if (result == TAC_OK &&
	    !tac_elastic_write_all(ELASTIC_RESULT_FD, compliance->image, compliance->image_bytes)) {
		tac_log(TAC_LOG_ERROR, "tissue of %s: expected to return the result, found: %s", name,
			strerror(errno));
		result = ftruncate(ELASTIC_RESULT_FD, 0) == 0 && lseek(ELASTIC_RESULT_FD, 0, SEEK_SET) == 0
				 ? TAC_ERROR_MEMORY
				 : TAC_ERROR_SYSTEM;
	}
	tac_compliance_destroy(&compliance);
	tac_elastic_request_release(&def);
	return result;
}

int main(int argc, char **argv)
{
	struct stat status;
	if (argc != 3 || fstat(ELASTIC_REQUEST_FD, &status) != 0) {
		fprintf(stderr,
			"tactus-elastic: expected to be started by Tactus, with a body in descriptor %d\n",
			ELASTIC_REQUEST_FD);
		return 2;
	}
	// Nobody waits for the result of a runtime that has ended, even before this line.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)strtol(argv[2], NULL, 10))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	tac_log_set(keep, NULL);
	const size_t size = (size_t)status.st_size;
	void *request =
		size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, ELASTIC_REQUEST_FD, 0) : MAP_FAILED;
	if (request == MAP_FAILED)
		return 2;
	const tac_result result = compute(request, size, argv[1]);
	if (result != TAC_OK && !tac_elastic_write_all(ELASTIC_RESULT_FD, message, strlen(message)))
		return 2;
	return -(int)result;
}
