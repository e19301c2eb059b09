// Latency compare: two summaries of `tactus latency --json` or `tactus run --json` side by side.
#ifndef TAC_APPS_COMMANDS_LATENCY_COMPARE_H
#define TAC_APPS_COMMANDS_LATENCY_COMPARE_H

// Prints the distributions and the misses of both, and the ratio of B to A. Returns an exit code: 0, or 2
// after one line.
int latency_compare(const char *path_a, const char *path_b);

#endif
