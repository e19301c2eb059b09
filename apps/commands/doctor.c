// tactus doctor: checks on one screen what a run needs from this machine, and prints the commands that mend
// what is missing.
#include "apps/commands/commands.h"
#include "apps/session/json.h"
#include "apps/session/machine.h"
#include "apps/session/options.h"
#include "base/log.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "devices/registry.h"
#include "rt/thread.h"
#include "tissue/elastic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECKS_MAX 32
#define REMEDY_MAX 3 // lines
#define REALTIME_RULE                                                                                        \
	"printf '@realtime - rtprio 99\\n@realtime - memlock unlimited\\n' | sudo tee "                      \
	"/etc/security/limits.d/realtime.conf"

typedef enum check_state {
	CHECK_OK,
	CHECK_NOTE, // nothing is wrong, but it could be better, or something optional is missing
	CHECK_MEND, // a run would suffer
} check_state;

static const char *const state_names[] = {"ok", "note", "mend"};

typedef struct check {
	const char *name;
	check_state state;
	char text[320];
	const char *remedies[REMEDY_MAX]; // commands to paste, ended by NULL
} check;

typedef struct examination {
	check checks[CHECKS_MAX];
	int count;
	char logged[320]; // the last log line
} examination;

__attribute__((format(printf, 4, 5))) static check *add(examination *e, const char *name, check_state state,
							const char *format, ...)
{
	static check spare;
	check *c = e->count < CHECKS_MAX ? &e->checks[e->count++] : &spare;
	*c = (check){.name = name, .state = state};
	va_list args;
	va_start(args, format);
	vsnprintf(c->text, sizeof c->text, format, args);
	va_end(args);
	return c;
}

static void keep_line(void *user, tac_log_level level, const char *message)
{
	examination *e = user;
	(void)level;
	snprintf(e->logged, sizeof e->logged, "%s", message);
}

// The first line of a file; "" if it cannot be read.
static const char *first_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	if (!file || !fgets(out, (int)size, file))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (file)
		fclose(file);
	return out;
}

// ---- real time ----

// Requests from the kernel what the loop requests, on a thread of its own: the answer is the check.
static void *request(void *user)
{
	tac_thread_report *report = user;
	const tac_thread_def def = tac_thread_def_default();
	if (tac_thread_enter(&def, report) >= TAC_OK)
		tac_thread_leave(report);
	return NULL;
}

static void check_grants(examination *e)
{
	static const struct {
		tac_grant_item item;
		const char *name;
		check_state refused;
		const char *remedies[REMEDY_MAX];
	} grants[] = {
		{TAC_GRANT_POLICY,
		 "scheduler",
		 CHECK_MEND,
		 {"sudo groupadd -f realtime && sudo usermod -aG realtime $USER", REALTIME_RULE}},
		{TAC_GRANT_MEMORY,
		 "memory lock",
		 CHECK_MEND,
		 {"sudo groupadd -f realtime && sudo usermod -aG realtime $USER", REALTIME_RULE}},
		{TAC_GRANT_CPU_AWAKE,
		 "idle states",
		 CHECK_MEND,
		 {"echo 'KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"' | sudo tee "
		  "/etc/udev/rules.d/80-cpu-dma-latency.rules",
		  "sudo udevadm control --reload && sudo udevadm trigger /dev/cpu_dma_latency"}},
	};
	tac_thread_report report = {0};
	pthread_t thread;
	if (tac_thread_start(&thread, request, &report) != TAC_OK)
		return;
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof grants / sizeof grants[0]; i++) {
		char line[320];
		tac_thread_report_line(&report, grants[i].item, line, sizeof line);
		const bool granted = report.grants[grants[i].item].state == TAC_GRANT_GRANTED;
		check *c = add(e, grants[i].name, granted ? CHECK_OK : grants[i].refused, "%s", line);
		if (!granted)
			memcpy(c->remedies, grants[i].remedies, sizeof c->remedies);
	}
}

