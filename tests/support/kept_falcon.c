// Kept Falcon: a virtual Falcon whose motors outlive the process that drives them. Linked into tactus-keep,
// it plugs a virtual Falcon into each process that starts, guard and keeper, as if they shared one device on
// the bus, and mirrors every motor command into the test's file (tests/support/motors.h).
#include "devices/falcon/falcon_protocol.h"
#include "devices/virtual_falcon.h"
#include "rt/clock.h"
#include "tests/support/motors.h"
#include "tests/support/usb_shim.h"

#include <string.h>

#define MS      TAC_NS_PER_MS
#define HOMINGS 50 // 10 s

static motors_file *file;
static tac_virtual_falcon *falcon;
static tac_virtual_usb *usb;
static uint64_t commands;
static int (*falcon_out)(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
			 bool end);

static int mirror_out(tac_virtual_model *model, uint8_t endpoint, const uint8_t *bytes, uint32_t count,
		      bool end)
{
	// The device has kept the baud rate that another process set, but the model's starts with the
	// process.
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

__attribute__((constructor)) static void plug_falcon(void)
{
	// Out and in, again and again: on a busy machine the keeper may miss the first motions, which home
	// it.
	static tac_sim_waypoint path[2 * HOMINGS];
	for (int i = 0; i < 2 * HOMINGS; i++)
		path[i] = (tac_sim_waypoint){.time_ns = 100 * i * MS,
					     .position_m = {0, 0, i % 2 ? 0.03 : -0.03}};
	file = motors_map(getenv(MOTORS_VARIABLE));
	if (!file)
		return;
	tac_virtual_falcon_def def = tac_virtual_falcon_def_default();
	def.loaded = true;
	def.sim.path = path;
	def.sim.waypoints = atomic_load(&file->never_homed) ? 1 : sizeof path / sizeof *path;
	if (tac_virtual_falcon_create(&def, &falcon) != TAC_OK)
		abort();
	tac_virtual_model *model = tac_virtual_falcon_model(falcon);
	falcon_out = model->out;
	model->out = mirror_out;
	if (tac_virtual_usb_create(model, &usb) != TAC_OK)
		abort();
	usb_shim_plug(usb);
}
