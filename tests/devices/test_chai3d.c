// The CHAI3D bindings against a stand-in for CHAI3D (tests/support/fake_chai3d/) and, if TACTUS_CHAI3D_REAL
// names a plugin built against CHAI3D itself, its world, too.
#include "devices/chai3d_interface.h"

#include "tests/support/eventually.h"
#include "tests/support/fake_chai3d/fake_chai3d.h"
#include "tests/support/vendor_fixture.h"

#include <math.h>

static fake_chai3d_state *fake;
static const tac_chai3d_api *api;
static tac_chai3d_handler *handler;
static tac_chai3d_device *opened;
static tac_chai3d_world *world;
static char reason[256];

void setUp(void)
{
	set_up_log();
	setenv("TACTUS_CHAI3D_PLUGIN", TACTUS_FAKE_CHAI3D, 1);
	*fake = (fake_chai3d_state){
		.devices = 2, .position = {0.01, 0.02, 0.03}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_chai3d_load(&api, reason, sizeof reason), reason);
}

void tearDown(void)
{
	tac_device_destroy(&device);
	if (api) {
		fake->throwing = FAKE_CHAI3D_QUIET;
		fake->failing[0] = '\0';
		api->device_close(&opened);
		api->handler_destroy(&handler);
		api->world_destroy(&world);
	}
	TEST_ASSERT_EQUAL_INT(0, fake->open);
	TEST_ASSERT_EQUAL_INT(0, fake->objects);
	TEST_ASSERT_FALSE(fake->forces_on);
	tac_log_set(NULL, NULL);
}

static void assert_message(const char *text)
{
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(api->message(), text), api->message());
}

// ---- the plugin ----

static void missing_or_broken_plugin_is_reported(void)
{
	setenv("TACTUS_CHAI3D_PLUGIN", "/no/such/plugin.so", 1);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOT_BUILT, report.state);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "CHAI3D_ROOT"));
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_chai3d_load(&api, reason, sizeof reason));
	TEST_ASSERT_NULL(api);
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, open_device("0", &device));
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	setenv("TACTUS_CHAI3D_PLUGIN", "libc.so.6", 1);
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_chai3d_load(&api, reason, sizeof reason));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "tac_chai3d_plugin"), reason);
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	setenv("TACTUS_CHAI3D_PLUGIN", TACTUS_FAKE_CHAI3D_OLD, 1);
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_chai3d_load(&api, reason, sizeof reason));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(reason, "expected version 1 of the CHAI3D plugin, found 0"),
				     reason);
}

// ---- device handler ----

static void open_first(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, api->handler_create(&handler));
	TEST_ASSERT_EQUAL(TAC_OK, api->device_open(handler, 0, &opened));
}

static void handler_lists_and_scans_again(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, api->handler_create(&handler));
	TEST_ASSERT_EQUAL_INT(2, api->handler_count(handler));
	fake->devices = 1;
	TEST_ASSERT_EQUAL_INT(2, api->handler_count(handler));
	TEST_ASSERT_EQUAL(TAC_OK, api->handler_rescan(handler));
	TEST_ASSERT_EQUAL_INT(1, api->handler_count(handler));
	TEST_ASSERT_EQUAL_INT(2, fake->scans);
	tac_chai3d_info info;
	TEST_ASSERT_EQUAL(TAC_OK, api->handler_info(handler, 0, &info));
	TEST_ASSERT_EQUAL_STRING("a model", info.model);
	TEST_ASSERT_EQUAL_STRING("a maker", info.manufacturer);
	TEST_ASSERT_EQUAL_DOUBLE(10, info.max_force_N);
	TEST_ASSERT_EQUAL_DOUBLE(0.06, info.workspace_radius_m);
	TEST_ASSERT_TRUE(info.right_hand && !info.left_hand && info.sensed_gripper && !info.actuated_gripper);
}

