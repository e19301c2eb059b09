// Runs each file of a folder once through a fuzz target: the corpus as a test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	int files = 0;
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char path[4096];
		static uint8_t data[1 << 20];
		snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		FILE *f = entry->d_name[0] != '.' ? fopen(path, "rb") : NULL;
		if (!f)
			continue;
		const size_t size = fread(data, 1, sizeof data, f);
		fclose(f);
		LLVMFuzzerTestOneInput(data, size);
		files++;
	}
	if (folder)
		closedir(folder);
	printf("%d inputs\n", files);
	return files > 0 ? 0 : 1;
}
