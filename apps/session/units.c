#include "apps/session/units.h"

#include "collision/mesh.h"

#include <math.h>
#include <stdio.h>

const char *const units_names[] = {"auto", "m", "cm", "mm", "inch", NULL};

bool units_parse(const char *command, int unit, double scale, double *out_scale)
{
	static const double metres[] = {0, 1, 1e-2, 1e-3, 0.0254};
	*out_scale = unit > 0 || isnan(scale) ? metres[unit] : scale;
	if (unit == 0 || isnan(scale))
		return true;
	fprintf(stderr, "%s: scale: expected --units or --scale, found --units %s and --scale %g\n", command,
		units_names[unit], scale);
	return false;
}

const char *units_length(double length_m, char out[UNITS_TEXT])
{
	const double size = fabs(length_m);
	if (size >= 1 || size == 0)
		snprintf(out, UNITS_TEXT, "%.4g m", length_m);
	else if (size >= 1e-3)
		snprintf(out, UNITS_TEXT, "%.4g mm", 1e3 * length_m);
	else
		snprintf(out, UNITS_TEXT, "%.4g um", 1e6 * length_m);
	return out;
}

const char *units_bound(double bound_N, char out[UNITS_TEXT])
{
	if (isfinite(bound_N))
		snprintf(out, UNITS_TEXT, "bound %.2f N", bound_N);
	else
		snprintf(out, UNITS_TEXT, "cut on purpose");
	return out;
}

void units_hint(double size_m, char *out, size_t size)
{
	char length[UNITS_TEXT], better[UNITS_TEXT];
	const double scale = tac_mesh_plausible_scale(size_m);
	units_length(size_m, length);
	units_length(scale * size_m, better);
	out[0] = '\0';
	if (scale == 1e-3)
		snprintf(out, size, "%s large: are these millimetres? --units mm makes it %s", length,
			 better);
	else if (scale != 1)
		snprintf(out, size, "%s large: metres were assumed; --scale %.3g makes it %s", length, scale,
			 better);
}