static void dummy_devices_and_wrong_numbers_are_errors(void)
{
	tac_chai3d_info info;
	TEST_ASSERT_EQUAL(TAC_OK, api->handler_create(&handler));
	for (int i = 0; i < 4; i++) {
		const int wrong[4] = {-1, 2, 16, 1 << 30};
		TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_open(handler, wrong[i], &opened));
		TEST_ASSERT_NULL(opened);
		TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->handler_info(handler, wrong[i], &info));
	}
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_open(NULL, 0, &opened));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->handler_rescan(NULL));
	TEST_ASSERT_EQUAL_INT(0, api->handler_count(NULL));
	fake->null_device = true; // success without a device
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_open(handler, 0, &opened));
	fake->null_device = false;
	strcpy(fake->failing, "getDevice");
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_open(handler, 0, &opened));
	strcpy(fake->failing, "open");
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_open(handler, 0, &opened));
	assert_message("unplugged or in use");
	strcpy(fake->failing, "getDeviceSpecifications");
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->handler_info(handler, 0, &info));
	TEST_ASSERT_NULL(opened);
}

static void device_is_read_written_and_closed_without_force(void)
{
	open_first();
	TEST_ASSERT_EQUAL_INT(1, fake->open);
	double v[3], rows[3][3], angle, rate;
	uint32_t bits;
	fake->rotation[1] = 0.5;
	fake->velocity[2] = 3;
	fake->angular_velocity[0] = 4;
	fake->gripper = 0.25;
	fake->gripper_velocity = -1;
	fake->switches = 6;
	TEST_ASSERT_EQUAL(TAC_OK, api->device_calibrate(opened, true));
	TEST_ASSERT_EQUAL(TAC_OK, api->device_position(opened, v));
	TEST_ASSERT_EQUAL_DOUBLE(0.03, v[2]);
	TEST_ASSERT_EQUAL(TAC_OK, api->device_velocity(opened, v));
	TEST_ASSERT_EQUAL_DOUBLE(3, v[2]);
	TEST_ASSERT_EQUAL(TAC_OK, api->device_angular_velocity(opened, v));
	TEST_ASSERT_EQUAL_DOUBLE(4, v[0]);
	TEST_ASSERT_EQUAL(TAC_OK, api->device_rotation(opened, rows));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, rows[0][1]);
	TEST_ASSERT_EQUAL(TAC_OK, api->device_gripper(opened, &angle, &rate));
	TEST_ASSERT_EQUAL_DOUBLE(0.25, angle);
	TEST_ASSERT_EQUAL_DOUBLE(-1, rate);
	TEST_ASSERT_EQUAL(TAC_OK, api->device_switches(opened, &bits));
	TEST_ASSERT_EQUAL_UINT32(6, bits);
	const double force[3] = {1, 2, 3}, torque[3] = {0.1, 0.2, 0.3};
	TEST_ASSERT_EQUAL(TAC_OK, api->device_enable(opened, true));
	TEST_ASSERT_EQUAL(TAC_OK, api->device_write(opened, force, torque, 0.5));
	TEST_ASSERT_EQUAL_DOUBLE(2, fake->commanded[1]);
	TEST_ASSERT_EQUAL_DOUBLE(0.3, fake->commanded[5]);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, fake->commanded[6]);
	api->device_close(&opened);
	TEST_ASSERT_NULL(opened);
	TEST_ASSERT_EQUAL_DOUBLE(0, fake->commanded[1]);
	TEST_ASSERT_FALSE(fake->forces_on);
	api->device_close(&opened); // NULL is allowed
}

static void failed_device_calls_are_errors_and_fill_nothing(void)
{
	open_first();
	double v[3] = {7, 7, 7}, rows[3][3], angle, rate;
	uint32_t bits;
	fake->unplugged = true;
	const double zero[3] = {0};
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_position(opened, v));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_velocity(opened, v));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_angular_velocity(opened, v));
	TEST_ASSERT_EQUAL_DOUBLE(7, v[1]);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_rotation(opened, rows));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_gripper(opened, &angle, &rate));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_switches(opened, &bits));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_calibrate(opened, false));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_enable(opened, true));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_write(opened, zero, zero, 0));
	fake->unplugged = false;
	fake->forces_on = false;
	fake->position[0] = NAN;
	fake->rotation[4] = INFINITY;
	fake->gripper = NAN;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_position(opened, v));
	assert_message("not finite");
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_rotation(opened, rows));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->device_gripper(opened, &angle, &rate));
	const double bad[3] = {0, NAN, 0};
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_write(opened, bad, zero, 0));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_write(opened, zero, bad, 0));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_write(opened, zero, zero, INFINITY));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->device_position(NULL, v));
}

