#include "collision/solid.h"

#include "base/log.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A parameter of a kind of solid: its name, its field in tac_solid and its bounds.
typedef struct parameter {
	const char *name;
	size_t offset;
	double min, max;
	bool optional;
} parameter;

#define LENGTH(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), TAC_SOLID_LENGTH_MIN, TAC_SOLID_LENGTH_MAX, false          \
	}
#define RADIUS(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), 0, TAC_SOLID_LENGTH_MAX, false                             \
	}
#define HEIGHT(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), -TAC_SOLID_LENGTH_MAX, TAC_SOLID_LENGTH_MAX, true          \
	}

#define PARAMETERS_MAX 4
#define SHOWN_MAX      120 // characters of the text in a message, to keep the line readable

static const struct {
	const char *name;
	parameter parameters[PARAMETERS_MAX];
} kinds[] = {
	[TAC_SOLID_SPHERE] = {"sphere", {LENGTH("r", radius)}},
	[TAC_SOLID_CAPSULE] = {"capsule", {LENGTH("r", radius), LENGTH("h", height)}},
	[TAC_SOLID_CYLINDER] = {"cylinder", {LENGTH("r", radius), LENGTH("h", height)}},
	[TAC_SOLID_CONE] = {"cone", {RADIUS("rb", radius), RADIUS("rt", top), LENGTH("h", height)}},
	[TAC_SOLID_TOROID] = {"toroid",
			      {RADIUS("R", radius), LENGTH("r", minor), HEIGHT("z0", z_min),
			       HEIGHT("z1", z_max)}},
};
#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static const parameter coordinates[3] = {
	HEIGHT("x", position.x),
	HEIGHT("y", position.y),
	HEIGHT("z", position.z),
};

static int kind_of(const char *text, size_t length)
{
	for (int k = 0; k < KINDS; k++) {
		if (strlen(kinds[k].name) == length && strncmp(text, kinds[k].name, length) == 0)
			return k;
	}
	return -1;
}

bool tac_solids_is_description(const char *text)
{
	size_t length = strcspn(text, ":");
	return text[length] == ':' && kind_of(text, length) >= 0;
}

// The state of parsing one solid.
typedef struct reader {
	char *message;    // of TAC_SOLIDS_MESSAGE bytes: "expected …, found …"
	tac_solid *solid; // NaN where no value was given yet
	bool axis;        // given
} reader;

static tac_result refuse(const reader *r, const char *expected, const char *found, size_t length)
{
	snprintf(r->message, TAC_SOLIDS_MESSAGE, "expected %s, found '%.*s'", expected,
		 length < SHOWN_MAX ? (int)length : SHOWN_MAX, found);
	return TAC_ERROR_FORMAT;
}

static double *field_of(tac_solid *s, const parameter *p)
{
	return (double *)(void *)((char *)s + p->offset);
}

// The parameter of the kind with this name, or NULL.
static const parameter *parameter_of(int kind, const char *name, size_t length)
{
	for (int i = 0; i < 3 + PARAMETERS_MAX; i++) {
		const parameter *p = i < 3 ? &coordinates[i] : &kinds[kind].parameters[i - 3];
		if (p->name && strlen(p->name) == length && strncmp(name, p->name, length) == 0)
			return p;
	}
	return NULL;
}

// The cyclic permutation of the coordinates that maps z to the axis.
static tac_dmat3 axis_rotation(char axis)
{
	tac_dvec3 x = tac_dvec3_make(1, 0, 0), y = tac_dvec3_make(0, 1, 0), z = tac_dvec3_make(0, 0, 1);
	return axis == 'x'   ? tac_dmat3_from_rows(z, x, y)
	       : axis == 'y' ? tac_dmat3_from_rows(y, z, x)
			     : tac_dmat3_identity();
}

// NAME=NUMBER, `length` characters from `item`, whose name is `key` characters long.
static tac_result read_number(reader *r, const char *item, size_t length, size_t key)
{
	const parameter *p = key < length ? parameter_of((int)r->solid->kind, item, key) : NULL;
	if (!p)
		return refuse(r, "NAME=NUMBER of the solid, x, y, z or axis=x|y|z", item, length);
	double *field = field_of(r->solid, p);
	char expected[64];
	if (!isnan(*field)) {
		snprintf(expected, sizeof expected, "%s once", p->name);
		return refuse(r, expected, item, length);
	}
	const char *digits = item + key + 1;
	const size_t size = length - key - 1;
	char *stop;
	const double value = strtod(digits, &stop);
	// A radius may be 0 but otherwise not below the smallest length.
	if (size == 0 || strspn(digits, "0123456789.eE-") != size || stop != digits + size ||
	    !(value >= p->min && value <= p->max) ||
	    (p->min == 0 && value != 0 && value < TAC_SOLID_LENGTH_MIN)) {
		snprintf(expected, sizeof expected, "%s=%s%g to %g m", p->name, p->min == 0 ? "0 or " : "",
			 p->min == 0 ? TAC_SOLID_LENGTH_MIN : p->min, p->max);
		return refuse(r, expected, item, length);
	}
	*field = value;
	return TAC_OK;
}

