// Units: the options --units and --scale of the commands that load mesh files, and lengths and forces as
// text.
#ifndef TAC_APPS_SESSION_UNITS_H
#define TAC_APPS_SESSION_UNITS_H

#include <stdbool.h>
#include <stddef.h>

// The values of --units, ended by NULL. The first one, "auto", leaves the choice to the command.
extern const char *const units_names[];

#define UNITS_TEXT 32 // bytes that hold every text of units_length and units_bound

// Metres per unit of the file, from the two options: `unit` is an index of units_names, `scale` is NAN if it
// was not given. *out_scale is 0 if neither was given. False after one line: both were given.
bool units_parse(const char *command, int unit, double scale, double *out_scale);

// "64 mm", "1.2 m", "3.4 um".
const char *units_length(double length_m, char out[UNITS_TEXT]);

// The bound on a step of the force: "bound 0.61 N", or "cut on purpose" where there was none: the largest
// step was that of a force that was let go, as after a stall.
const char *units_bound(double bound_N, char out[UNITS_TEXT]);

// A question such as "64 m large: are these millimetres? --units mm" in `out`, or "" for 1 mm to 1 m.
void units_hint(double size_m, char *out, size_t size);

#endif