static void check_kernel(examination *e)
{
	const machine m = machine_describe();
	char text[128];
	check *c = add(e, "kernel", m.realtime ? CHECK_OK : CHECK_NOTE, "Linux %s, %s%s", m.kernel,
		       m.realtime ? "PREEMPT_RT" : "not PREEMPT_RT",
		       m.hypervisor ? "; under a hypervisor, which is as real-time as its host" : "");
	if (!m.realtime && !m.hypervisor)
		c->remedies[0] = "sudo apt-get install linux-image-rt-amd64";
	struct timespec resolution = {0};
	clock_getres(CLOCK_MONOTONIC, &resolution);
	const bool fine = resolution.tv_sec == 0 && resolution.tv_nsec <= 1000;
	add(e, "timers", fine ? CHECK_OK : CHECK_MEND, "resolution of %ld ns", resolution.tv_nsec);
	first_line("/proc/sys/kernel/sched_rt_runtime_us", text, sizeof text);
	if (*text)
		add(e, "throttling", CHECK_OK, "real-time threads get %s us of each second's 1000000",
		    strcmp(text, "-1") == 0 ? "all 1000000" : text);
	first_line("/sys/devices/system/cpu/isolated", text, sizeof text);
	if (*text)
		add(e, "isolation", CHECK_OK, "CPU %s is reserved: use --cpu", text);
	else
		add(e, "isolation", CHECK_NOTE,
		    "no CPU is reserved; boot with isolcpus=N nohz_full=N rcu_nocbs=N for the last "
		    "microseconds");
	first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
	if (*text && strcmp(text, "performance") != 0) {
		c = add(e, "frequency", CHECK_NOTE, "the governor is %s", text);
		c->remedies[0] = "sudo cpupower frequency-set -g performance";
	} else if (*text) {
		add(e, "frequency", CHECK_OK, "the governor is performance");
	}
}

// ---- devices, display, meshes ----

static void check_drivers(examination *e)
{
	for (int i = 0; tac_registry_driver_at(i); i++) {
		const tac_driver *driver = tac_registry_driver_at(i);
		tac_driver_report report;
		tac_registry_list(driver, &report);
		const bool refused =
			report.state == TAC_DRIVER_NO_PERMISSION || report.state == TAC_DRIVER_FAILED;
		for (int k = 0; k < report.count; k++) {
			const tac_driver_device *d = &report.devices[k];
			if (d->state != TAC_DRIVER_READY)
				add(e, driver->name, CHECK_MEND, "%s: %s: %s", d->selection,
				    tac_driver_state_name(d->state), d->reason);
		}
		if (report.state == TAC_DRIVER_READY && strcmp(driver->name, "sim") != 0 && report.count > 0)
			add(e, driver->name, CHECK_OK, "%d device%s found", report.count,
			    report.count == 1 ? "" : "s");
		else if (report.state != TAC_DRIVER_READY)
			add(e, driver->name, refused ? CHECK_MEND : CHECK_NOTE, "%s: %s",
			    tac_driver_state_name(report.state), report.reason);
	}
}

static void check_display(examination *e)
{
	const char *wayland = secure_getenv("WAYLAND_DISPLAY");
	const char *display = wayland ? wayland : secure_getenv("DISPLAY");
	if (display && *display)
		add(e, "display", CHECK_OK, "%s", display);
	else
		add(e, "display", CHECK_NOTE,
		    "none: --view prints a line and the run goes on without a window");
}

// Loads a mesh of one triangle through the importer.
static void check_importer(examination *e)
{
	char path[] = "/tmp/tactus-doctor-XXXXXX.off";
	static const char text[] = "OFF\n3 1 0\n0 0 0\n0.1 0 0\n0 0.1 0\n3 0 1 2\n";
	const int fd = mkstemps(path, 4);
	if (fd < 0 || write(fd, text, sizeof text - 1) != (ssize_t)(sizeof text - 1)) {
		add(e, "importer", CHECK_NOTE, "not checked: no file can be written in /tmp");
	} else {
		tac_mesh *mesh = NULL;
		tac_log_set(keep_line, e);
		const bool loaded = tac_mesh_load(path, NULL, &mesh) == TAC_OK;
		tac_log_set(NULL, NULL);
		tac_mesh_destroy(&mesh);
		add(e, "importer", loaded ? CHECK_OK : CHECK_MEND, "%s",
		    loaded ? "mesh files can be loaded" : e->logged);
	}
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
}

