#include "collision/shape.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The numbers that a kind takes: those that it must have, and those that it may have.
static const struct {
	const char *name;
	const char *required[4], *optional[3];
} kinds[] = {
	[TAC_SOLID_SPHERE] = {"sphere", {"r"}, {NULL}},
	[TAC_SOLID_CAPSULE] = {"capsule", {"r", "h"}, {NULL}},
	[TAC_SOLID_CYLINDER] = {"cylinder", {"r", "h"}, {NULL}},
	[TAC_SOLID_CONE] = {"cone", {"rb", "rt", "h"}, {NULL}},
	[TAC_SOLID_TOROID] = {"toroid", {"R", "r"}, {"z0", "z1"}},
};
#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static const char *const places[3] = {"x", "y", "z"};

static int kind_of(const char *text, size_t length)
{
	for (int k = 0; k < KINDS; k++) {
		if (strlen(kinds[k].name) == length && strncmp(text, kinds[k].name, length) == 0)
			return k;
	}
	return -1;
}

bool tac_shape_is_solids(const char *text)
{
	size_t length = strcspn(text, ":");
	return text[length] == ':' && kind_of(text, length) >= 0;
}

static tac_result refuse(const char *text, const char *expected, const char *found, size_t length)
{
	tac_log(TAC_LOG_ERROR, "shape '%s': expected %s, found '%.*s'", text, expected, (int)length, found);
	return TAC_ERROR_FORMAT;
}

// Where the number called `name` belongs, or NULL.
static double *number_of(tac_solid *s, int kind, const char *name, size_t length)
{
	double *const position[3] = {&s->position.x, &s->position.y, &s->position.z};
	for (int i = 0; i < 3; i++) {
		if (strlen(places[i]) == length && strncmp(name, places[i], length) == 0)
			return position[i];
	}
	bool toroid = kind == TAC_SOLID_TOROID;
	const struct {
		const char *name;
		double *to;
	} numbers[] = {{"r", toroid ? &s->minor : &s->radius},
		       {"R", &s->radius},
		       {"rb", &s->radius},
		       {"rt", &s->top},
		       {"h", &s->height},
		       {"z0", &s->z_min},
		       {"z1", &s->z_max}};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (strlen(numbers[i].name) != length || strncmp(name, numbers[i].name, length) != 0)
			continue;
		for (int k = 0; k < 4 && kinds[kind].required[k] != NULL; k++) {
			if (strcmp(numbers[i].name, kinds[kind].required[k]) == 0)
				return numbers[i].to;
		}
		for (int k = 0; k < 3 && kinds[kind].optional[k] != NULL; k++) {
			if (strcmp(numbers[i].name, kinds[kind].optional[k]) == 0)
				return numbers[i].to;
		}
	}
	return NULL;
}

// Rows: the cyclic exchange that turns z into the axis.
static tac_dmat3 axis_rotation(char axis)
{
	tac_dvec3 x = tac_dvec3_make(1, 0, 0), y = tac_dvec3_make(0, 1, 0), z = tac_dvec3_make(0, 0, 1);
	return axis == 'x'   ? tac_dmat3_from_rows(z, x, y)
	       : axis == 'y' ? tac_dmat3_from_rows(y, z, x)
			     : tac_dmat3_identity();
}

static bool is_length(double x)
{
	return isfinite(x) && x > 0;
}

static tac_result check(const char *text, const tac_solid *s, const char *found, size_t length)
{
	bool ok = isfinite(s->position.x) && isfinite(s->position.y) && isfinite(s->position.z);
	switch (s->kind) {
	case TAC_SOLID_SPHERE:
		ok = ok && is_length(s->radius);
		break;
	case TAC_SOLID_CAPSULE:
	case TAC_SOLID_CYLINDER:
		ok = ok && is_length(s->radius) && is_length(s->height);
		break;
	case TAC_SOLID_CONE:
		ok = ok && isfinite(s->radius) && isfinite(s->top) && s->radius >= 0 && s->top >= 0 &&
		     is_length(s->radius + s->top) && is_length(s->height);
		break;
	case TAC_SOLID_TOROID:
		ok = ok && isfinite(s->radius) && s->radius >= 0 && is_length(s->minor) &&
		     s->z_min < s->z_max && s->z_min >= -s->minor && s->z_max <= s->minor &&
		     (!s->concave || s->radius >= s->minor);
		break;
	}
	if (!ok)
		return refuse(text,
			      "positive lengths (a cone may have one radius 0; a toroid -r <= z0 < z1 <= r, "
			      "and R >= r if "
			      "concave)",
			      found, length);
	return TAC_OK;
}

// One solid of the text, `length` characters from `part`.
static tac_result parse_one(const char *text, const char *part, size_t length, tac_solid *s)
{
	size_t name = strcspn(part, ":");
	int kind = name < length ? kind_of(part, name) : -1;
	if (kind < 0)
		return refuse(text, "sphere:, capsule:, cylinder:, cone: or toroid:", part, length);
	*s = (tac_solid){.kind = (tac_solid_kind)kind,
			 .radius = (double)NAN,
			 .top = (double)NAN,
			 .height = (double)NAN,
			 .minor = (double)NAN,
			 .z_min = (double)NAN,
			 .z_max = (double)NAN,
			 .rotation = tac_dmat3_identity()};
	const char *end = part + length;
	for (const char *item = part + name + 1; item <= end;) { // a comma at the end leaves an empty item
		size_t size = strcspn(item, ",+"), key = strcspn(item, "=,+");
		if (key < size && key == 4 && strncmp(item, "axis", 4) == 0 && size == 6 &&
		    strchr("xyz", item[5]) != NULL) {
			s->rotation = axis_rotation(item[5]);
		} else if (kind == TAC_SOLID_TOROID && size == 7 && strncmp(item, "concave", 7) == 0) {
			s->concave = true;
		} else {
			double *number = key < size ? number_of(s, kind, item, key) : NULL;
			char *stop;
			double value = number != NULL ? strtod(item + key + 1, &stop) : 0;
			if (number == NULL || stop == item + key + 1 || stop != item + size)
				return refuse(text, "NAME=NUMBER of the solid, x, y, z or axis=x|y|z", item,
					      size);
			*number = value;
		}
		item += size + 1;
	}
	if (kind == TAC_SOLID_TOROID) {
		s->z_min = isnan(s->z_min) ? -s->minor : s->z_min;
		s->z_max = isnan(s->z_max) ? s->minor : s->z_max;
	}
	return check(text, s, part, length);
}

tac_result tac_shape_parse(const char *text, tac_solids *out_solids)
{
	*out_solids = (tac_solids){.count = 0};
	for (const char *part = text;; part++) {
		size_t length = strcspn(part, "+");
		if (out_solids->count == TAC_SOLIDS_MAX)
			return refuse(text, "at most 16 solids", part, length);
		tac_result result = parse_one(text, part, length, &out_solids->solid[out_solids->count]);
		if (result < 0)
			return result;
		out_solids->count++;
		part += length;
		if (*part == '\0')
			return TAC_OK;
	}
}
