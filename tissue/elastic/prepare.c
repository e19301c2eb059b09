// The runtime's side: the program that computes what the cache lacks.
#include "tissue/elastic.h"

#include "base/helper.h"
#include "base/log.h"
#include "tissue/compliance/image.h"
#include "tissue/elastic/cache.h"
#include "tissue/elastic/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS 3
#define FIRST_FREE  (TAC_HELPER_FIRST_FD + DESCRIPTORS)

_Static_assert(ELASTIC_REQUEST_FD == TAC_HELPER_FIRST_FD && ELASTIC_PROGRESS_FD == FIRST_FREE - 1,
	       "the descriptors of the program follow each other");

static struct {
	tac_elastic_progress fn;
	void *user;
} told;

void tac_elastic_set_progress(tac_elastic_progress fn, void *user)
{
	told.fn = fn;
	told.user = user;
}

tac_elastic_def tac_elastic_def_default(void)
{
	return (tac_elastic_def){
		.name = "body", .material = {5400, 0.45, 0, 0}, .spacing_m = 0.005, .order = 1};
}

static tac_result refuse(const tac_elastic_def *def, const char *expected)
{
	tac_log(TAC_LOG_ERROR, "tissue of %s: expected %s", def->name, expected);
	return TAC_ERROR_ARGUMENT;
}

static bool elastic(double young_Pa, double poisson)
{
	return young_Pa > 0 && young_Pa <= 1e15 && poisson > -1 && poisson < 0.5;
}

static tac_result check_mesh(const tac_elastic_def *def, const tac_mesh *mesh, const char *expected)
{
	if (mesh && tac_mesh_is_watertight(mesh)) {
		if (tac_mesh_volume(mesh) > 0)
			return TAC_OK;
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: expected %s whose triangles face outwards, found a volume of %.3g "
			"mm^3: it is "
			"flat or inside out",
			def->name, expected, tac_mesh_volume(mesh) * 1e9);
		return TAC_ERROR_ARGUMENT;
	}
	tac_log(TAC_LOG_ERROR, "tissue of %s: expected %s, found %d open and %d flipped edges", def->name,
		expected, mesh ? mesh->open_edges : 0, mesh ? mesh->flipped_edges : 0);
	return TAC_ERROR_ARGUMENT;
}

tac_result tac_elastic_check(const tac_elastic_def *def)
{
	const tac_compliance_material *m = &def->material;
	if (check_mesh(def, def->mesh, "a closed mesh") != TAC_OK)
		return TAC_ERROR_ARGUMENT;
	if (!elastic(m->young_Pa, m->poisson) || !(m->creep >= 0 && m->creep <= 1e6) ||
	    !(m->creep_time_s >= 0 && m->creep_time_s <= 1e9))
		return refuse(def, "a Young's modulus above 0 Pa and a Poisson's ratio from -1 to below 0.5");
	if (!(def->spacing_m > 0) || (def->order != 1 && def->order != 2) || !(def->touch_radius_m >= 0) ||
	    !tac_dvec3_finite(def->touch_centre_m))
		return refuse(def, "a spacing above 0 m, and elements of order 1 or 2");
	if (def->inside_count < 0 || def->inside_count > TAC_ELASTIC_INSIDE_MAX)
		return refuse(def, "at most 8 things inside");
	if (def->fixed_count < 1 || def->fixed_count > TAC_ELASTIC_FIXED_MAX)
		return refuse(def, "1 to 8 fixed parts");
	double stiffest = m->poisson;
	for (int32_t i = 0; i < def->inside_count; i++) {
		const tac_elastic_inside *in = &def->inside[i];
		if (check_mesh(def, in->mesh, "a closed mesh inside") != TAC_OK)
			return TAC_ERROR_ARGUMENT;
		if (!elastic(in->young_Pa, in->poisson))
			return refuse(
				def,
				"a Young's modulus above 0 Pa and a Poisson's ratio from -1 to below 0.5");
		stiffest = fmax(stiffest, in->poisson);
	}
	for (int32_t i = 0; i < def->fixed_count; i++) {
		if (def->fixed[i].mesh &&
		    check_mesh(def, def->fixed[i].mesh, "a closed mesh of a fixed part") != TAC_OK)
			return TAC_ERROR_ARGUMENT;
	}
	if (def->order == 1 && stiffest > 0.47)
		tac_log(TAC_LOG_WARNING,
			"tissue of %s: linear elements are too stiff for a Poisson's ratio of %.5g; order 2 "
			"is not",
			def->name, stiffest);
	return TAC_OK;
}

uint64_t tac_elastic_hash(const tac_elastic_def *def)
{
	size_t size;
	void *request = tac_elastic_request_encode(def, &size);
	const uint64_t hash = request ? tac_elastic_request_hash(request, size) : 0;
	free(request);
	return hash;
}

bool tac_elastic_cache_path(const tac_elastic_def *def, char *out_path, size_t size)
{
	return tac_elastic_cache_file(def, tac_elastic_hash(def), out_path, size);
}

// ---- the program ----

static tac_result find_program(const tac_elastic_def *def, char out[TAC_HELPER_PATH])
{
	static const char *const places[] = {"tactus-elastic", "../libexec/tactus/tactus-elastic",
					     "../../libexec/tactus/tactus-elastic", NULL};
	const tac_helper_def helper = {def->program, "TACTUS_ELASTIC", places, TAC_ELASTIC_INSTALLED};
	char reason[2 * TAC_HELPER_PATH];
	if (tac_helper_find_program(&helper, out, reason, sizeof reason))
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "tissue of %s: no program to compute it: %s", def->name, reason);
	return TAC_ERROR_UNSUPPORTED;
}

