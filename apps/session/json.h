// JSON: printing shared by the subcommands.
#ifndef TAC_APPS_SESSION_JSON_H
#define TAC_APPS_SESSION_JSON_H

#include <stdio.h>

// Prints `text` as a JSON string: in quotation marks, with the necessary characters escaped.
void json_print_string(FILE *file, const char *text);

#endif
