// The plugin behind devices/chai3d_interface.h: CHAI3D's classes as C functions. It uses CHAI3D's documented
// interface only, links nothing of Tactus, and lets no exception out.
#include "devices/chai3d_interface.h"

#include <chai3d.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace chai3d;

struct tac_chai3d_handler {
	cHapticDeviceHandler handler;
};

struct tac_chai3d_device {
	cGenericHapticDevicePtr device;
};

struct tac_chai3d_object {
	tac_chai3d_world *world;
	cGenericObject *object; // owned by the world
};

struct tac_chai3d_tool {
	tac_chai3d_world *world;
	cToolCursor *tool; // owned by the world
	bool started;
};

struct tac_chai3d_world {
	cWorld world;
	std::vector<std::unique_ptr<tac_chai3d_object>> objects;
	std::vector<std::unique_ptr<tac_chai3d_tool>> tools;
};

namespace
{

thread_local char last_message[256];

tac_result fail(tac_result result, const char *text)
{
	std::snprintf(last_message, sizeof last_message, "%s", text);
	return result;
}

const char *message()
{
	return last_message;
}

// Runs `body` and converts exceptions to results.
template <typename Body> tac_result guarded(Body body)
{
	try {
		return body();
	} catch (const std::bad_alloc &) {
		return fail(TAC_ERROR_MEMORY, "CHAI3D found no memory");
	} catch (const std::exception &e) {
		return fail(TAC_ERROR_SYSTEM, (std::string("CHAI3D threw: ") + e.what()).c_str());
	} catch (...) {
		return fail(TAC_ERROR_SYSTEM, "CHAI3D threw something that is no exception");
	}
}

// The same for functions without a result, which must release everything.
template <typename Body> void guarded_quietly(Body body)
{
	guarded([&] {
		body();
		return TAC_OK;
	});
}

tac_result io_result(bool success, const char *text)
{
	return success ? TAC_OK : fail(TAC_ERROR_IO, text);
}

tac_result bad_argument(const char *text)
{
	return fail(TAC_ERROR_ARGUMENT, text);
}

bool finite(const double *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!std::isfinite(numbers[i]))
			return false;
	}
	return true;
}

cVector3d to_vector(const double v[3])
{
	return cVector3d(v[0], v[1], v[2]);
}

void from_vector(const cVector3d &v, double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = v(i);
}

// ---- devices ----

void copy_text(char (&out)[64], const std::string &text)
{
	std::snprintf(out, sizeof out, "%s", text.c_str());
}

void copy_info(const cHapticDeviceInfo &from, tac_chai3d_info *out)
{
	tac_chai3d_info info = {};
	copy_text(info.model, from.m_modelName);
	copy_text(info.manufacturer, from.m_manufacturerName);
	info.max_force_N = from.m_maxLinearForce;
	info.max_torque_Nm = from.m_maxAngularTorque;
	info.max_gripper_force_N = from.m_maxGripperForce;
	info.max_stiffness_N_per_m = from.m_maxLinearStiffness;
	info.max_angular_stiffness_Nm_per_rad = from.m_maxAngularStiffness;
	info.max_gripper_stiffness_N_per_m = from.m_maxGripperLinearStiffness;
	info.max_damping_N_s_per_m = from.m_maxLinearDamping;
	info.max_angular_damping_Nm_s_per_rad = from.m_maxAngularDamping;
	info.max_gripper_damping_N_s_per_rad = from.m_maxGripperAngularDamping;
	info.workspace_radius_m = from.m_workspaceRadius;
	info.gripper_max_angle_rad = from.m_gripperMaxAngleRad;
	info.sensed_position = from.m_sensedPosition;
	info.sensed_rotation = from.m_sensedRotation;
	info.sensed_gripper = from.m_sensedGripper;
	info.actuated_position = from.m_actuatedPosition;
	info.actuated_rotation = from.m_actuatedRotation;
	info.actuated_gripper = from.m_actuatedGripper;
	info.left_hand = from.m_leftHand;
	info.right_hand = from.m_rightHand;
	*out = info;
}

tac_result handler_create(tac_chai3d_handler **out_handler)
{
	return guarded([&] {
		*out_handler = nullptr;
		*out_handler = new tac_chai3d_handler;
		return TAC_OK;
	});
}

void handler_destroy(tac_chai3d_handler **handler)
{
	guarded_quietly([&] { delete *handler; });
	*handler = nullptr;
}

