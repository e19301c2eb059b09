// Assertions state what the caller must guarantee. They are on in every build unless it is configured with
// -DTACTUS_ASSERT=OFF: silent corruption must not reach a haptic device in a person's hand.
#ifndef TAC_BASE_ASSERT_H
#define TAC_BASE_ASSERT_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called with the text of the failed condition and its location. If it returns, the process aborts.
typedef void (*tac_assert_fn)(const char *condition, const char *file, int line);

// Installs `fn`; NULL restores the default, tac_assert_print. A test may leave by longjmp; a runtime brings
// its devices into a safe state first (rt/release.h).
// Thread: setup.
TAC_API void tac_assert_set(tac_assert_fn fn);

// Prints the condition and its location to standard error.
// Thread: any.
TAC_API void tac_assert_print(const char *condition, const char *file, int line);

// Called by TAC_ASSERT. Never returns normally.
// Thread: any.
#if defined(__GNUC__)
__attribute__((visibility("default"), noreturn, cold)) // TAC_API
#endif
void tac_assert_fail(const char *condition, const char *file, int line);

#ifdef TAC_NO_ASSERT
#define TAC_ASSERT(condition) ((void)0)
#else
#define TAC_ASSERT(condition) ((condition) ? (void)0 : tac_assert_fail(#condition, __FILE__, __LINE__))
#endif

#ifdef __cplusplus
}
#endif

#endif
