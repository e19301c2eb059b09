// Files of poses for the benchmarks: twelve numbers a pose, the rotation matrix by rows and the translation
// (m).
#ifndef TAC_BENCH_POSES_H
#define TAC_BENCH_POSES_H

#include "base/algebra.h"

#include <stdio.h>
#include <string.h>

// Reads up to `capacity` poses and returns their number; 0 if the file cannot be read.
static inline int bench_load_poses(const char *path, tac_rigid *out_poses, int capacity)
{
	FILE *file = fopen(path, "r");
	int count = 0;
	while (file && count < capacity) {
		float x[12];
		int numbers = 0;
		while (numbers < 12 && fscanf(file, "%f", &x[numbers]) == 1)
			numbers++;
		if (numbers < 12)
			break;
		memcpy(out_poses[count].R.m, x, sizeof out_poses->R.m);
		out_poses[count++].t = tac_vec3_load(x + 9);
	}
	if (file)
		fclose(file);
	return count;
}

#endif
