// CRC-32 of IEEE 802.3 (polynomial EDB88320 reflected, start and end inverted), as zlib's crc32. Four bits at
// a time: a table of 64 bytes, which stays in the cache of a real-time thread.
#ifndef TAC_BASE_CRC32_H
#define TAC_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The CRC of `count` bytes that follow others whose CRC is `crc`; start with 0. Thread: RT.
static inline uint32_t tac_crc32(uint32_t crc, const void *bytes, size_t count)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
		0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
		0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
	};
	const uint8_t *p = (const uint8_t *)bytes;
	crc = ~crc;
	for (size_t i = 0; i < count; i++) {
		crc = crc >> 4 ^ table[(crc ^ p[i]) & 15];
		crc = crc >> 4 ^ table[(crc ^ p[i] >> 4) & 15];
	}
	return ~crc;
}

#ifdef __cplusplus
}
#endif

#endif
