// A stand-in for CHAI3D 3.3: the classes and methods that the plugin uses, declared as CHAI3D documents them,
// with a fake device behind the handler and the simplest proxy that can rest on a triangle. It proves that
// the plugin compiles and that errors and exceptions become results; it does not test CHAI3D's rendering.
#ifndef TAC_TESTS_SUPPORT_FAKE_CHAI3D_CHAI3D_H
#define TAC_TESTS_SUPPORT_FAKE_CHAI3D_CHAI3D_H

#include "tests/support/fake_chai3d/fake_chai3d.h"
#include "tests/support/mirror.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace chai3d
{

// At the start of each method: throws or fails as the test requests.
class fake_call
{
      public:
	explicit fake_call(const char *method) : fails(false)
	{
		fake_chai3d_lock(true);
		const fake_chai3d_throw throwing = fake_chai3d.throwing;
		fails = fake_chai3d.unplugged || std::strcmp(fake_chai3d.failing, method) == 0;
		if (throwing == FAKE_CHAI3D_QUIET)
			return;
		fake_chai3d_lock(false);
		if (throwing == FAKE_CHAI3D_RUNTIME_ERROR)
			throw std::runtime_error(method);
		if (throwing == FAKE_CHAI3D_BAD_ALLOC)
			throw std::bad_alloc();
		throw 42;
	}
	~fake_call()
	{
		fake_chai3d_lock(false);
	}
	bool fails;
};

class cVector3d
{
      public:
	cVector3d() : v{0, 0, 0}
	{
	}
	cVector3d(const double x, const double y, const double z) : v{x, y, z}
	{
	}
	double &operator()(const int i)
	{
		return v[i];
	}
	const double &operator()(const int i) const
	{
		return v[i];
	}

      private:
	double v[3];
};

class cMatrix3d
{
      public:
	void identity()
	{
		for (int i = 0; i < 9; i++)
			m[i] = i % 4 == 0;
	}
	double &operator()(const int row, const int column)
	{
		return m[3 * row + column];
	}
	const double &operator()(const int row, const int column) const
	{
		return m[3 * row + column];
	}

      private:
	double m[9];
};

struct cHapticDeviceInfo {
	std::string m_modelName, m_manufacturerName;
	double m_maxLinearForce, m_maxAngularTorque, m_maxGripperForce;
	double m_maxLinearStiffness, m_maxAngularStiffness, m_maxGripperLinearStiffness;
	double m_maxLinearDamping, m_maxAngularDamping, m_maxGripperAngularDamping;
	double m_workspaceRadius, m_gripperMaxAngleRad;
	bool m_sensedPosition, m_sensedRotation, m_sensedGripper;
	bool m_actuatedPosition, m_actuatedRotation, m_actuatedGripper;
	bool m_leftHand, m_rightHand;
};

class cGenericHapticDevice
{
      public:
	virtual ~cGenericHapticDevice()
	{
	}
	virtual bool open()
	{
		fake_call call("open");
		const bool opened = !call.fails && mirror_claim();
		fake_chai3d.open += opened;
		return opened;
	}
	virtual bool close()
	{
		fake_call call("close");
		fake_chai3d.open--;
		mirror_release();
		return !call.fails;
	}
	virtual bool calibrate(bool = false)
	{
		fake_call call("calibrate");
		fake_chai3d.calibrations++;
		return !call.fails;
	}
	virtual bool getPosition(cVector3d &out)
	{
		fake_call call("getPosition");
		return read(call, fake_chai3d.position, out);
	}
	virtual bool getLinearVelocity(cVector3d &out)
	{
		fake_call call("getLinearVelocity");
		return read(call, fake_chai3d.velocity, out);
	}
	virtual bool getAngularVelocity(cVector3d &out)
	{
		fake_call call("getAngularVelocity");
		return read(call, fake_chai3d.angular_velocity, out);
	}
	virtual bool getRotation(cMatrix3d &out)
	{
		fake_call call("getRotation");
		for (int i = 0; i < 9; i++)
			out(i / 3, i % 3) = fake_chai3d.rotation[i];
		return !call.fails;
	}
	virtual bool getGripperAngleRad(double &out)
	{
		fake_call call("getGripperAngleRad");
		out = fake_chai3d.gripper;
		return !call.fails;
	}
	virtual bool getGripperAngularVelocity(double &out)
	{
		fake_call call("getGripperAngularVelocity");
		out = fake_chai3d.gripper_velocity;
		return !call.fails;
	}
	virtual bool getUserSwitches(unsigned int &out)
	{
		fake_call call("getUserSwitches");
		out = fake_chai3d.switches;
		return !call.fails;
	}
	virtual bool setForceAndTorqueAndGripperForce(const cVector3d &force, const cVector3d &torque,
						      double grip)
	{
		fake_call call("setForceAndTorqueAndGripperForce");
		double squared = 0;
		for (int i = 0; i < 3; i++) {
			fake_chai3d.commanded[i] = force(i);
			fake_chai3d.commanded[3 + i] = torque(i);
			squared += force(i) * force(i);
		}
		fake_chai3d.commanded[6] = grip;
		mirror_force(fake_chai3d.forces_on, fake_chai3d.commanded);
		if (fake_chai3d.forces_on && squared > fake_chai3d.largest_squared)
			fake_chai3d.largest_squared = squared;
		return !call.fails;
	}
	virtual bool enableForces(bool on)
	{
		fake_call call("enableForces");
		fake_chai3d.forces_on = on;
		mirror_force(on, fake_chai3d.commanded);
		return !call.fails;
	}
	cHapticDeviceInfo getSpecifications()
	{
		fake_call call("getSpecifications");
		return {"a model", "a maker", 10,   0.5,  8,    2000, 3,    100,   20,    0.1, 0.2,
			0.06,      0.5,       true, true, true, true, true, false, false, true};
	}

      private:
	static bool read(const fake_call &call, const double from[3], cVector3d &out)
	{
		for (int i = 0; i < 3; i++)
			out(i) = from[i];
		return !call.fails;
	}
};

typedef std::shared_ptr<cGenericHapticDevice> cGenericHapticDevicePtr;

class cHapticDeviceHandler
{
      public:
	cHapticDeviceHandler()
	{
		update();
	}
	virtual ~cHapticDeviceHandler()
	{
	}
	unsigned int getNumDevices()
	{
		return count;
	}
	void update()
	{
		fake_call call("update");
		fake_chai3d.scans++;
		count = static_cast<unsigned>(fake_chai3d.devices);
	}
	bool getDeviceSpecifications(cHapticDeviceInfo &out, unsigned int index = 0)
	{
		{
			fake_call call("getDeviceSpecifications");
			if (call.fails || index >= count)
				return false;
		}
		out = device->getSpecifications();
		return true;
	}
	bool getDevice(cGenericHapticDevicePtr &out, unsigned int index = 0)
	{
		fake_call call("getDevice");
		out = fake_chai3d.null_device ? nullptr : device;
		return !call.fails && index < count;
	}

      private:
	unsigned count = 0;
	cGenericHapticDevicePtr device = std::make_shared<cGenericHapticDevice>();
};

struct cMaterial {
	void setStiffness(const double v)
	{
		stiffness = v;
	}
	void setDamping(const double)
	{
	}
	void setStaticFriction(const double v)
	{
		friction = v;
	}
	void setDynamicFriction(const double)
	{
	}
	void setViscosity(const double)
	{
	}
	void setMagnetMaxForce(const double)
	{
	}
	void setMagnetMaxDistance(const double)
	{
	}
	void setStickSlipForceMax(const double)
	{
	}
	void setStickSlipStiffness(const double)
	{
	}
	void setVibrationFrequency(const double)
	{
	}
	void setVibrationAmplitude(const double)
	{
	}
	void setTextureLevel(const double)
	{
	}
	void setUseHapticFriction(const bool)
	{
	}
	void setUseHapticTexture(const bool)
	{
	}
	void setUseHapticShading(const bool)
	{
	}
	double stiffness = 0, friction = 0;
};

class cGenericObject
{
      public:
	cGenericObject()
	{
		fake_call call("cGenericObject");
		fake_chai3d.objects++;
		rotation.identity();
	}
	virtual ~cGenericObject()
	{
		for (cGenericObject *child : children)
			delete child;
		fake_chai3d_lock(true);
		fake_chai3d.objects--;
		fake_chai3d_lock(false);
	}
	bool addChild(cGenericObject *child)
	{
		children.push_back(child);
		return true;
	}
	bool removeChild(cGenericObject *child)
	{
		for (size_t i = 0; i < children.size(); i++) {
			if (children[i] == child) {
				children.erase(children.begin() + static_cast<long>(i));
				return true;
			}
		}
		return false;
	}
	virtual void computeGlobalPositions(const bool = true)
	{
	}
	virtual void setLocalPos(const cVector3d &p)
	{
		position = p;
	}
	virtual void setLocalRot(const cMatrix3d &r)
	{
		rotation = r;
	}
	virtual void setMaterial(cMaterial &m, const bool = false, const bool = false)
	{
		fake_call call("setMaterial");
		material = m;
		fake_chai3d.stiffness = m.stiffness;
		fake_chai3d.friction = m.friction;
	}
	void createEffectSurface(const bool = false, const bool = true)
	{
		effect(0);
	}
	void createEffectMagnetic(const bool = false, const bool = true)
	{
		effect(1);
	}
	void createEffectStickSlip(const bool = false, const bool = true)
	{
		effect(2);
	}
	void createEffectVibration(const bool = false, const bool = true)
	{
		effect(3);
	}
	void createEffectViscosity(const bool = false, const bool = true)
	{
		effect(4);
	}

	// The height of the surface at x, y; false if there is none.
	virtual bool fake_height(double, double, double *) const
	{
		return false;
	}
	std::vector<cGenericObject *> children;
	cVector3d position;
	cMatrix3d rotation;
	cMaterial material;

      private:
	static void effect(int index)
	{
		fake_call call("createEffect");
		fake_chai3d.effects[index]++;
	}
};

class cWorld : public cGenericObject
{
};

class cMesh : public cGenericObject
{
      public:
	unsigned int newVertex(const cVector3d &p)
	{
		vertices.push_back(p);
		return static_cast<unsigned>(vertices.size() - 1);
	}
	unsigned int newTriangle(const unsigned int a, const unsigned int b, const unsigned int c)
	{
		indices.insert(indices.end(), {a, b, c});
		return static_cast<unsigned>(indices.size() / 3 - 1);
	}
	void computeAllNormals()
	{
	}
	virtual void createAABBCollisionDetector(const double)
	{
		fake_call call("createAABBCollisionDetector");
	}
	// The highest triangle over the point; the mesh may be translated, but not rotated.
	bool fake_height(double x, double y, double *out_height) const override
	{
		bool any = false;
		for (size_t i = 0; i + 2 < indices.size(); i += 3) {
			const cVector3d &a = vertices[indices[i]], &b = vertices[indices[i + 1]],
					&c = vertices[indices[i + 2]];
			const double px = x - position(0), py = y - position(1);
			const double area = (b(0) - a(0)) * (c(1) - a(1)) - (b(1) - a(1)) * (c(0) - a(0));
			const double u = ((px - a(0)) * (c(1) - a(1)) - (py - a(1)) * (c(0) - a(0))) / area;
			const double v = ((b(0) - a(0)) * (py - a(1)) - (b(1) - a(1)) * (px - a(0))) / area;
			if (!(u >= 0 && v >= 0 && u + v <= 1))
				continue;
			const double height = a(2) + u * (b(2) - a(2)) + v * (c(2) - a(2)) + position(2);
			*out_height = any ? std::fmax(*out_height, height) : height;
			any = true;
		}
		return any;
	}

      private:
	std::vector<cVector3d> vertices;
	std::vector<unsigned> indices;
};

class cMultiMesh : public cGenericObject
{
      public:
	virtual bool loadFromFile(std::string path)
	{
		fake_call call("loadFromFile");
		return !call.fails && path.size() > 4 && path.compare(path.size() - 4, 4, ".obj") == 0;
	}
	virtual void createAABBCollisionDetector(const double)
	{
	}
};

class cHapticPoint
{
      public:
	void initialize(cVector3d p)
	{
		proxy = p;
		touching = 0;
	}
	cVector3d getGlobalPosProxy()
	{
		return proxy;
	}
	int getNumCollisionEvents()
	{
		return touching;
	}
	cVector3d proxy;
	int touching = 0;
};

class cToolCursor : public cGenericObject
{
      public:
	explicit cToolCursor(cWorld *w) : world(w)
	{
	}
	void setRadius(double r)
	{
		radius = r;
	}
	void enableDynamicObjects(bool)
	{
	}
	void setDeviceGlobalPos(const cVector3d &p)
	{
		goal = p;
	}
	void setDeviceGlobalLinVel(const cVector3d &)
	{
	}
	int getNumHapticPoints()
	{
		return 1;
	}
	cHapticPoint *getHapticPoint(int)
	{
		return &point;
	}
	virtual void computeInteractionForces()
	{
		fake_call call("computeInteractionForces");
		cVector3d proxy = goal;
		force = cVector3d();
		point.touching = 0;
		for (const cGenericObject *object : world->children) {
			double height;
			if (!object->fake_height(goal(0), goal(1), &height) || goal(2) >= height + radius ||
			    point.proxy(2) < height)
				continue;
			proxy(2) = height + radius;
			force(2) = object->material.stiffness * (proxy(2) - goal(2));
			point.touching = 1;
		}
		point.proxy = proxy;
		if (call.fails)
			force(0) = NAN;
	}
	cVector3d getDeviceGlobalForce() const
	{
		return force;
	}
	void setHapticDevice(cGenericHapticDevicePtr d)
	{
		device = d;
	}
	void setWaitForSmallForce(const bool)
	{
	}
	virtual bool start()
	{
		{
			fake_call call("start");
			if (call.fails)
				return false;
		}
		return device && device->open();
	}
	virtual bool stop()
	{
		return device->close();
	}
	virtual bool setForcesOFF()
	{
		return device->enableForces(false);
	}
	virtual void updateFromDevice()
	{
		device->getPosition(goal);
	}
	virtual bool applyToDevice()
	{
		return device->setForceAndTorqueAndGripperForce(force, cVector3d(), 0);
	}

      private:
	cWorld *world;
	double radius = 0;
	cVector3d goal, force;
	cHapticPoint point;
	cGenericHapticDevicePtr device;
};

} // namespace chai3d

#endif
