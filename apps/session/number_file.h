// Number file: reads text files that have the same count of numbers on every line, separated by blanks or
// commas, such as the poses of `tactus query`. Empty lines and lines that begin with # are skipped. Errors
// are one line on stderr: the file, the line, what was expected and what was found.
#ifndef TAC_APPS_SESSION_NUMBER_FILE_H
#define TAC_APPS_SESSION_NUMBER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct number_file_def {
	const char *command;   // "tactus query", for messages
	const char *path;      // of the file
	const char *content;   // "poses", for messages
	const char *form;      // "12 numbers (R by rows, then t)", for messages
	int count;             // of numbers on a line
	bool single_precision; // round each number to float directly, not through double
	bool finite;           // refuse infinities and NaN
} number_file_def;

typedef struct number_file {
	number_file_def def;
	FILE *file;
	size_t line; // the number of the last line read, from 1
	size_t rows; // lines with numbers so far
	char *text;  // TAC_INPUT_LINE_MAX + 1 bytes
} number_file;

// False after one line: the file cannot be opened. Call number_file_close in either case.
bool number_file_open(const number_file_def *def, number_file *out_file);

// Reads the next line into `out_numbers`. 1: done; 0: the end of the file; -1 after one line: bad input, or
// the file has ended without any numbers.
int number_file_next(number_file *f, double *out_numbers);

void number_file_close(number_file *f);

#endif
