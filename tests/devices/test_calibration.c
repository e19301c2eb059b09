// Calibration files, and the device that applies them. Oracles: the mirror image computed by hand, and
// damaged files.
#include "devices/calibration.h"

#include "base/rng.h"
#include "devices/sim.h"
#include "tests/support/logged.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unity.h>

static char home[64];
static tac_device *device;
static tac_device_info info;
static const tac_calibration sample = {.workspace_min_m = {-0.05, -0.01, 0.02},
				       .workspace_max_m = {0.03, 0.05, 0.06},
				       .weight_N = 0.25,
				       .left_handed = true};

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	snprintf(home, sizeof home, "/tmp/tactus-calibration-XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(home));
	setenv("XDG_CONFIG_HOME", home, 1);
	info = (tac_device_info){.name = "falcon:whatever", .serial = "A12/..\n"};
}

void tearDown(void)
{
	char command[128];
	tac_device_destroy(&device);
	snprintf(command, sizeof command, "rm -rf '%s'", home);
	TEST_ASSERT_EQUAL_INT(0, system(command));
	tac_log_set(NULL, NULL);
}

static void assert_same(const tac_calibration *a, const tac_calibration *b)
{
	TEST_ASSERT_EQUAL_DOUBLE(a->workspace_min_m.x, b->workspace_min_m.x);
	TEST_ASSERT_EQUAL_DOUBLE(a->workspace_min_m.z, b->workspace_min_m.z);
	TEST_ASSERT_EQUAL_DOUBLE(a->workspace_max_m.y, b->workspace_max_m.y);
	TEST_ASSERT_EQUAL_DOUBLE(a->weight_N, b->weight_N);
	TEST_ASSERT_EQUAL(a->left_handed, b->left_handed);
}

static tac_calibration load(tac_result expected, bool expected_found)
{
	tac_calibration c;
	bool found;
	memset(&c, 0xAA, sizeof c);
	TEST_ASSERT_EQUAL(expected, tac_calibration_load(&info, &c, &found));
	TEST_ASSERT_EQUAL(expected_found, found);
	return c;
}

static void saved_calibration_is_loaded_by_the_serial_number(void)
{
	char path[256];
	TEST_ASSERT_TRUE(tac_calibration_path(&info, path, sizeof path));
	TEST_ASSERT_EQUAL_STRING("/tactus/devices/falcon-A12____.conf", path + strlen(home));
	load(TAC_OK, false); // nothing yet
	TEST_ASSERT_EQUAL_INT(0, logged_lines);
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_save(&info, &sample));
	tac_calibration c = load(TAC_OK, true);
	assert_same(&sample, &c);
	strcpy(info.serial, "B");
	c = load(TAC_OK, false); // another device
	TEST_ASSERT_EQUAL_DOUBLE(0, c.weight_N);
	info.serial[0] = '\0'; // without a serial number: by its name
	TEST_ASSERT_TRUE(tac_calibration_path(&info, path, sizeof path));
	TEST_ASSERT_NOT_NULL(strstr(path, "/falcon_whatever.conf"));
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", "/some/where", 1);
	TEST_ASSERT_TRUE(tac_calibration_path(&info, path, sizeof path));
	TEST_ASSERT_EQUAL_STRING("/some/where/.config/tactus/devices/falcon_whatever.conf", path);
	unsetenv("HOME");
	TEST_ASSERT_FALSE(tac_calibration_path(&info, path, sizeof path));
	load(TAC_OK, false);
}

static void saving_replaces_the_file_atomically(void)
{
	char path[256], folder[256];
	tac_calibration other = sample;
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_save(&info, &sample));
	other.weight_N = 1;
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_save(&info, &other));
	const tac_calibration c = load(TAC_OK, true);
	TEST_ASSERT_EQUAL_DOUBLE(1, c.weight_N);
	tac_calibration_path(&info, path, sizeof path);
	snprintf(folder, sizeof folder, "%s/tactus/devices", home);
	int files = 0;
	DIR *d = opendir(folder);
	while (readdir(d))
		files++;
	closedir(d);
	TEST_ASSERT_EQUAL_INT(3, files); // ., .., and no temporary file
	// If it cannot be written, the old one stays.
	unlink(path);
	TEST_ASSERT_EQUAL_INT(0, mkdir(path, 0755));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_calibration_save(&info, &sample));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	load(TAC_PARTIAL, false); // a folder is no calibration
}

