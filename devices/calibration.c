#include "devices/calibration.h"

#include "base/input.h"
#include "base/log.h"
#include "base/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_LINE "tactus calibration 1"
#define FILE_MAX   4096 // bytes; a valid file has about 150

// ---- text ----

static bool within_reach(tac_dvec3 v)
{
	return tac_dvec3_max_component(tac_dvec3_abs(v)) <= TAC_CALIBRATION_REACH_MAX_M;
}

// What the values are expected to be and are not; NULL if they are valid.
static const char *violation(const tac_calibration *c)
{
	const tac_dvec3 size = tac_dvec3_sub(c->workspace_max_m, c->workspace_min_m);
	if (!tac_dvec3_finite(size) || !within_reach(c->workspace_min_m) ||
	    !within_reach(c->workspace_max_m) || size.x < 0 || size.y < 0 || size.z < 0)
		return "a workspace whose minimum is not above its maximum, within 5 m";
	if (!(c->weight_N >= 0 && c->weight_N <= TAC_CALIBRATION_WEIGHT_MAX_N))
		return "a weight from 0 to 5 N";
	return NULL;
}

size_t tac_calibration_encode(const tac_calibration *c, char *out, size_t size)
{
	const int count = snprintf(
		out, size,
		FIRST_LINE "\nworkspace_min_m = %.9g %.9g %.9g\nworkspace_max_m = %.9g %.9g %.9g\n"
			   "weight_N = %.9g\nleft_handed = %s\n",
		c->workspace_min_m.x, c->workspace_min_m.y, c->workspace_min_m.z, c->workspace_max_m.x,
		c->workspace_max_m.y, c->workspace_max_m.z, c->weight_N, c->left_handed ? "yes" : "no");
	return count > 0 && (size_t)count < size ? (size_t)count : 0;
}

// Parses `count` numbers with nothing after them.
static bool parse_numbers(const char *text, double *out, int count)
{
	for (int i = 0; i < count; i++) {
		char *end;
		out[i] = strtod(text, &end);
		if (end == text || !(fabs(out[i]) < 1e9))
			return false;
		text = end;
	}
	return text[strspn(text, " \t\r")] == '\0';
}

// The keys, each of which occurs at most once, the first two together.
static const char *const keys[] = {"workspace_min_m", "workspace_max_m", "weight_N", "left_handed"};
#define KEYS (int)(sizeof keys / sizeof keys[0])

static bool parse_line(const char *key, const char *value, tac_calibration *c)
{
	double v[3];
	if (strcmp(key, "workspace_min_m") == 0 || strcmp(key, "workspace_max_m") == 0) {
		if (!parse_numbers(value, v, 3))
			return false;
		*(key[11] == 'i' ? &c->workspace_min_m : &c->workspace_max_m) = tac_dvec3_load(v);
		return true;
	}
	if (strcmp(key, "weight_N") == 0)
		return parse_numbers(value, &c->weight_N, 1);
	if (strcmp(key, "left_handed") == 0) {
		const size_t length = strcspn(value, " \t\r");
		c->left_handed = length == 3 && strncmp(value, "yes", 3) == 0;
		return (c->left_handed || (length == 2 && strncmp(value, "no", 2) == 0)) &&
		       value[length + strspn(value + length, " \t\r")] == '\0';
	}
	return false;
}

static bool is_first_line(const char *line)
{
	const size_t length = strlen(FIRST_LINE);
	return strncmp(line, FIRST_LINE, length) == 0 &&
	       line[length + strspn(line + length, " \t\r")] == '\0';
}