static void exceptions_are_results(void)
{
	static const struct {
		fake_chai3d_throw throwing;
		tac_result result;
		const char *message;
	} cases[] = {
		{FAKE_CHAI3D_RUNTIME_ERROR, TAC_ERROR_SYSTEM, "CHAI3D threw: "},
		{FAKE_CHAI3D_BAD_ALLOC, TAC_ERROR_MEMORY, "no memory"},
		{FAKE_CHAI3D_INT, TAC_ERROR_SYSTEM, "no exception"},
	};
	const double zero[3] = {0}, triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
	const uint32_t indices[3] = {0, 1, 2};
	double v[3], rows[3][3], angle, rate;
	uint32_t bits;
	tac_chai3d_info info;
	tac_chai3d_object *object, *loaded;
	tac_chai3d_tool *tool, *second;
	tac_chai3d_contact contact;
	const tac_chai3d_material material = {.stiffness_N_per_m = 100};
	open_first();
	TEST_ASSERT_EQUAL(TAC_OK, api->world_create(&world));
	TEST_ASSERT_EQUAL(TAC_OK, api->mesh_create(world, triangle, 3, indices, 1, 0.01, &object));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_create(world, 0.01, false, &tool));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const tac_result r = cases[i].result;
		tac_chai3d_handler *none;
		tac_chai3d_world *no_world;
		fake->throwing = cases[i].throwing;
		TEST_ASSERT_EQUAL(r, api->handler_create(&none));
		TEST_ASSERT_NULL(none);
		assert_message(cases[i].message);
		TEST_ASSERT_EQUAL(r, api->handler_rescan(handler));
		TEST_ASSERT_EQUAL(r, api->handler_info(handler, 0, &info));
		TEST_ASSERT_EQUAL(r, api->device_position(opened, v));
		TEST_ASSERT_EQUAL(r, api->device_velocity(opened, v));
		TEST_ASSERT_EQUAL(r, api->device_angular_velocity(opened, v));
		TEST_ASSERT_EQUAL(r, api->device_rotation(opened, rows));
		TEST_ASSERT_EQUAL(r, api->device_gripper(opened, &angle, &rate));
		TEST_ASSERT_EQUAL(r, api->device_switches(opened, &bits));
		TEST_ASSERT_EQUAL(r, api->device_calibrate(opened, true));
		TEST_ASSERT_EQUAL(r, api->device_info(opened, &info));
		TEST_ASSERT_EQUAL(r, api->device_enable(opened, true));
		TEST_ASSERT_EQUAL(r, api->device_write(opened, zero, zero, 0));
		TEST_ASSERT_EQUAL(r, api->world_create(&no_world));
		TEST_ASSERT_NULL(no_world);
		TEST_ASSERT_EQUAL(r, api->mesh_create(world, triangle, 3, indices, 1, 0.01, &loaded));
		TEST_ASSERT_EQUAL(r, api->mesh_load(world, "x.obj", 0.01, &loaded));
		TEST_ASSERT_EQUAL(r, api->object_material(object, &material));
		TEST_ASSERT_EQUAL(r, api->object_effect(object, TAC_CHAI3D_SURFACE));
		TEST_ASSERT_EQUAL(r, api->tool_create(world, 0.01, false, &second));
		TEST_ASSERT_EQUAL(r, api->tool_step(tool, zero, zero, &contact));
		TEST_ASSERT_EQUAL(r, api->tool_start(tool, opened));
		tac_chai3d_device *also = NULL;
		TEST_ASSERT_EQUAL(r, api->device_open(handler, 0, &also));
		TEST_ASSERT_NULL(also);
	}
	fake->throwing = FAKE_CHAI3D_QUIET;
	TEST_ASSERT_EQUAL_INT(3, fake->objects); // world, mesh, tool: nothing incomplete is left
}

