// Probes: static tracepoints (USDT) of the provider `tactus`, for perf, bpftrace and SystemTap. A probe
// without an attached tracer is one nop, and its place and arguments are a note in the ELF file, so probes
// stay in every build. They come from <sys/sdt.h> if it was found at configure time; otherwise they expand to
// nothing. docs/tracing.md has the command lines. The arguments must have no side effects.
#ifndef TAC_RT_PROBE_H
#define TAC_RT_PROBE_H

#include <stdint.h>

#ifdef TAC_HAVE_SDT

#include <sys/sdt.h>

// The casts fix the size and sign that the notes give for each argument, independent of the caller's types.

// A tick begins: its index, and the time it was planned for in ns.
// Thread: RT.
#define TAC_PROBE_TICK_START(index, planned_ns)                                                              \
	DTRACE_PROBE2(tactus, tick_start, (int64_t)(index), (int64_t)(planned_ns))

// A phase of the tick is done: index, tac_phase.
// Thread: RT.
#define TAC_PROBE_PHASE_END(index, phase) DTRACE_PROBE2(tactus, phase_end, (int64_t)(index), (int32_t)(phase))

// The tick ended late: index, tac_cause, the tac_phase of the cause, lateness in ns. It is not named "miss",
// which perf record reads as a cache event.
// Thread: RT.
#define TAC_PROBE_MISS(index, cause, phase, late_ns)                                                         \
	DTRACE_PROBE4(tactus, tick_miss, (int64_t)(index), (int32_t)(cause), (int32_t)(phase),               \
		      (int64_t)(late_ns))

#else

#define TAC_PROBE_TICK_START(index, planned_ns) ((void)(index), (void)(planned_ns))
#define TAC_PROBE_PHASE_END(index, phase)       ((void)(index), (void)(phase))
#define TAC_PROBE_MISS(index, cause, phase, late_ns)                                                         \
	((void)(index), (void)(cause), (void)(phase), (void)(late_ns))

#endif

#endif
