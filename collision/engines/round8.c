#include "collision/engines/round8.h"

#include <math.h>

#define UNIT 0x1p-24 // unit roundoff of float

tac_round8 tac_round8_make(tac_dvec3 a, tac_dvec3 b, double radius, double extent, double eps)
{
	const double from[3] = {a.x, a.y, a.z}, to[3] = {b.x, b.y, b.z};
	tac_round8 round = {.is_sphere = true};
	double reach = extent + radius;
	for (int k = 0; k < 3; k++) {
		round.start[k] = (float)from[k];
		round.axis[k] = (float)(to[k] - from[k]);
		round.is_sphere = round.is_sphere && from[k] == to[k];
		reach = fmax(reach, extent + fmax(fabs(from[k]), fabs(to[k])));
	}
	round.radius = (float)(radius + eps);
	// A vertex relative to the segment is off by two units of the reach along each axis, a point of a
	// triangle or segment by four more, and products of two such vectors by eight units of their lengths,
	// one of which is the distance to be decided. Twice the sum of these.
	round.error = (float)(64 * UNIT * reach + 8 * eps);
	return round;
}

tac_round8_fn *tac_round8_of(tac_simd simd)
{
	static tac_round8_fn *const variants[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_round8_meets);
	return variants[simd];
}