// Prepares a small ball as a soft body. A build without the solver lacks the program, which is no fault.
static void check_tissue(examination *e)
{
	tac_mesh *mesh = NULL;
	tac_compliance *compliance = NULL;
	tac_log_set(keep_line, e);
	tac_result result = tac_mesh_build_icosphere(0.02f, 2, &mesh);
	if (result >= TAC_OK) {
		tac_elastic_def def = tac_elastic_def_default();
		def.name = "a ball";
		def.mesh = mesh;
		def.spacing_m = 0.01;
		def.fixed[0] = (tac_elastic_fixed){NULL, tac_dvec3_splat(-1), tac_dvec3_make(1, 1, 0)};
		def.fixed_count = 1;
		def.cache_folder = "";
		result = tac_elastic_prepare(&def, &compliance);
	}
	tac_log_set(NULL, NULL);
	const check_state missing = result == TAC_ERROR_UNSUPPORTED ? CHECK_NOTE : CHECK_MEND;
	add(e, "soft tissue", result >= TAC_OK ? CHECK_OK : missing, "%s",
	    result >= TAC_OK ? "soft bodies can be prepared" : e->logged);
	tac_compliance_destroy(&compliance);
	tac_mesh_destroy(&mesh);
}

// ---- output ----

// The commands of all checks, each once.
static int list_remedies(const examination *e, const char **out)
{
	int count = 0;
	for (int i = 0; i < e->count; i++) {
		for (int k = 0; k < REMEDY_MAX && e->checks[i].remedies[k]; k++) {
			bool listed = false;
			for (int j = 0; j < count; j++)
				listed |= strcmp(out[j], e->checks[i].remedies[k]) == 0;
			if (!listed)
				out[count++] = e->checks[i].remedies[k];
		}
	}
	return count;
}

static void print_text(const examination *e, bool suffers)
{
	for (int i = 0; i < e->count; i++)
		printf("%-5s %-12s %s\n", state_names[e->checks[i].state], e->checks[i].name,
		       e->checks[i].text);
	const char *remedies[CHECKS_MAX * REMEDY_MAX];
	const int count = list_remedies(e, remedies);
	if (count > 0)
		printf("\nto paste (then log in again):\n");
	for (int i = 0; i < count; i++)
		printf("  %s\n", remedies[i]);
	printf("\n%s\n", suffers ? "a run would suffer from what is to be mended"
				 : "everything that a run needs is there");
}

static void print_json(const examination *e, bool suffers)
{
	printf("{\"ok\": %s, \"checks\": [", suffers ? "false" : "true");
	for (int i = 0; i < e->count; i++) {
		const check *c = &e->checks[i];
		printf("%s\n  {\"name\": \"%s\", \"state\": \"%s\", \"text\": ", i ? "," : "", c->name,
		       state_names[c->state]);
		json_print_string(stdout, c->text);
		printf(", \"remedies\": [");
		for (int k = 0; k < REMEDY_MAX && c->remedies[k]; k++) {
			printf("%s", k ? ", " : "");
			json_print_string(stdout, c->remedies[k]);
		}
		printf("]}");
	}
	printf("\n]}\n");
}

int cmd_doctor(int argc, char **argv)
{
	bool json = false;
	const option_def options[] = {
		{"json", OPTION_FLAG, &json, 0, 0, NULL, NULL, "print one JSON object"},
		{0},
	};
	const command_line line = {"tactus doctor",
				   "check what a run needs from this machine; exit code 1 if it would suffer",
				   options};
	int code;
	if (!options_parse(&line, argc, argv, &code))
		return code;
	examination *e = calloc(1, sizeof *e);
	if (!e) {
		fprintf(stderr, "tactus doctor: no memory\n");
		return EXIT_FAILURE;
	}
	check_grants(e);
	check_kernel(e);
	check_importer(e);
	check_tissue(e);
	check_display(e);
	check_drivers(e);
	bool suffers = false;
	for (int i = 0; i < e->count; i++)
		suffers |= e->checks[i].state == CHECK_MEND;
	if (json)
		print_json(e, suffers);
	else
		print_text(e, suffers);
	free(e);
	return suffers ? EXIT_FAILURE : EXIT_SUCCESS;
}