tac_result handler_rescan(tac_chai3d_handler *handler)
{
	return guarded([&] {
		if (!handler)
			return bad_argument("expected a handler, found NULL");
		handler->handler.update();
		return TAC_OK;
	});
}

int handler_count(tac_chai3d_handler *handler)
{
	int count = 0;
	guarded_quietly([&] { count = handler ? static_cast<int>(handler->handler.getNumDevices()) : 0; });
	return count;
}

bool has_device(tac_chai3d_handler *handler, int index)
{
	return handler && index >= 0 && static_cast<unsigned>(index) < handler->handler.getNumDevices();
}

tac_result handler_info(tac_chai3d_handler *handler, int index, tac_chai3d_info *out_info)
{
	return guarded([&] {
		cHapticDeviceInfo info;
		if (!has_device(handler, index))
			return bad_argument("expected a device of the handler, found none with that number");
		if (!handler->handler.getDeviceSpecifications(info, static_cast<unsigned>(index)))
			return fail(TAC_ERROR_IO, "expected a description of the device, found none");
		copy_info(info, out_info);
		return TAC_OK;
	});
}

tac_result device_open(tac_chai3d_handler *handler, int index, tac_chai3d_device **out_device)
{
	return guarded([&] {
		*out_device = nullptr;
		if (!has_device(handler, index))
			return bad_argument("expected a device of the handler, found none with that number");
		std::unique_ptr<tac_chai3d_device> opened(new tac_chai3d_device);
		if (!handler->handler.getDevice(opened->device, static_cast<unsigned>(index)) ||
		    !opened->device)
			return fail(TAC_ERROR_IO, "expected the device, found none");
		if (!opened->device->open())
			return fail(TAC_ERROR_IO,
				    "expected to open the device, found it unplugged or in use");
		opened->device->enableForces(false);
		*out_device = opened.release();
		return TAC_OK;
	});
}

void device_close(tac_chai3d_device **device)
{
	guarded_quietly([&] {
		if (!*device)
			return;
		const cVector3d zero(0, 0, 0);
		(*device)->device->setForceAndTorqueAndGripperForce(zero, zero, 0);
		(*device)->device->enableForces(false);
		(*device)->device->close();
	});
	guarded_quietly([&] { delete *device; });
	*device = nullptr;
}

// Calls `body` with the open device.
template <typename Body> tac_result with_device(tac_chai3d_device *device, Body body)
{
	return guarded([&] {
		if (!device)
			return bad_argument("expected a device, found NULL");
		return body(*device->device);
	});
}

tac_result device_calibrate(tac_chai3d_device *device, bool force)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		return io_result(d.calibrate(force),
				 "expected the device to calibrate, found that it failed");
	});
}

tac_result device_info(tac_chai3d_device *device, tac_chai3d_info *out_info)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		copy_info(d.getSpecifications(), out_info);
		return TAC_OK;
	});
}

const char no_sample[] = "expected a sample of the device, found none";
const char no_numbers[] = "expected numbers from the device, found some that are not finite";

// Copies three numbers that were read.
tac_result copy_vector(bool success, const cVector3d &v, double out[3])
{
	double numbers[3];
	from_vector(v, numbers);
	if (!success)
		return fail(TAC_ERROR_IO, no_sample);
	if (!finite(numbers, 3))
		return fail(TAC_ERROR_IO, no_numbers);
	std::memcpy(out, numbers, sizeof numbers);
	return TAC_OK;
}

tac_result device_position(tac_chai3d_device *device, double out_m[3])
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		cVector3d v(0, 0, 0);
		const bool success = d.getPosition(v);
		return copy_vector(success, v, out_m);
	});
}

tac_result device_rotation(tac_chai3d_device *device, double out_rows[3][3])
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		cMatrix3d m;
		m.identity();
		if (!d.getRotation(m))
			return fail(TAC_ERROR_IO, no_sample);
		double rows[9];
		for (int row = 0; row < 3; row++)
			for (int column = 0; column < 3; column++)
				rows[3 * row + column] = m(row, column);
		if (!finite(rows, 9))
			return fail(TAC_ERROR_IO, no_numbers);
		std::memcpy(out_rows, rows, sizeof rows);
		return TAC_OK;
	});
}

tac_result device_velocity(tac_chai3d_device *device, double out_m_per_s[3])
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		cVector3d v(0, 0, 0);
		const bool success = d.getLinearVelocity(v);
		return copy_vector(success, v, out_m_per_s);
	});
}