static void invalid_values_are_refused(void)
{
	const double bad[] = {NAN, INFINITY, -1, 5.1};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tac_calibration c = sample;
		c.weight_N = bad[i];
		TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_calibration_save(&info, &c));
		c = sample;
		c.workspace_max_m.x = bad[i];
		TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_calibration_save(&info, &c));
	}
	TEST_ASSERT_EQUAL_INT(8, logged_lines);
	load(TAC_OK, false);
}

static void write_file(const void *bytes, size_t count)
{
	char path[256];
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_save(&info, &sample)); // creates the folder
	tac_calibration_path(&info, path, sizeof path);
	FILE *file = fopen(path, "w");
	TEST_ASSERT_EQUAL(count, fwrite(bytes, 1, count, file));
	fclose(file);
}

static void damaged_file_gives_one_log_line_and_defaults(void)
{
	static const char *const texts[] = {
		"",
		"something else\n",
		"tactus calibration 1\nweight_N = heavy\n",
		"tactus calibration 1\nweight_N = nan\n",
		"tactus calibration 1\nweight_N = 1 2\n",
		"tactus calibration 1\nweight_N = 99\n",
		"tactus calibration 1\nworkspace_min_m = 1 2\n",
		"tactus calibration 1\nworkspace_min_m = 1 2 3\nworkspace_max_m = 0 3 4\n",
		"tactus calibration 1\nleft_handed = maybe\n",
		"tactus calibration 1\nunknown = 1\n",
		"tactus calibration 1\nweight_N\n",
		"tactus calibration 10\nweight_N = 0.5\n",
		"tactus calibration 1\nweight_N = 0.5\nweight_N = 0.5\n",
		"tactus calibration 1\nworkspace_min_m = -1 -1 -1\n",
		"tactus calibration 1\nweight_N = 0.5\nleft_handed = n",
		"tactus calibration 1\nleft_handed = nobody\n",
		"tactus calibration 1",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		write_file(texts[i], strlen(texts[i]));
		logged_lines = 0;
		const tac_calibration c = load(TAC_PARTIAL, false);
		TEST_ASSERT_EQUAL_INT_MESSAGE(1, logged_lines, texts[i]);
		TEST_ASSERT_NOT_NULL(strstr(logged, "expected"));
		TEST_ASSERT_EQUAL_DOUBLE(0, c.weight_N);
		TEST_ASSERT_EQUAL_DOUBLE(0, c.workspace_max_m.x);
	}
	static char zeros[10], huge[100000];
	write_file(zeros, sizeof zeros);
	load(TAC_PARTIAL, false);
	memset(huge, ' ', sizeof huge);
	write_file(huge, sizeof huge);
	load(TAC_PARTIAL, false);
	static const char by_hand[] = "tactus calibration 1\n\n  weight_N = 0.5 \r\n";
	write_file(by_hand, strlen(by_hand));
	logged_lines = 0;
	const tac_calibration c = load(TAC_OK, true);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, c.weight_N);
}

// Every text that is accepted has values in their ranges.
static void random_changes_are_refused_or_stay_in_range(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	char text[512], reason[160];
	int accepted = 0;
	for (int k = 0; k < 300000; k++) {
		const size_t count = tac_calibration_encode(&sample, text, sizeof text);
		const uint32_t changes = 1 + tac_rng_below(&rng, 4);
		for (uint32_t i = 0; i < changes; i++)
			text[tac_rng_below(&rng, (uint32_t)count)] = (char)(1 + tac_rng_below(&rng, 255));
		tac_calibration c;
		if (!tac_calibration_decode(text, &c, reason, sizeof reason)) {
			TEST_ASSERT_NOT_NULL(strstr(reason, "expected"));
			continue;
		}
		accepted++;
		TEST_ASSERT_TRUE(c.weight_N >= 0 && c.weight_N <= TAC_CALIBRATION_WEIGHT_MAX_N);
		TEST_ASSERT_TRUE(c.workspace_max_m.x >= c.workspace_min_m.x && c.workspace_max_m.x <= 5);
	}
	TEST_ASSERT_GREATER_THAN_INT(1000, accepted);
}

