// RTL: finds and loads the gates of the CollisionChip (hardware/rtl_interface.h), and offers them as the
// engine `rtl`, beside `chip`, the model, and `board`. The answers are those of the model, bit for bit; the
// time is that of a simulation of gates. The nodes of a query's budget are clocks here, those of the register
// writes included, so a query of a large scene ends with its budget as unknown.
#ifndef TAC_HARDWARE_RTL_H
#define TAC_HARDWARE_RTL_H

#include "base/result.h"
#include "collision/chip.h"
#include "collision/collider.h"
#include "hardware/rtl_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

// Loads the library: the file named by TACTUS_RTL, else one beside the program, else the installed one, as
// base/helper.h permits. On failure (TAC_ERROR_UNSUPPORTED, with one log line) *out_api is NULL. It stays
// loaded. Thread: setup.
tac_result tac_rtl_load(const tac_rtl_api **out_api);

// The engine, named rtl. tac_collider_find returns it after tac_collider_add. It loads the library with its
// first shape. Thread: setup.
const tac_collider *tac_rtl_collider(void);

// All counters of the last query of `context`, which must be of this engine (asserted), and the clocks that
// its gates took. False if another query has taken the chip since.
// Thread: RT.
bool tac_rtl_collider_counters(const tac_context *context, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT],
			       uint64_t *out_clocks);

#ifdef __cplusplus
}
#endif

#endif