// ---- world; valid for CHAI3D itself ----

static const double floor_m[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
static const uint32_t floor_triangles[6] = {0, 1, 2, 0, 2, 3};

static void proxy_rests_on_a_floor_and_the_spring_pulls(void)
{
	const double radius = 0.01, still[3] = {0};
	tac_chai3d_object *ground;
	tac_chai3d_tool *tool;
	tac_chai3d_contact contact;
	TEST_ASSERT_EQUAL(TAC_OK, api->world_create(&world));
	TEST_ASSERT_EQUAL(TAC_OK, api->mesh_create(world, floor_m, 4, floor_triangles, 2, radius, &ground));
	const tac_chai3d_material material = {.stiffness_N_per_m = 500};
	TEST_ASSERT_EQUAL(TAC_OK, api->object_material(ground, &material));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_create(world, radius, false, &tool));
	double p[3] = {0.1, 0.2, 0.05};
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_place(tool, p));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_step(tool, p, still, &contact));
	TEST_ASSERT_EQUAL_INT(0, contact.contacts);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, contact.force_N[2]);
	// To 1 cm below the floor and sideways; then at rest, because the proxy finds one constraint per
	// tick.
	for (int k = 0; k <= 65; k++) {
		p[2] = 0.05 - 0.001 * fmin(k, 60);
		p[0] = 0.1 + 0.0005 * fmin(k, 60);
		TEST_ASSERT_EQUAL(TAC_OK, api->tool_step(tool, p, still, &contact));
	}
	TEST_ASSERT_GREATER_THAN_INT(0, contact.contacts);
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * radius, radius, contact.proxy_m[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.05 * radius, p[0], contact.proxy_m[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.5, 500 * (radius + 0.01), contact.force_N[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.2, 0, contact.force_N[0]);
	// The floor moves down by 10 cm: the contact ends.
	const double down[3] = {0, 0, -0.1}, same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	TEST_ASSERT_EQUAL(TAC_OK, api->object_pose(ground, down, same));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_step(tool, p, still, &contact));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_step(tool, p, still, &contact));
	TEST_ASSERT_EQUAL_INT(0, contact.contacts);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, p[2], contact.proxy_m[2]);
	api->object_destroy(&ground);
	TEST_ASSERT_NULL(ground);
	api->world_destroy(&world);
}

static void world_refuses_invalid_arguments(void)
{
	tac_chai3d_object *object = NULL;
	tac_chai3d_tool *tool = NULL;
	tac_chai3d_contact contact;
	const double zero[3] = {0}, bad[3] = {NAN, 0, 0}, turned[9] = {INFINITY};
	const uint32_t wrong[3] = {0, 1, 4};
	double vertices[12];
	memcpy(vertices, floor_m, sizeof vertices);
	vertices[5] = NAN;
	TEST_ASSERT_EQUAL(TAC_OK, api->world_create(&world));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(NULL, floor_m, 4, floor_triangles, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(world, NULL, 4, floor_triangles, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->mesh_create(world, floor_m, 4, NULL, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(world, floor_m, 0, floor_triangles, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(world, floor_m, 4, floor_triangles, 0, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->mesh_create(world, floor_m, 4, wrong, 1, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(world, vertices, 4, floor_triangles, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->mesh_create(world, floor_m, 4, floor_triangles, 2, -1, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->mesh_load(world, NULL, 0, &object));
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->mesh_load(world, "/no/such/file.stl", 0, &object));
	TEST_ASSERT_NULL(object);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_create(NULL, 0, false, &tool));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_create(world, NAN, false, &tool));
	TEST_ASSERT_NULL(tool);
	TEST_ASSERT_EQUAL(TAC_OK, api->mesh_create(world, floor_m, 4, floor_triangles, 2, 0, &object));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_create(world, 0.01, true, &tool));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->object_pose(object, bad, floor_m));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->object_pose(object, zero, turned));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->object_material(object, NULL));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->object_material(object, &(tac_chai3d_material){.stiffness_N_per_m = -1}));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT,
			  api->object_material(object, &(tac_chai3d_material){.texture_level = NAN}));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->object_effect(object, TAC_CHAI3D_EFFECT_COUNT));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->object_effect(NULL, TAC_CHAI3D_SURFACE));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_place(tool, bad));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_step(tool, bad, zero, &contact));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_step(tool, zero, bad, &contact));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_drive(tool, &contact)); // not started
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, api->tool_start(tool, NULL));
	for (int i = 0; i < TAC_CHAI3D_EFFECT_COUNT; i++)
		TEST_ASSERT_EQUAL(TAC_OK, api->object_effect(object, (tac_chai3d_effect)i));
	api->tool_stop(tool);
	api->tool_stop(NULL);
	api->world_destroy(&world);
	api->world_destroy(&world);
}

