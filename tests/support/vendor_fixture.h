// A vendor's driver against a stand-in for its library (tests/support/fake_library.h): its devices are
// listed, opened, read and written through the registry's table.
#ifndef TAC_TESTS_SUPPORT_VENDOR_FIXTURE_H
#define TAC_TESTS_SUPPORT_VENDOR_FIXTURE_H

#include "devices/registry.h"
#include "rt/clock.h"
#include "tests/support/logged.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

static const tac_driver *driver;
static tac_device *device;
static tac_device_state state;
static tac_driver_report report;

static void (*fake_lock)(bool on);
static double value_double __attribute__((unused));
static int value_int __attribute__((unused));

// A field of the stand-in, read while the driver's thread waits: FAKE(double, fake->commanded[0]).
#define FAKE(type, expression)                                                                               \
	(fake_lock(true), value_##type = (type)(expression), fake_lock(false), value_##type)

// Finds the driver, and loads the stand-in in `path`. Returns its structure fake_NAME, with its lock
// fake_NAME_lock as fake_lock; NULL if they are missing.
static inline void *load_fake(const char *name, const char *path)
{
	char symbol[64], lock_symbol[64];
	snprintf(symbol, sizeof symbol, "fake_%s", name);
	snprintf(lock_symbol, sizeof lock_symbol, "fake_%s_lock", name);
	for (int i = 0; tac_registry_driver_at(i); i++)
		if (strcmp(tac_registry_driver_at(i)->name, name) == 0)
			driver = tac_registry_driver_at(i);
	void *library = dlopen(path, RTLD_NOW);
	void *lock = library ? dlsym(library, lock_symbol) : NULL;
	memcpy(&fake_lock, &lock, sizeof lock);
	return driver && lock ? dlsym(library, symbol) : NULL;
}

static inline void set_up_log(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

static inline void list_devices(void)
{
	tac_registry_list(driver, &report);
}

static inline tac_result open_device(const char *which, tac_device **out_device)
{
	static const tac_open_def def;
	return driver->open(which, &def, out_device);
}

// Opening must fail with this result and one log line that contains `text`.
static inline void assert_refused(const char *which, tac_result expected, const char *text)
{
	logged_lines = 0;
	tac_device *opened = (tac_device *)&logged_lines;
	TEST_ASSERT_EQUAL(expected, open_device(which, &opened));
	TEST_ASSERT_NULL(opened);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, text), logged);
}

static inline bool read_is(tac_device *d, tac_device_status expected)
{
	return tac_device_read(d, tac_clock_now_ns(), &state) == expected;
}

static inline tac_device_status write_force(tac_device *d, double x, double y, double z)
{
	const tac_wrench wrench = {.force_N = {x, y, z}, .torque_Nm = {0.01, 0, 0}};
	return tac_device_write(d, tac_clock_now_ns(), &wrench);
}

// Returns true, for EVENTUALLY.
static inline bool write_accepted(tac_device *d, double x, double y, double z)
{
	TEST_ASSERT_EQUAL(TAC_DEVICE_OK, write_force(d, x, y, z));
	return true;
}

#endif
