#include "devices/device.h"

const char *tac_device_status_name(tac_device_status status)
{
	static const char *const names[TAC_DEVICE_STATUS_COUNT] = {
		[TAC_DEVICE_OK] = "ok",
		[TAC_DEVICE_STALE] = "stale",
		[TAC_DEVICE_DISABLED] = "disabled",
		[TAC_DEVICE_ENDED] = "ended",
		[TAC_DEVICE_LOST] = "lost",
	};
	return status >= 0 && status < TAC_DEVICE_STATUS_COUNT ? names[status] : "unknown status";
}

// Shortens `v` to `limit`; false if it was not longer.
static bool shorten(tac_dvec3 *v, double limit)
{
	const double length = tac_dvec3_length(*v);
	if (length <= limit)
		return false;
	*v = limit > 0 ? tac_dvec3_scale(*v, limit / length) : tac_dvec3_zero();
	return true;
}

bool tac_wrench_saturate(tac_wrench *wrench, double max_force_N, double max_torque_Nm)
{
	const bool force = shorten(&wrench->force_N, max_force_N);
	return shorten(&wrench->torque_Nm, max_torque_Nm) || force;
}
