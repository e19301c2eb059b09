#include "apps/session/units.h"

#include "base/suggest.h"
#include "collision/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const units_names[] = {"auto", "m", "cm", "mm", "inch", NULL};

static const double metres[] = {0, 1, 1e-2, 1e-3, 0.0254}; // of units_names

bool units_parse(const char *command, int unit, double scale, double *out_scale)
{
	*out_scale = unit > 0 || isnan(scale) ? metres[unit] : scale;
	if (unit == 0 || isnan(scale))
		return true;
	fprintf(stderr, "%s: scale: expected --units or --scale, found --units %s and --scale %g\n", command,
		units_names[unit], scale);
	return false;
}

// A unit or a factor; 0: neither.
static double scale_of(const char *text)
{
	char *end;
	const double factor = strtod(text, &end);
	if (end != text && *end == '\0')
		return factor >= UNITS_SCALE_MIN && factor <= UNITS_SCALE_MAX ? factor : 0;
	for (int i = 1; units_names[i]; i++) {
		if (strcmp(text, units_names[i]) == 0)
			return metres[i];
	}
	return 0;
}

const char *units_split(const char *command, const char *argument, char out_path[UNITS_PATH],
			double *out_scale)
{
	const char *at = strrchr(argument, '@');
	const size_t length = at ? (size_t)(at - argument) : 0;
	*out_scale = 0;
	if (length == 0 || length >= UNITS_PATH || access(argument, F_OK) == 0)
		return argument;
	memcpy(out_path, argument, length);
	out_path[length] = '\0';
	*out_scale = scale_of(at + 1);
	if (*out_scale > 0)
		return out_path;
	if (access(out_path, F_OK) != 0)
		return argument; // a missing file whose name has an @
	tac_suggestion suggestion = tac_suggestion_begin(at + 1);
	for (int i = 1; units_names[i]; i++)
		tac_suggestion_offer(&suggestion, units_names[i]);
	fprintf(stderr,
		"%s: %s: expected m, cm, mm, inch or a factor from %g to %g after '@', found '%s'%s\n",
		command, out_path, UNITS_SCALE_MIN, UNITS_SCALE_MAX, at + 1,
		tac_suggestion_text(&suggestion));
	return NULL;
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