bool tac_calibration_decode(const char *text, tac_calibration *out_calibration, char *out_reason,
			    size_t reason_size)
{
	tac_calibration c = {0};
	char line[256];
	int found[KEYS] = {0};
	for (int number = 1; number == 1 || *text; number++) {
		const size_t length = strcspn(text, "\n");
		snprintf(line, sizeof line, "%.*s", length < 255 ? (int)length : 255, text);
		if (text[length] != '\n') {
			snprintf(out_reason, reason_size,
				 "expected the end of line %d, found the end of the file", number);
			return false;
		}
		text += length + 1;
		char key[32], value[200];
		const bool blank = line[strspn(line, " \t\r")] == '\0';
		const bool valid =
			number == 1 ? is_first_line(line)
				    : blank || (sscanf(line, " %31[a-zA-Z_] = %199[^\n]", key, value) == 2 &&
						parse_line(key, value, &c));
		if (!valid) {
			snprintf(out_reason, reason_size, "expected %s in line %d, found '%.60s'",
				 number == 1 ? "'" FIRST_LINE "'" : "a value of a calibration", number, line);
			return false;
		}
		for (int k = 0; k < KEYS; k++)
			found[k] += number > 1 && !blank && strcmp(key, keys[k]) == 0;
	}
	for (int k = 0; k < KEYS; k++) {
		if (found[k] > 1) {
			snprintf(out_reason, reason_size, "expected '%s' once, found it %d times", keys[k],
				 found[k]);
			return false;
		}
	}
	if (found[0] != found[1]) {
		snprintf(out_reason, reason_size, "expected '%s' and '%s' together, found one of them",
			 keys[0], keys[1]);
		return false;
	}
	const char *expected = violation(&c);
	if (expected)
		snprintf(out_reason, reason_size, "expected %s, found other values", expected);
	else
		*out_calibration = c;
	return !expected;
}

// ---- the file ----

// The folder of the files; false without a home folder.
static bool folder_of(char *out, size_t size)
{
	const char *config = secure_getenv("XDG_CONFIG_HOME");
	const char *home = secure_getenv("HOME");
	if (config && config[0] == '/') // the XDG specification: relative paths are ignored
		return snprintf(out, size, "%s/tactus/devices", config) < (int)size;
	return home && *home && snprintf(out, size, "%s/.config/tactus/devices", home) < (int)size;
}

bool tac_calibration_path(const tac_device_info *info, char *out, size_t size)
{
	char folder[512], name[80];
	if (!folder_of(folder, sizeof folder))
		return false;
	const int driver = (int)strcspn(info->name, ":");
	if (info->serial[0])
		snprintf(name, sizeof name, "%.*s-%s", driver, info->name, info->serial);
	else
		snprintf(name, sizeof name, "%s", info->name);
	for (char *c = name; *c; c++) {
		const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
				   (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
		*c = plain ? *c : '_';
	}
	return snprintf(out, size, "%s/%s.conf", folder, name) < (int)size;
}

tac_result tac_calibration_load(const tac_device_info *info, tac_calibration *out_calibration,
				bool *out_found)
{
	char path[640], text[FILE_MAX + 1], reason[160];
	*out_calibration = (tac_calibration){0};
	*out_found = false;
	if (!tac_calibration_path(info, path, sizeof path))
		return TAC_OK;
	FILE *file = tac_input_open(path);
	if (!file && errno == ENOENT)
		return TAC_OK;
	size_t count = 0;
	if (file) {
		count = fread(text, 1, sizeof text, file);
		snprintf(reason, sizeof reason, "expected a calibration, found %s",
			 ferror(file)       ? "a file that cannot be read"
			 : count > FILE_MAX ? "a file that is too long"
			 : count == 0       ? "an empty file"
					    : "bytes that are not text");
	} else {
		snprintf(reason, sizeof reason, "expected to read it, found: %s", tac_input_reason(errno));
	}
	const bool complete =
		file && !ferror(file) && count > 0 && count <= FILE_MAX && !memchr(text, 0, count);
	if (file)
		fclose(file);
	if (complete) {
		text[count] = '\0';
		*out_found = tac_calibration_decode(text, out_calibration, reason, sizeof reason);
	}
	if (*out_found)
		return TAC_OK;
	tac_log(TAC_LOG_WARNING, "%s: %s; continuing without it", path, reason);
	return TAC_PARTIAL;
}

// Creates the missing folders of `path`.
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

tac_result tac_calibration_save(const tac_device_info *info, const tac_calibration *calibration)
{
	char path[640], text[FILE_MAX];
	const char *expected = violation(calibration);
	if (expected) {
		tac_log(TAC_LOG_ERROR, "calibration: expected %s, found other values", expected);
		return TAC_ERROR_ARGUMENT;
	}
	if (!tac_calibration_path(info, path, sizeof path)) {
		tac_log(TAC_LOG_ERROR,
			"calibration: expected a home folder in HOME or XDG_CONFIG_HOME, found none");
		return TAC_ERROR_IO;
	}
	make_folders(path);
	const size_t count = tac_calibration_encode(calibration, text, sizeof text);
	tac_output *output;
	const tac_result result = tac_output_create(path, "calibration", &output);
	if (result < TAC_OK)
		return result;
	fwrite(text, 1, count, tac_output_file(output));
	return tac_output_commit(&output);
}

// ---- the device ----

typedef struct calibrated {
	tac_device base;
	tac_device *inner;
	tac_dvec3 centre_m; // in the driver's frame
	bool mirrored;
} calibrated;

static calibrated *calibrated_of(tac_device *device)
{
	return (calibrated *)device;
}

// The mirror image at the plane x = 0. Rotations about all axes but x change their sense.
static tac_dvec3 mirror(tac_dvec3 v)
{
	return tac_dvec3_make(-v.x, v.y, v.z);
}

static tac_dvec3 mirror_rotation(tac_dvec3 v)
{
	return tac_dvec3_make(v.x, -v.y, -v.z);
}

static tac_device_status calibrated_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	const calibrated *c = calibrated_of(device);
	const tac_device_status status = c->inner->read(c->inner, now_ns, out_state);
	tac_dpose *T = &out_state->T_base_tool;
	T->position = tac_dvec3_sub(T->position, c->centre_m);
	if (c->mirrored) {
		T->position = mirror(T->position);
		T->rotation.y = -T->rotation.y;
		T->rotation.z = -T->rotation.z;
		out_state->velocity_m_per_s = mirror(out_state->velocity_m_per_s);
		out_state->angular_velocity_rad_per_s =
			mirror_rotation(out_state->angular_velocity_rad_per_s);
	}
	return status;
}

