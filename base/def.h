// Defs: the structures that callers fill to create something. They grow from version to version: each begins
// with its size as the caller was compiled, so that a program and a shared library of different versions
// agree on what both know. The function …_def_default is inline, so it is compiled into the program: it
// reserves what the program knows and lets the library fill that much.
#ifndef TAC_BASE_DEF_H
#define TAC_BASE_DEF_H

#include "base/log.h"
#include "base/result.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// Fills the caller's def, of `bytes`, with the defaults, of `known` bytes; what the library does not know is
// 0. Thread: any.
static inline void tac_def_fill(void *out_def, size_t bytes, const void *defaults, size_t known)
{
	const uint32_t size = (uint32_t)bytes;
	memset(out_def, 0, bytes);
	memcpy(out_def, defaults, bytes < known ? bytes : known);
	memcpy(out_def, &size, sizeof size);
}

// Copies the caller's def over the defaults in `out_full`, of `known` bytes: what an older program does not
// know keeps its default. TAC_ERROR_ARGUMENT with one log line if the def was not filled by its default
// function; TAC_ERROR_UNSUPPORTED if a newer program has set something that this library does not know.
// Thread: any.
static inline tac_result tac_def_read(const char *name, const void *def, void *out_full, size_t known)
{
	uint32_t bytes = 0;
	if (def)
		memcpy(&bytes, def, sizeof bytes);
	if (bytes < sizeof bytes || bytes > 65536) {
		tac_log(TAC_LOG_ERROR, "%s: expected a def filled by tac_%s_def_default, found %s", name,
			name, def ? "another" : "none");
		return TAC_ERROR_ARGUMENT;
	}
	for (size_t i = known; i < bytes; i++) {
		if (((const unsigned char *)def)[i] != 0) {
			tac_log(TAC_LOG_ERROR,
				"%s: expected a def of at most %zu bytes, found a newer one of %u", name,
				known, (unsigned)bytes);
			return TAC_ERROR_UNSUPPORTED;
		}
	}
	const uint32_t full = (uint32_t)known;
	memcpy(out_full, def, bytes < known ? bytes : known);
	memcpy(out_full, &full, sizeof full);
	return TAC_OK;
}

#ifdef __cplusplus
}
#endif

#endif