static tac_result read_item(reader *r, const char *item, size_t length)
{
	const size_t key = strcspn(item, "=,+");
	if (key == 4 && length == 6 && strncmp(item, "axis=", 5) == 0 && strchr("xyz", item[5])) {
		if (r->axis)
			return refuse(r, "axis once", item, length);
		r->axis = true;
		r->solid->rotation = axis_rotation(item[5]);
		return TAC_OK;
	}
	if (r->solid->kind == TAC_SOLID_TOROID && length == 7 && strncmp(item, "concave", 7) == 0) {
		if (r->solid->concave)
			return refuse(r, "concave once", item, length);
		r->solid->concave = true;
		return TAC_OK;
	}
	return read_number(r, item, length, key);
}

// Fills in the optional parameters, then checks that the others are there and consistent with each other.
// `part` is the solid's description, `length` characters long.
static tac_result complete(const reader *r, const char *part, size_t length)
{
	tac_solid *s = r->solid;
	if (s->kind == TAC_SOLID_TOROID) {
		s->z_min = isnan(s->z_min) ? -s->minor : s->z_min;
		s->z_max = isnan(s->z_max) ? s->minor : s->z_max;
	}
	for (int i = 0; i < PARAMETERS_MAX && kinds[s->kind].parameters[i].name; i++) {
		const parameter *p = &kinds[s->kind].parameters[i];
		char expected[64];
		snprintf(expected, sizeof expected, "%s=NUMBER of the %s", p->name, kinds[s->kind].name);
		if (isnan(*field_of(s, p)) && !p->optional)
			return refuse(r, expected, part, length);
	}
	double largest_coordinate = 0;
	for (int i = 0; i < 3; i++) {
		double *x = field_of(s, &coordinates[i]);
		*x = isnan(*x) ? 0 : *x;
		largest_coordinate = fmax(largest_coordinate, fabs(*x));
	}
	if (s->kind == TAC_SOLID_CONE && s->radius == 0 && s->top == 0)
		return refuse(r, "a radius above 0 of the cone", part, length);
	if (s->kind == TAC_SOLID_TOROID &&
	    !(s->z_min < s->z_max && s->z_min >= -s->minor && s->z_max <= s->minor))
		return refuse(r, "-r <= z0 < z1 <= r of the toroid", part, length);
	if (s->kind == TAC_SOLID_TOROID && s->concave && s->radius < s->minor)
		return refuse(r, "R >= r of the concave toroid", part, length);
	const double radius =
		s->kind == TAC_SOLID_TOROID ? s->minor : fmax(s->radius, isnan(s->top) ? 0 : s->top);
	if (radius < TAC_SOLID_RADIUS_RATIO_MIN * largest_coordinate)
		return refuse(r, "a radius of at least 1e-5 of the largest of x, y and z", part, length);
	return TAC_OK;
}

// Parses one solid, `length` characters from `part`.
static tac_result parse_one(const char *part, size_t length, char *message, tac_solid *s)
{
	reader r = {.message = message, .solid = s};
	size_t name = strcspn(part, ":");
	int kind = name < length ? kind_of(part, name) : -1;
	if (kind < 0)
		return refuse(&r, "sphere:, capsule:, cylinder:, cone: or toroid:", part, length);
	const double unset = (double)NAN;
	*s = (tac_solid){.kind = (tac_solid_kind)kind,
			 .radius = unset,
			 .top = unset,
			 .height = unset,
			 .minor = unset,
			 .z_min = unset,
			 .z_max = unset,
			 .position = tac_dvec3_make(unset, unset, unset),
			 .rotation = tac_dmat3_identity()};
	const char *end = part + length;
	// After the name alone there is no item; `complete` reports what is missing.
	for (const char *item = part + name + 1; length > name + 1 && item <= end;) {
		size_t size = strcspn(item, ",+"); // a trailing comma leaves an empty item
		tac_result result = read_item(&r, item, size);
		if (result < 0)
			return result;
		item += size + 1;
	}
	return complete(&r, part, length);
}

tac_result tac_solids_decode(const char *text, tac_solids *out_solids, char out_message[TAC_SOLIDS_MESSAGE])
{
	*out_solids = (tac_solids){.count = 0};
	for (const char *part = text;; part++) {
		size_t length = strcspn(part, "+");
		if (out_solids->count == TAC_SOLIDS_MAX)
			return refuse(&(reader){.message = out_message}, "at most 16 solids", part, length);
		tac_result result =
			parse_one(part, length, out_message, &out_solids->solid[out_solids->count]);
		if (result < 0)
			return result;
		out_solids->count++;
		part += length;
		if (*part == '\0')
			return TAC_OK;
	}
}

tac_result tac_solids_parse(const char *text, tac_solids *out_solids)
{
	char message[TAC_SOLIDS_MESSAGE];
	const tac_result result = tac_solids_decode(text, out_solids, message);
	if (result < TAC_OK)
		tac_log(TAC_LOG_ERROR, "shape '%.*s%s': %s", SHOWN_MAX, text,
			strlen(text) > SHOWN_MAX ? "..." : "", message);
	return result;
}
