#include "apps/session/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void copy_plain(char *out, size_t size, const char *text)
{
	size_t length = 0;
	for (; *text && length + 1 < size; text++) {
		if (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\')
			out[length++] = *text;
	}
	out[length] = '\0';
}

// The value of the first "key : value" line of /proc/cpuinfo; an empty string if there is none.
static void read_cpuinfo(const char *key, char *out, size_t size)
{
	out[0] = '\0';
	FILE *file = fopen("/proc/cpuinfo", "r");
	if (!file)
		return;
	char line[4096];
	while (out[0] == '\0' && fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');
		if (colon && strncmp(line, key, strlen(key)) == 0)
			copy_plain(out, size, colon + (colon[1] == ' ' ? 2 : 1));
	}
	fclose(file);
}

static bool file_begins_with_1(const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	bool one = fgetc(file) == '1';
	fclose(file);
	return one;
}

machine machine_describe(void)
{
	machine m = {.cpu_count = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	read_cpuinfo("model name", m.cpu, sizeof m.cpu);
	if (m.cpu[0] == '\0')
		snprintf(m.cpu, sizeof m.cpu, "unknown");
	char flags[4096];
	read_cpuinfo("flags", flags, sizeof flags);
	m.hypervisor = strstr(flags, "hypervisor") != NULL;
	m.realtime = file_begins_with_1("/sys/kernel/realtime");
	struct utsname name;
	copy_plain(m.kernel, sizeof m.kernel, uname(&name) == 0 ? name.release : "unknown");
	return m;
}
