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
