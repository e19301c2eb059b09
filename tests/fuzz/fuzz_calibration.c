// Any text as a calibration: refused with a reason, or one that reads back as it was written.
#include "devices/calibration.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[4096], again[1024], reason[160] = "";
	size = size < sizeof text ? size : sizeof text - 1;
	memcpy(text, data, size);
	text[size] = '\0';
	tac_calibration c, twice;
	if (!tac_calibration_decode(text, &c, reason, sizeof reason)) {
		if (!reason[0])
			abort();
		return 0;
	}
	const size_t length = tac_calibration_encode(&c, again, sizeof again);
	if (length == 0 || !tac_calibration_decode(again, &twice, reason, sizeof reason) ||
	    c.left_handed != twice.left_handed)
		abort();
	return 0;
}
