// Numbers of Haply's protocols: 32-bit floats, little-endian.
#ifndef TAC_DEVICES_HAPLY_FLOAT_BYTES_H
#define TAC_DEVICES_HAPLY_FLOAT_BYTES_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes four bytes at `out`. Thread: any.
static inline void tac_float_put(float value, uint8_t *out)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(bits >> 8 * i);
}

// Reads four bytes. Thread: any.
static inline float tac_float_get(const uint8_t *bytes)
{
	uint32_t bits = 0;
	for (int i = 0; i < 4; i++)
		bits |= (uint32_t)bytes[i] << 8 * i;
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

#ifdef __cplusplus
}
#endif

#endif