static tac_device_status calibrated_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	const calibrated *c = calibrated_of(device);
	tac_wrench mirrored = *wrench;
	if (c->mirrored) {
		mirrored.force_N = mirror(mirrored.force_N);
		mirrored.torque_Nm = mirror_rotation(mirrored.torque_Nm);
	}
	return c->inner->write(c->inner, now_ns, &mirrored);
}

static void calibrated_set_gripper(tac_device *device, double force_N)
{
	tac_device_set_gripper(calibrated_of(device)->inner, force_N);
}

static void calibrated_enable(tac_device *device, bool on)
{
	tac_device_enable(calibrated_of(device)->inner, on);
}

static void calibrated_destroy(tac_device *device)
{
	tac_device_destroy(&calibrated_of(device)->inner);
	free(device);
}

tac_result tac_calibration_apply(const tac_calibration *calibration, tac_device **device)
{
	const tac_dvec3 size = tac_dvec3_sub(calibration->workspace_max_m, calibration->workspace_min_m);
	const bool measured = tac_dvec3_length(size) > 0;
	if (!measured && calibration->weight_N == 0 && !calibration->left_handed)
		return TAC_OK;
	calibrated *c = calloc(1, sizeof *c);
	if (!c) {
		tac_log(TAC_LOG_ERROR, "calibration: expected memory for a device, found none");
		return TAC_ERROR_MEMORY;
	}
	c->base = (tac_device){(*device)->info,   calibrated_read,    calibrated_write,
			       calibrated_enable, calibrated_destroy, calibrated_set_gripper};
	c->inner = *device;
	c->mirrored = calibration->left_handed;
	tac_device_info *info = &c->base.info;
	info->weight_N = calibration->weight_N;
	if (measured) {
		c->centre_m = tac_dvec3_lerp(calibration->workspace_min_m, calibration->workspace_max_m, 0.5);
		info->workspace_min_m = tac_dvec3_scale(size, -0.5);
		info->workspace_max_m = tac_dvec3_scale(size, 0.5);
	} else if (c->mirrored) {
		const double min_x = info->workspace_min_m.x;
		info->workspace_min_m.x = -info->workspace_max_m.x;
		info->workspace_max_m.x = -min_x;
	}
	*device = &c->base;
	return TAC_OK;
}
