// Denormals: arithmetic on numbers below FLT_MIN or DBL_MIN can be a hundred times slower than usual, and
// decaying filters produce them. The real-time thread therefore flushes them: results become zero
// (flush-to-zero) and operands count as zero (denormals-are-zero). The setting belongs to the calling thread
// and is inherited by threads it starts.
#ifndef TAC_BASE_DENORMAL_H
#define TAC_BASE_DENORMAL_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__)
#define TAC_DENORMAL_BITS UINT64_C(0x8040) // FTZ and DAZ of MXCSR

static inline uint64_t tac_denormal_control(void)
{
	return _mm_getcsr();
}

static inline void tac_denormal_set_control(uint64_t control)
{
	_mm_setcsr((unsigned)control);
}
#elif defined(__aarch64__)
#define TAC_DENORMAL_BITS UINT64_C(0x1000000) // FZ of FPCR does both

static inline uint64_t tac_denormal_control(void)
{
	uint64_t control;
	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	return control;
}

static inline void tac_denormal_set_control(uint64_t control)
{
	__asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
#else
#define TAC_DENORMAL_BITS UINT64_C(0) // no such control: denormals stay exact

static inline uint64_t tac_denormal_control(void)
{
	return 0;
}

static inline void tac_denormal_set_control(uint64_t control)
{
	(void)control;
}
#endif

// Whether the calling thread flushes denormals.
// Thread: RT.
static inline bool tac_denormal_flushed(void)
{
	return (tac_denormal_control() & TAC_DENORMAL_BITS) != 0;
}

// Flushes denormals in the calling thread from now on, or keeps them. Has no effect where the CPU has no such
// control. The compiler ignores the setting and may move or fold arithmetic across this call, so switch at
// the start of a thread, not around a single sum.
// Thread: RT.
static inline void tac_denormal_flush(bool flush)
{
	uint64_t control = tac_denormal_control();
	tac_denormal_set_control(flush ? control | TAC_DENORMAL_BITS : control & ~TAC_DENORMAL_BITS);
}

#ifdef __cplusplus
}
#endif

#endif