tac_result device_angular_velocity(tac_chai3d_device *device, double out_rad_per_s[3])
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		cVector3d v(0, 0, 0);
		const bool success = d.getAngularVelocity(v);
		return copy_vector(success, v, out_rad_per_s);
	});
}

tac_result device_gripper(tac_chai3d_device *device, double *out_rad, double *out_rad_per_s)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		double numbers[2] = {0, 0};
		if (!d.getGripperAngleRad(numbers[0]) || !d.getGripperAngularVelocity(numbers[1]))
			return fail(TAC_ERROR_IO, no_sample);
		if (!finite(numbers, 2))
			return fail(TAC_ERROR_IO, no_numbers);
		*out_rad = numbers[0];
		*out_rad_per_s = numbers[1];
		return TAC_OK;
	});
}

tac_result device_switches(tac_chai3d_device *device, uint32_t *out_bits)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		unsigned int bits = 0;
		if (!d.getUserSwitches(bits))
			return fail(TAC_ERROR_IO, no_sample);
		*out_bits = bits;
		return TAC_OK;
	});
}

tac_result device_write(tac_chai3d_device *device, const double force_N[3], const double torque_Nm[3],
			double gripper_N)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		if (!finite(force_N, 3) || !finite(torque_Nm, 3) || !std::isfinite(gripper_N))
			return bad_argument("expected finite forces, found others");
		return io_result(d.setForceAndTorqueAndGripperForce(to_vector(force_N), to_vector(torque_Nm),
								    gripper_N),
				 "expected the device to take a force, found that it failed");
	});
}

tac_result device_enable(tac_chai3d_device *device, bool on)
{
	return with_device(device, [&](cGenericHapticDevice &d) {
		return io_result(d.enableForces(on),
				 "expected the device to switch its forces, found that it failed");
	});
}

// ---- world ----

tac_result world_create(tac_chai3d_world **out_world)
{
	return guarded([&] {
		*out_world = nullptr;
		*out_world = new tac_chai3d_world;
		return TAC_OK;
	});
}

void tool_stop(tac_chai3d_tool *tool)
{
	guarded_quietly([&] {
		if (tool && tool->started) {
			tool->started = false;
			tool->tool->setForcesOFF();
			tool->tool->stop();
		}
	});
}

void world_destroy(tac_chai3d_world **world)
{
	if (!*world)
		return;
	for (const auto &tool : (*world)->tools)
		tool_stop(tool.get());
	guarded_quietly([&] { delete *world; }); // cWorld deletes its children
	*world = nullptr;
}

// Hands `object` to the world.
template <typename Object>
void adopt(tac_chai3d_world *world, std::unique_ptr<Object> object, tac_chai3d_object **out_object)
{
	std::unique_ptr<tac_chai3d_object> handle(new tac_chai3d_object{world, object.get()});
	world->objects.push_back(std::move(handle));
	world->world.addChild(object.release());
	world->world.computeGlobalPositions(false);
	*out_object = world->objects.back().get();
}

bool radius_fits(double radius_m)
{
	return std::isfinite(radius_m) && radius_m >= 0;
}

tac_result mesh_create(tac_chai3d_world *world, const double *vertices_m, size_t vertex_count,
		       const uint32_t *triangles, size_t triangle_count, double radius_m,
		       tac_chai3d_object **out_object)
{
	return guarded([&] {
		*out_object = nullptr;
		if (!world || !vertices_m || !triangles || vertex_count == 0 || triangle_count == 0)
			return bad_argument("expected a world, vertices and triangles, found none");
		if (!finite(vertices_m, 3 * vertex_count) || !radius_fits(radius_m))
			return bad_argument(
				"expected finite vertices and a radius of 0 or more, found others");
		for (size_t i = 0; i < 3 * triangle_count; i++) {
			if (triangles[i] >= vertex_count)
				return bad_argument("expected indices of vertices, found one out of range");
		}
		std::unique_ptr<cMesh> mesh(new cMesh());
		for (size_t i = 0; i < vertex_count; i++)
			mesh->newVertex(to_vector(vertices_m + 3 * i));
		for (size_t i = 0; i < triangle_count; i++)
			mesh->newTriangle(triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]);
		mesh->computeAllNormals();
		mesh->createAABBCollisionDetector(radius_m);
		adopt(world, std::move(mesh), out_object);
		return TAC_OK;
	});
}