// Reads the parts that are done until the program closes its end, which its death does too.
static void follow(const tac_elastic_def *def, int progress_fd)
{
	float part;
	for (;;) {
		const ssize_t n = read(progress_fd, &part, sizeof part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof part)
			return;
		if (told.fn && part >= 0 && part <= 1)
			told.fn(told.user, def->name, (double)part);
	}
}

// The line that the program left instead of a result.
static void log_message(const tac_elastic_def *def, int result_fd, int status)
{
	char message[ELASTIC_MESSAGE] = "";
	const ssize_t n = pread(result_fd, message, sizeof message - 1, 0);
	if (WIFEXITED(status) && n > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if ((unsigned char)message[i] < ' ')
				message[i] = message[i] ? ' ' : 0;
		}
		tac_log(TAC_LOG_ERROR, "%s", message);
	} else if (WIFSIGNALED(status)) {
		tac_log(TAC_LOG_ERROR,
			"tissue of %s: its computation was ended by %s: too little memory, or a defect",
			def->name, strsignal(WTERMSIG(status)));
	} else {
		tac_log(TAC_LOG_ERROR, "tissue of %s: its computation failed with exit code %d", def->name,
			WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	}
}

static tac_result run(const tac_elastic_def *def, const char *program, const int fds[DESCRIPTORS],
		      int progress_fd)
{
	char name[] = "tactus-elastic", body[256], parent[24];
	snprintf(body, sizeof body, "%s", def->name);
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	char *const arguments[] = {name, body, parent, NULL};
	char *const environment[] = {NULL};
	int high[DESCRIPTORS] = {-1, -1, -1}, error = 0;
	for (int k = 0; k < DESCRIPTORS && !error; k++) {
		high[k] = fcntl(fds[k], F_DUPFD_CLOEXEC, FIRST_FREE);
		error = high[k] < 0 ? errno : 0;
	}
	pid_t pid = 0;
	if (!error) {
		const tac_helper_start_def start = {program, arguments, environment, high, DESCRIPTORS};
		error = tac_helper_start(&start, &pid);
	}
	for (int k = 0; k < DESCRIPTORS; k++) {
		if (high[k] >= 0)
			close(high[k]);
	}
	close(fds[2]); // the program alone holds the writing end now, so its death ends the reading
	if (error) {
		tac_log(TAC_LOG_ERROR, "tissue of %s: %s could not be started: %s", def->name, program,
			strerror(error));
		return TAC_ERROR_SYSTEM;
	}
	follow(def, progress_fd);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return TAC_OK;
	log_message(def, fds[1], status);
	// The program's exit code is the result of what it tried, without its sign.
	return WIFEXITED(status) && WEXITSTATUS(status) == -TAC_ERROR_ARGUMENT ? TAC_ERROR_ARGUMENT
									       : TAC_ERROR_SYSTEM;
}

static tac_result compute(const tac_elastic_def *def, const void *request, size_t size, uint64_t hash,
			  tac_compliance **out_compliance)
{
	char program[TAC_HELPER_PATH];
	tac_result result = find_program(def, program);
	if (result != TAC_OK)
		return result;
	int pipe_fds[2] = {-1, -1};
	const int request_fd = memfd_create("tactus-request", MFD_CLOEXEC);
	const int result_fd = memfd_create("tactus-tissue", MFD_CLOEXEC);
	if (request_fd < 0 || result_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) != 0 ||
	    !tac_elastic_write_all(request_fd, request, size)) {
		tac_log(TAC_LOG_ERROR, "tissue of %s: no memory files for its computation: %s", def->name,
			strerror(errno));
		result = TAC_ERROR_SYSTEM;
		if (pipe_fds[1] >= 0)
			close(pipe_fds[1]);
	} else {
		const int fds[DESCRIPTORS] = {request_fd, result_fd, pipe_fds[1]};
		result = run(def, program, fds, pipe_fds[0]);
	}
	if (result == TAC_OK)
		result = tac_compliance_open_fd(result_fd, def->name, hash, out_compliance);
	if (pipe_fds[0] >= 0)
		close(pipe_fds[0]);
	if (request_fd >= 0)
		close(request_fd);
	if (result_fd >= 0)
		close(result_fd);
	return result;
}

tac_result tac_elastic_prepare(const tac_elastic_def *def, tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	tac_result result = tac_elastic_check(def);
	if (result != TAC_OK)
		return result;
	size_t size;
	void *request = tac_elastic_request_encode(def, &size);
	if (!request) {
		tac_log(TAC_LOG_ERROR, "tissue of %s: out of memory", def->name);
		return TAC_ERROR_MEMORY;
	}
	const uint64_t hash = tac_elastic_request_hash(request, size);
	char path[PATH_MAX];
	const bool cached = tac_elastic_cache_file(def, hash, path, sizeof path);
	// A damaged file is reported by tac_compliance_open and computed again.
	if (!cached || access(path, F_OK) != 0 || tac_compliance_open(path, hash, out_compliance) != TAC_OK) {
		result = compute(def, request, size, hash, out_compliance);
		if (result == TAC_OK && cached)
			tac_elastic_cache_keep(*out_compliance, path);
	} else {
		tac_elastic_cache_used(path);
	}
	free(request);
	return result;
}
