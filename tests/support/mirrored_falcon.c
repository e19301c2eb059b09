#include "tests/support/mirrored_falcon.h"

#include "devices/falcon/falcon_protocol.h"
#include "devices/virtual_falcon.h"
#include "rt/clock.h"

#include <sched.h>
#include <string.h>

#define DEVICE_PRIORITY 99
#define STEP_MS         50
#define STEPS           72000 // an hour

static motors_file *file;
static tac_virtual_falcon *falcon;
static uint64_t commands;
static int (*falcon_out)(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
			 bool end);

static int mirror_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		      bool end)
{
	// The device has kept the baud rate that another process set, but a model's starts with the process.
	static bool is_set;
	static const tac_virtual_setup baud = {
		.type = 0x40, .request = TAC_FALCON_BRIDGE_BAUD, .value = TAC_FALCON_BAUD_RUN};
	if (!is_set)
		model->control(model, &baud, NULL);
	is_set = true;
	motors_hang(file);
	const int result = falcon_out(model, endpoint, bytes, count, end);
	const tac_virtual_falcon_state state = tac_virtual_falcon_read(falcon);
	if (state.commands == commands)
		return result;
	commands = state.commands;
	uint64_t motors = 0;
	memcpy(&motors, state.motor, sizeof state.motor);
	motors_command(file, motors);
	return result;
}

tac_virtual_usb *mirrored_falcon_create(motors_file *mirror)
{
	static tac_sim_waypoint path[STEPS];
	for (int i = 0; i < STEPS; i++)
		path[i] = (tac_sim_waypoint){.time_ns = (int64_t)STEP_MS * i * TAC_NS_PER_MS,
					     .position_m = {0, 0, i % 2 ? 0.03 : -0.03}};
	tac_virtual_falcon_def def = tac_virtual_falcon_def_default();
	def.loaded = true;
	def.sim.path = path;
	def.sim.waypoints = atomic_load(&mirror->never_homed) ? 1 : STEPS;
	file = mirror;
	tac_virtual_usb *usb = NULL;
	if (tac_virtual_falcon_create(&def, &falcon) != TAC_OK)
		return NULL;
	tac_virtual_model *model = tac_virtual_falcon_model(falcon);
	falcon_out = model->out;
	model->out = mirror_out;
	// Its thread stands for hardware, which a busy machine does not delay. Threads inherit the priority.
	const struct sched_param device = {.sched_priority = DEVICE_PRIORITY}, ordinary = {0};
	sched_setscheduler(0, SCHED_FIFO, &device);
	const tac_result created = tac_virtual_usb_create(model, &usb);
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	return created == TAC_OK ? usb : NULL;
}
