// Units: the options --units and --scale of the commands that load mesh files, the unit of one file, and
// lengths and forces as text.
#ifndef TAC_APPS_SESSION_UNITS_H
#define TAC_APPS_SESSION_UNITS_H

#include <stdbool.h>
#include <stddef.h>

// The values of --units, ended by NULL. The first one, "auto", leaves the choice to the command.
extern const char *const units_names[];

#define UNITS_TEXT 32  // bytes that hold every text of units_length and units_bound
#define UNITS_PATH 512 // bytes of a path; longer ones are not split

// The bounds of --scale and of a factor after @.
#define UNITS_SCALE_MIN 1e-9
#define UNITS_SCALE_MAX 1e9

// Metres per unit of the file, from the two options: `unit` is an index of units_names, `scale` is NAN if it
// was not given. *out_scale is 0 if neither was given. False after one line: both were given.
bool units_parse(const char *command, int unit, double scale, double *out_scale);

// Splits FILE@UNIT, as in part.stl@mm or part.stl@0.001, at its last @. Returns the file, which may be in
// out_path, and in *out_scale the metres per unit, 0 without @UNIT. A file that exists under the whole name
// is meant. NULL after one line on stderr: FILE exists, but UNIT is neither a unit nor a factor.
const char *units_split(const char *command, const char *argument, char out_path[UNITS_PATH],
			double *out_scale);

// "64 mm", "1.2 m", "3.4 um".
const char *units_length(double length_m, char out[UNITS_TEXT]);

// The bound on a step of the force: "bound 0.61 N", or "cut on purpose" where there was none: the largest
// step was that of a force that was let go, as after a stall.
const char *units_bound(double bound_N, char out[UNITS_TEXT]);

// A question such as "64 m large: are these millimetres? --units mm" in `out`, or "" for 1 mm to 1 m.
void units_hint(double size_m, char *out, size_t size);

#endif