tac_result mesh_load(tac_chai3d_world *world, const char *path, double radius_m,
		     tac_chai3d_object **out_object)
{
	return guarded([&] {
		*out_object = nullptr;
		if (!world || !path || !radius_fits(radius_m))
			return bad_argument(
				"expected a world, a file and a radius of 0 or more, found others");
		std::unique_ptr<cMultiMesh> mesh(new cMultiMesh());
		if (!mesh->loadFromFile(path))
			return fail(TAC_ERROR_IO, "expected a mesh file that CHAI3D reads, found none");
		mesh->createAABBCollisionDetector(radius_m);
		adopt(world, std::move(mesh), out_object);
		return TAC_OK;
	});
}

tac_result object_pose(tac_chai3d_object *object, const double position_m[3], const double rows[9])
{
	return guarded([&] {
		if (!object || !finite(position_m, 3) || !finite(rows, 9))
			return bad_argument("expected an object and a finite pose, found others");
		cMatrix3d rotation;
		for (int row = 0; row < 3; row++)
			for (int column = 0; column < 3; column++)
				rotation(row, column) = rows[3 * row + column];
		object->object->setLocalPos(to_vector(position_m));
		object->object->setLocalRot(rotation);
		object->world->world.computeGlobalPositions(true);
		return TAC_OK;
	});
}

tac_result object_material(tac_chai3d_object *object, const tac_chai3d_material *material)
{
	return guarded([&] {
		if (!object || !material)
			return bad_argument("expected an object and a material, found NULL");
		const tac_chai3d_material &from = *material;
		const double numbers[] = {
			from.stiffness_N_per_m, from.damping_N_s_per_m,   from.static_friction,
			from.dynamic_friction,  from.viscosity_N_s_per_m, from.magnet_force_N,
			from.magnet_distance_m, from.stick_slip_force_N,  from.stick_slip_stiffness_N_per_m,
			from.vibration_Hz,      from.vibration_N,         from.texture_level,
		};
		const size_t count = sizeof numbers / sizeof *numbers;
		for (size_t i = 0; i < count; i++) {
			if (!(numbers[i] >= 0) || !std::isfinite(numbers[i]))
				return bad_argument("expected material values of 0 or more, found another");
		}
		cMaterial m;
		m.setStiffness(from.stiffness_N_per_m);
		m.setDamping(from.damping_N_s_per_m);
		m.setStaticFriction(from.static_friction);
		m.setDynamicFriction(from.dynamic_friction);
		m.setViscosity(from.viscosity_N_s_per_m);
		m.setMagnetMaxForce(from.magnet_force_N);
		m.setMagnetMaxDistance(from.magnet_distance_m);
		m.setStickSlipForceMax(from.stick_slip_force_N);
		m.setStickSlipStiffness(from.stick_slip_stiffness_N_per_m);
		m.setVibrationFrequency(from.vibration_Hz);
		m.setVibrationAmplitude(from.vibration_N);
		m.setTextureLevel(from.texture_level);
		m.setUseHapticFriction(from.static_friction > 0 || from.dynamic_friction > 0);
		m.setUseHapticTexture(from.texture_level > 0);
		m.setUseHapticShading(from.shading);
		object->object->setMaterial(m, true, true);
		return TAC_OK;
	});
}

tac_result object_effect(tac_chai3d_object *object, tac_chai3d_effect effect)
{
	return guarded([&] {
		if (!object)
			return bad_argument("expected an object, found NULL");
		switch (effect) {
		case TAC_CHAI3D_SURFACE:
			object->object->createEffectSurface(true, true);
			return TAC_OK;
		case TAC_CHAI3D_MAGNET:
			object->object->createEffectMagnetic(true, true);
			return TAC_OK;
		case TAC_CHAI3D_STICK_SLIP:
			object->object->createEffectStickSlip(true, true);
			return TAC_OK;
		case TAC_CHAI3D_VIBRATION:
			object->object->createEffectVibration(true, true);
			return TAC_OK;
		case TAC_CHAI3D_VISCOSITY:
			object->object->createEffectViscosity(true, true);
			return TAC_OK;
		case TAC_CHAI3D_EFFECT_COUNT:
			break;
		}
		return bad_argument("expected one of the five effects, found none");
	});
}

void object_destroy(tac_chai3d_object **object)
{
	guarded_quietly([&] {
		if (!*object)
			return;
		tac_chai3d_world *world = (*object)->world;
		world->world.removeChild((*object)->object);
		delete (*object)->object;
		for (auto it = world->objects.begin(); it != world->objects.end(); ++it) {
			if (it->get() == *object) {
				world->objects.erase(it);
				break;
			}
		}
	});
	*object = nullptr;
}

