// API: TAC_API marks the functions that the shared library libtactus.so exports. Everything else is hidden in
// it and can be reached through the static libraries only. docs/library.md says what is promised about them.
#ifndef TAC_BASE_API_H
#define TAC_BASE_API_H

#if defined(__GNUC__)
#define TAC_API __attribute__((visibility("default")))
#else
#define TAC_API
#endif

#endif
