// tactus-console: the program behind `tactus console`, which has checked the options and passes them as words
// of the form name=value.
#include "share/bridge/words.h"
#include "share/console/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder of the page lies beside the program.
static bool find_pages(char *out_folder, size_t size)
{
	char program[3072];
	const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	if (length <= 0)
		return false;
	program[length] = 0;
	*strrchr(program, '/') = 0;
	snprintf(out_folder, size, "%s/console", program);
	return access(out_folder, R_OK) == 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	char **words = argv + 1;
	char pages[4096], token[33];
	if (!find_pages(pages, sizeof pages)) {
		fprintf(stderr, "tactus console: expected its page in %s, found none\n", pages);
		return EXIT_FAILURE;
	}
	snprintf(token, sizeof token, "%016llx%016llx", (unsigned long long)wire_random(),
		 (unsigned long long)wire_random());
	const char *given = word_value(words, "token");
	return server_run(&(server_def){
		.wire = word_wire(words),
		.host = word_value(words, "host"),
		.port = (int)word_number(words, "port", 8765),
		.certificate = word_value(words, "certificate"),
		.key = word_value(words, "key"),
		.token = given                              ? given
			 : word_value(words, "certificate") ? token
							    : NULL,
		.store = word_value(words, "folder"),
		.pages = pages,
	});
}