tac_result tool_create(tac_chai3d_world *world, double radius_m, bool moving_objects,
		       tac_chai3d_tool **out_tool)
{
	return guarded([&] {
		*out_tool = nullptr;
		if (!world || !radius_fits(radius_m))
			return bad_argument("expected a world and a radius of 0 or more, found others");
		std::unique_ptr<cToolCursor> tool(new cToolCursor(&world->world));
		tool->setRadius(radius_m);
		tool->enableDynamicObjects(moving_objects);
		std::unique_ptr<tac_chai3d_tool> handle(new tac_chai3d_tool{world, tool.get(), false});
		world->tools.push_back(std::move(handle));
		world->world.addChild(tool.release());
		*out_tool = world->tools.back().get();
		return TAC_OK;
	});
}

tac_result tool_place(tac_chai3d_tool *tool, const double position_m[3])
{
	return guarded([&] {
		if (!tool || !finite(position_m, 3))
			return bad_argument("expected a tool and a finite position, found others");
		tool->tool->setDeviceGlobalPos(to_vector(position_m));
		for (int i = 0; i < tool->tool->getNumHapticPoints(); i++)
			tool->tool->getHapticPoint(i)->initialize(to_vector(position_m));
		return TAC_OK;
	});
}

// Reads the state of the tool's finger proxy.
tac_result read_contact(tac_chai3d_tool *tool, tac_chai3d_contact *out_contact)
{
	tac_chai3d_contact contact = {};
	cHapticPoint *point = tool->tool->getHapticPoint(0);
	from_vector(point->getGlobalPosProxy(), contact.proxy_m);
	from_vector(tool->tool->getDeviceGlobalForce(), contact.force_N);
	contact.contacts = point->getNumCollisionEvents();
	if (!finite(contact.proxy_m, 3) || !finite(contact.force_N, 3))
		return fail(TAC_ERROR_IO, "expected finite forces from CHAI3D, found others");
	*out_contact = contact;
	return TAC_OK;
}

tac_result tool_step(tac_chai3d_tool *tool, const double position_m[3], const double velocity_m_per_s[3],
		     tac_chai3d_contact *out_contact)
{
	return guarded([&] {
		if (!tool || !finite(position_m, 3) || !finite(velocity_m_per_s, 3))
			return bad_argument("expected a tool and a finite motion, found others");
		tool->tool->setDeviceGlobalPos(to_vector(position_m));
		tool->tool->setDeviceGlobalLinVel(to_vector(velocity_m_per_s));
		tool->tool->computeInteractionForces();
		return read_contact(tool, out_contact);
	});
}

tac_result tool_start(tac_chai3d_tool *tool, tac_chai3d_device *device)
{
	return guarded([&] {
		if (!tool || !device)
			return bad_argument("expected a tool and a device, found NULL");
		tool->tool->setHapticDevice(device->device);
		tool->tool->setWaitForSmallForce(true);
		if (!tool->tool->start())
			return fail(TAC_ERROR_IO,
				    "expected the tool to start its device, found that it failed");
		tool->started = true;
		device->device->enableForces(true);
		return TAC_OK;
	});
}

tac_result tool_drive(tac_chai3d_tool *tool, tac_chai3d_contact *out_contact)
{
	return guarded([&] {
		if (!tool || !tool->started)
			return bad_argument("expected a tool that was started, found another");
		tool->world->world.computeGlobalPositions(true);
		tool->tool->updateFromDevice();
		tool->tool->computeInteractionForces();
		if (!tool->tool->applyToDevice())
			return fail(TAC_ERROR_IO,
				    "expected the device to take a force, found that it failed");
		return read_contact(tool, out_contact);
	});
}

const tac_chai3d_api api = {
	TAC_CHAI3D_API_VERSION,
	message,
	handler_create,
	handler_destroy,
	handler_rescan,
	handler_count,
	handler_info,
	device_open,
	device_close,
	device_calibrate,
	device_info,
	device_position,
	device_rotation,
	device_velocity,
	device_angular_velocity,
	device_gripper,
	device_switches,
	device_write,
	device_enable,
	world_create,
	world_destroy,
	mesh_create,
	mesh_load,
	object_pose,
	object_material,
	object_effect,
	object_destroy,
	tool_create,
	tool_place,
	tool_step,
	tool_start,
	tool_drive,
	tool_stop,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tac_chai3d_api *tac_chai3d_plugin(void);

const tac_chai3d_api *tac_chai3d_plugin(void)
{
	return &api;
}
