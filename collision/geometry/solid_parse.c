#include "collision/shape.h"

#include "base/log.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A number that a kind takes: what it is called, where it belongs, and between which bounds it lies.
typedef struct number {
	const char *name;
	size_t offset;
	double min, max;
	bool optional;
} number;

#define SMALLEST TAC_SOLID_SMALLEST
#define LARGEST  TAC_SOLID_LARGEST

#define LENGTH(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), SMALLEST, LARGEST, false                                   \
	}
#define RADIUS(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), 0, LARGEST, false                                          \
	}
#define HEIGHT(name, field)                                                                                  \
	{                                                                                                    \
		name, offsetof(tac_solid, field), -LARGEST, LARGEST, true                                    \
	}

static const struct {
	const char *name;
	number numbers[4];
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

static const number places[3] = {
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

bool tac_shape_is_solids(const char *text)
{
	size_t length = strcspn(text, ":");
	return text[length] == ':' && kind_of(text, length) >= 0;
}

static tac_result refuse(const char *text, const char *expected, const char *found, size_t length)
{
	// One line of a length that a person reads.
	const int most = 120;
	tac_log(TAC_LOG_ERROR, "shape '%.*s%s': expected %s, found '%.*s'", most, text,
		strlen(text) > (size_t)most ? "..." : "", expected,
		length < (size_t)most ? (int)length : most, found);
	return TAC_ERROR_FORMAT;
}

static double *field_of(tac_solid *s, const number *n)
{
	return (double *)(void *)((char *)s + n->offset);
}

// The number of the kind called `name`, or NULL.
static const number *number_of(int kind, const char *name, size_t length)
{
	for (int i = 0; i < 7; i++) {
		const number *n = i < 3 ? &places[i] : &kinds[kind].numbers[i - 3];
		if (n->name != NULL && strlen(n->name) == length && strncmp(name, n->name, length) == 0)
			return n;
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

// One solid of a text while it is read.
typedef struct reader {
	const char *text; // all of it, for the messages
	tac_solid *solid; // NaN where nothing was given yet
	bool axis;        // given
} reader;

// NAME=NUMBER, `length` characters from `item`, whose name is `key` characters long.
static tac_result read_number(reader *r, const char *item, size_t length, size_t key)
{
	const number *n = key < length ? number_of((int)r->solid->kind, item, key) : NULL;
	if (n == NULL)
		return refuse(r->text, "NAME=NUMBER of the solid, x, y, z or axis=x|y|z", item, length);
	double *field = field_of(r->solid, n);
	char expected[64];
	if (!isnan(*field)) {
		snprintf(expected, sizeof expected, "%s once", n->name);
		return refuse(r->text, expected, item, length);
	}
	const char *digits = item + key + 1;
	const size_t size = length - key - 1;
	char *stop;
	const double value = strtod(digits, &stop);
	// A radius may be 0, but nothing is smaller than the smallest.
	if (size == 0 || strspn(digits, "0123456789.eE-") != size || stop != digits + size ||
	    !(value >= n->min && value <= n->max) || (n->min == 0 && value != 0 && value < SMALLEST)) {
		snprintf(expected, sizeof expected, "%s=%s%g to %g m", n->name, n->min == 0 ? "0 or " : "",
			 n->min == 0 ? SMALLEST : n->min, n->max);
		return refuse(r->text, expected, item, length);
	}
	*field = value;
	return TAC_OK;
}

static tac_result read_item(reader *r, const char *item, size_t length)
{
	const size_t key = strcspn(item, "=,+");
	if (key == 4 && length == 6 && strncmp(item, "axis=", 5) == 0 && strchr("xyz", item[5]) != NULL) {
		if (r->axis)
			return refuse(r->text, "axis once", item, length);
		r->axis = true;
		r->solid->rotation = axis_rotation(item[5]);
		return TAC_OK;
	}
	if (r->solid->kind == TAC_SOLID_TOROID && length == 7 && strncmp(item, "concave", 7) == 0) {
		if (r->solid->concave)
			return refuse(r->text, "concave once", item, length);
		r->solid->concave = true;
		return TAC_OK;
	}
	return read_number(r, item, length, key);
}

// Fills in what may be left out; whether anything else is missing, and what the numbers must be to each
// other.
static tac_result complete(const reader *r, const char *part, size_t length)
{
	tac_solid *s = r->solid;
	if (s->kind == TAC_SOLID_TOROID) {
		s->z_min = isnan(s->z_min) ? -s->minor : s->z_min;
		s->z_max = isnan(s->z_max) ? s->minor : s->z_max;
	}
	for (int i = 0; i < 4 && kinds[s->kind].numbers[i].name != NULL; i++) {
		const number *n = &kinds[s->kind].numbers[i];
		char expected[64];
		snprintf(expected, sizeof expected, "%s=NUMBER of the %s", n->name, kinds[s->kind].name);
		if (isnan(*field_of(s, n)) && !n->optional)
			return refuse(r->text, expected, part, length);
	}
	double reach = 0;
	for (int i = 0; i < 3; i++) {
		double *x = field_of(s, &places[i]);
		*x = isnan(*x) ? 0 : *x;
		reach = fmax(reach, fabs(*x));
	}
	if (s->kind == TAC_SOLID_CONE && s->radius == 0 && s->top == 0)
		return refuse(r->text, "a radius above 0 of the cone", part, length);
	if (s->kind == TAC_SOLID_TOROID &&
	    !(s->z_min < s->z_max && s->z_min >= -s->minor && s->z_max <= s->minor))
		return refuse(r->text, "-r <= z0 < z1 <= r of the toroid", part, length);
	if (s->kind == TAC_SOLID_TOROID && s->concave && s->radius < s->minor)
		return refuse(r->text, "R >= r of the concave toroid", part, length);
	// Smaller ones would be lost in the single precision of their mesh.
	const double size =
		s->kind == TAC_SOLID_TOROID ? s->minor : fmax(s->radius, isnan(s->top) ? 0 : s->top);
	if (size < TAC_SOLID_REACH * reach)
		return refuse(r->text, "a radius of at least 1e-5 of the largest of x, y and z", part,
			      length);
	return TAC_OK;
}

// One solid of the text, `length` characters from `part`.
static tac_result parse_one(const char *text, const char *part, size_t length, tac_solid *s)
{
	size_t name = strcspn(part, ":");
	int kind = name < length ? kind_of(part, name) : -1;
	if (kind < 0)
		return refuse(text, "sphere:, capsule:, cylinder:, cone: or toroid:", part, length);
	const double none = (double)NAN;
	*s = (tac_solid){.kind = (tac_solid_kind)kind,
			 .radius = none,
			 .top = none,
			 .height = none,
			 .minor = none,
			 .z_min = none,
			 .z_max = none,
			 .position = tac_dvec3_make(none, none, none),
			 .rotation = tac_dmat3_identity()};
	reader r = {.text = text, .solid = s};
	const char *end = part + length;
	// Nothing but the name: all is missing, which is said below.
	for (const char *item = part + name + 1; length > name + 1 && item <= end;) {
		size_t size = strcspn(item, ",+"); // a comma at the end leaves an empty item
		tac_result result = read_item(&r, item, size);
		if (result < 0)
			return result;
		item += size + 1;
	}
	return complete(&r, part, length);
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
