// JSON: what the subcommands share when they print it.
#ifndef TAC_APPS_JSON_H
#define TAC_APPS_JSON_H

#include <stdio.h>

// Prints `text` in quotation marks, with what JSON does not allow in between escaped.
void json_print_string(FILE *file, const char *text);

#endif