// ---- world; for the stand-in only ----

static void material_and_effects_reach_chai3d(void)
{
	tac_chai3d_object *object;
	TEST_ASSERT_EQUAL(TAC_OK, api->world_create(&world));
	TEST_ASSERT_EQUAL(TAC_OK, api->mesh_load(world, "tooth.obj", 0.001, &object));
	const tac_chai3d_material material = {.stiffness_N_per_m = 321, .static_friction = 0.4};
	TEST_ASSERT_EQUAL(TAC_OK, api->object_material(object, &material));
	TEST_ASSERT_EQUAL_DOUBLE(321, fake->stiffness);
	TEST_ASSERT_EQUAL_DOUBLE(0.4, fake->friction);
	for (int i = 0; i < TAC_CHAI3D_EFFECT_COUNT; i++)
		TEST_ASSERT_EQUAL(TAC_OK, api->object_effect(object, (tac_chai3d_effect)i));
	for (int i = 0; i < TAC_CHAI3D_EFFECT_COUNT; i++)
		TEST_ASSERT_EQUAL_INT(1, fake->effects[i]);
	api->object_destroy(&object);
	TEST_ASSERT_EQUAL_INT(1, fake->objects); // the world
}

static void tool_drives_a_device(void)
{
	tac_chai3d_object *ground;
	tac_chai3d_tool *tool;
	tac_chai3d_contact contact;
	open_first();
	TEST_ASSERT_EQUAL(TAC_OK, api->world_create(&world));
	TEST_ASSERT_EQUAL(TAC_OK, api->mesh_create(world, floor_m, 4, floor_triangles, 2, 0.01, &ground));
	TEST_ASSERT_EQUAL(TAC_OK,
			  api->object_material(ground, &(tac_chai3d_material){.stiffness_N_per_m = 100}));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_create(world, 0.01, false, &tool));
	strcpy(fake->failing, "start");
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->tool_start(tool, opened));
	fake->failing[0] = '\0';
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_start(tool, opened));
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_drive(tool, &contact));
	TEST_ASSERT_EQUAL_INT(0, contact.contacts);
	fake->position[2] = -0.01;
	TEST_ASSERT_EQUAL(TAC_OK, api->tool_drive(tool, &contact));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2, contact.force_N[2]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2, fake->commanded[2]);
	strcpy(fake->failing, "computeInteractionForces"); // gives NaN
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->tool_drive(tool, &contact));
	fake->unplugged = true;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, api->tool_drive(tool, &contact));
	fake->unplugged = false;
	api->tool_stop(tool);
	TEST_ASSERT_FALSE(fake->forces_on);
}

// ---- as a device of Tactus ----

static void devices_are_listed(void)
{
	list_devices();
	TEST_ASSERT_EQUAL_INT(2, report.count);
	TEST_ASSERT_EQUAL_STRING("chai3d:1", report.devices[1].selection);
	TEST_ASSERT_EQUAL_STRING("a maker a model", report.devices[1].description);
	fake->devices = 0;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_NOTHING, report.state);
	fake->throwing = FAKE_CHAI3D_RUNTIME_ERROR;
	list_devices();
	TEST_ASSERT_EQUAL(TAC_DRIVER_FAILED, report.state);
	TEST_ASSERT_NOT_NULL(strstr(report.reason, "CHAI3D threw"));
}