static tac_device *sim(void)
{
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset("six", "firm", &def));
	const tac_sim_waypoint here = {.position_m = {0.01, 0.02, 0.03}, .rotation_rad = {0.3, 0.4, 0.5}};
	def.path = &here;
	def.waypoints = 1;
	def.start_m = here.position_m;
	def.linear.resolution = def.angular.resolution = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &device));
	return device;
}

static void empty_calibration_leaves_the_device_unchanged(void)
{
	tac_device *before = sim();
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_apply(&(tac_calibration){0}, &device));
	TEST_ASSERT_EQUAL_PTR(before, device);
}

static void workspace_is_centred(void)
{
	tac_device_state state;
	sim();
	tac_calibration c = sample;
	c.left_handed = false;
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_apply(&c, &device));
	TEST_ASSERT_EQUAL_STRING("sim:six", device->info.name);
	TEST_ASSERT_EQUAL_DOUBLE(0.25, device->info.weight_N);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.04, device->info.workspace_max_m.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.02, device->info.workspace_min_m.z);
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 0, &state));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02, state.T_base_tool.position.x); // 0.01 - (-0.01)
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, state.T_base_tool.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.01, state.T_base_tool.position.z);
}

// A point of the tool moves to its mirror image, and power is conserved.
static void left_hand_gets_the_mirror_image(void)
{
	tac_device_state plain, mirrored;
	sim();
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_read(device, 0, &plain));
	TEST_ASSERT_EQUAL(TAC_OK, tac_calibration_apply(&(tac_calibration){.left_handed = true}, &device));
	tac_device_enable(device, true);
	tac_device_read(device, 0, &mirrored);
	const tac_dvec3 point = tac_dvec3_make(0.1, 0.2, 0.3), image = tac_dvec3_make(-0.1, 0.2, 0.3);
	const tac_dvec3 a = tac_dpose_apply_point(plain.T_base_tool, point);
	const tac_dvec3 b = tac_dpose_apply_point(mirrored.T_base_tool, image);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -a.x, b.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, a.y, b.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, a.z, b.z);
	// A force to the right on the image pushes the device to the left, so the image moves to the right.
	const tac_wrench wrench = {.force_N = {5, 1, 0}, .torque_Nm = {0.1, 0.2, 0.05}};
	const double before = mirrored.T_base_tool.position.x;
	for (int k = 0; k < 20; k++) {
		tac_device_read(device, k * 1000000, &mirrored);
		TEST_ASSERT_EQUAL(TAC_DEVICE_OK, tac_device_write(device, k * 1000000, &wrench));
	}
	TEST_ASSERT_TRUE(mirrored.T_base_tool.position.x > before);
	TEST_ASSERT_TRUE(mirrored.velocity_m_per_s.x > 0);
	const double power = tac_dvec3_dot(wrench.force_N, mirrored.velocity_m_per_s) +
			     tac_dvec3_dot(wrench.torque_Nm, mirrored.angular_velocity_rad_per_s);
	TEST_ASSERT_TRUE(power > 0); // pushed from rest, it moves along the force
	tac_device_enable(device, false);
	TEST_ASSERT_EQUAL(TAC_DEVICE_DISABLED, tac_device_write(device, 0, &wrench));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(saved_calibration_is_loaded_by_the_serial_number);
	RUN_TEST(saving_replaces_the_file_atomically);
	RUN_TEST(invalid_values_are_refused);
	RUN_TEST(damaged_file_gives_one_log_line_and_defaults);
	RUN_TEST(random_changes_are_refused_or_stay_in_range);
	RUN_TEST(empty_calibration_leaves_the_device_unchanged);
	RUN_TEST(workspace_is_centred);
	RUN_TEST(left_hand_gets_the_mirror_image);
	return UNITY_END();
}