static void device_of_tactus_reads_writes_and_drops_its_force(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, open_device("", &device));
	TEST_ASSERT_EQUAL_STRING("chai3d:0", device->info.name);
	TEST_ASSERT_EQUAL_DOUBLE(10, device->info.max_force_N);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, device->info.max_torque_Nm);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, state.T_base_tool.position.x);
	TEST_ASSERT_EQUAL_DOUBLE(0.03, state.T_base_tool.position.y);
	TEST_ASSERT_EQUAL_DOUBLE(0.01, state.T_base_tool.position.z);
	// A passive gripper: 0.25 rad at an arm of 50 mm.
	fake_lock(true);
	fake->gripper = 0.25;
	fake->gripper_velocity = -1;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_OK) && state.gripper_m > 0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0125, state.gripper_m);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.05, state.gripper_m_per_s);
	TEST_ASSERT_TRUE(device->info.gripper_max_m > 0);
	TEST_ASSERT_EQUAL_DOUBLE(0, device->info.max_gripper_N);
	tac_device_enable(device, true);
	EVENTUALLY(write_accepted(device, 0, 100, 0) && FAKE(double, fake->commanded[2]) > 9.9);
	TEST_ASSERT_TRUE(FAKE(int, fake->forces_on));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 100, FAKE(double, fake->largest_squared));
	EVENTUALLY(FAKE(double, fake->commanded[2]) == 0); // nobody writes
	fake_lock(true);
	fake->throwing = FAKE_CHAI3D_INT;
	fake_lock(false);
	EVENTUALLY(read_is(device, TAC_DEVICE_LOST));
	fake_lock(true);
	fake->throwing = FAKE_CHAI3D_QUIET;
	fake_lock(false);
	tac_device_destroy(&device);
	TEST_ASSERT_EQUAL_INT(0, fake->open);
	TEST_ASSERT_FALSE(fake->forces_on);
}

static void failures_to_open_get_one_log_line(void)
{
	static const struct {
		const char *which, *failing;
		tac_result result;
	} cases[] = {
		{"x", "", TAC_ERROR_ARGUMENT},    {"-1", "", TAC_ERROR_ARGUMENT},
		{"5", "", TAC_ERROR_IO},          {"0", "open", TAC_ERROR_IO},
		{"0", "getDevice", TAC_ERROR_IO}, {"0", "calibrate", TAC_ERROR_IO},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		logged_lines = 0;
		strcpy(fake->failing, cases[i].failing);
		TEST_ASSERT_EQUAL(cases[i].result, open_device(cases[i].which, &device));
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_NULL(device);
		TEST_ASSERT_EQUAL_INT(0, fake->open);
	}
}

int main(void)
{
	fake = load_fake("chai3d", TACTUS_FAKE_CHAI3D);
	if (!fake)
		return 1;
	UNITY_BEGIN();
	RUN_TEST(missing_or_broken_plugin_is_reported);
	RUN_TEST(handler_lists_and_scans_again);
	RUN_TEST(dummy_devices_and_wrong_numbers_are_errors);
	RUN_TEST(device_is_read_written_and_closed_without_force);
	RUN_TEST(failed_device_calls_are_errors_and_fill_nothing);
	RUN_TEST(exceptions_are_results);
	RUN_TEST(proxy_rests_on_a_floor_and_the_spring_pulls);
	RUN_TEST(world_refuses_invalid_arguments);
	RUN_TEST(material_and_effects_reach_chai3d);
	RUN_TEST(tool_drives_a_device);
	RUN_TEST(devices_are_listed);
	RUN_TEST(device_of_tactus_reads_writes_and_drops_its_force);
	RUN_TEST(failures_to_open_get_one_log_line);
	const char *real = getenv("TACTUS_CHAI3D_REAL");
	if (real) {
		setUp();
		setenv("TACTUS_CHAI3D_PLUGIN", real, 1);
		if (tac_chai3d_load(&api, reason, sizeof reason) != TAC_OK)
			return 1;
		proxy_rests_on_a_floor_and_the_spring_pulls();
		world_refuses_invalid_arguments();
		list_devices();
		printf("CHAI3D itself: %s, %d devices, %s\n", tac_driver_state_name(report.state),
		       report.count, report.reason);
	}
	return UNITY_END();
}
