#include "collision/split.h"

#include "base/log.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define BINS 16
// Of the area: along the axes.
#define MOST 0.75
// Cosine between a normal and an axis that it counts as parallel to.
#define PARALLEL 0.999
// Of a set's thinnest side: what its parts are widened by.
#define WIDENED 0.25F

static tac_box empty_box(void)
{
	return (tac_box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

static void add_box(tac_box *box, const tac_box *other)
{
	for (int k = 0; k < 3; ++k) {
		box->min[k] = other->min[k] < box->min[k] ? other->min[k] : box->min[k];
		box->max[k] = other->max[k] > box->max[k] ? other->max[k] : box->max[k];
	}
}

static tac_vec3 size_of(const tac_box *box)
{
	return tac_vec3_make(box->max[0] - box->min[0], box->max[1] - box->min[1], box->max[2] - box->min[2]);
}

float tac_box_half_area(const tac_box *box)
{
	tac_vec3 d = size_of(box);
	return d.x * d.y + d.y * d.z + d.z * d.x;
}

// What a visit of the box costs: its volume when widened, or, without a width, its area.
static float cost_of(const tac_box *box, float widened)
{
	tac_vec3 d = size_of(box);
	return widened > 0.0F ? (d.x + widened) * (d.y + widened) * (d.z + widened) : tac_box_half_area(box);
}

tac_result tac_split_init(const tac_mesh *mesh, tac_split *out_split)
{
	out_split->count = mesh->triangle_count;
	out_split->items = malloc((size_t)(mesh->triangle_count > 0 ? mesh->triangle_count : 1) *
				  sizeof *out_split->items);
	if (out_split->items == NULL) {
		tac_log(TAC_LOG_ERROR, "collision tree: no memory for %d triangles", mesh->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	double area = 0.0, along = 0.0; // twice
	for (int32_t t = 0; t < mesh->triangle_count; ++t) {
		struct tac_split_item *item = &out_split->items[t];
		*item = (struct tac_split_item){.box = empty_box(), .triangle = t};
		tac_dvec3 corner[3];
		for (int k = 0; k < 3; ++k) {
			tac_vec3 v = mesh->vertices[mesh->triangles[t].vertex[k]];
			add_box(&item->box, &(tac_box){{v.x, v.y, v.z}, {v.x, v.y, v.z}});
			corner[k] = tac_dvec3_from_vec3(v);
		}
		tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(corner[1], corner[0]),
					      tac_dvec3_sub(corner[2], corner[0]));
		double length = tac_dvec3_length(n);
		area += length;
		if (fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) >= PARALLEL * length)
			along += length;
	}
	out_split->along_axes = along > MOST * area;
	return TAC_OK;
}

void tac_split_fini(tac_split *split)
{
	free(split->items);
	split->items = NULL;
}

tac_box tac_split_bounds(const tac_split *split, int32_t begin, int32_t end)
{
	tac_box box = empty_box();
	for (int32_t i = begin; i < end; ++i)
		add_box(&box, &split->items[i].box);
	return box;
}

// The centre of the item's box: what the planes compare.
static float centre_of(const struct tac_split_item *item, int axis)
{
	return item->box.min[axis] * 0.5F + item->box.max[axis] * 0.5F;
}

static int bin_of(float centre, float low, float per_width)
{
	int bin = (int)((centre - low) * per_width);
	return bin < BINS - 1 ? bin : BINS - 1;
}

static void swap_items(tac_split *split, int32_t i, int32_t j)
{
	struct tac_split_item item = split->items[i];
	split->items[i] = split->items[j];
	split->items[j] = item;
}

// Quickselect: afterwards, nothing before `middle` has a larger centre than what follows it.
static void select_median(tac_split *split, int32_t begin, int32_t end, int32_t middle, int axis)
{
	int32_t low = begin, high = end - 1;
	while (low < high) {
		float pivot = centre_of(&split->items[low + (high - low) / 2], axis);
		int32_t i = low, j = high;
		while (i <= j) {
			while (centre_of(&split->items[i], axis) < pivot)
				++i;
			while (centre_of(&split->items[j], axis) > pivot)
				--j;
			if (i <= j)
				swap_items(split, i++, j--);
		}
		if (middle <= j)
			high = j;
		else if (middle >= i)
			low = i;
		else
			return;
	}
}

typedef struct {
	int axis, bin;
	float cost;
} plane;

typedef struct {
	tac_box box;
	int32_t count;
} bin;

static void best_plane(bin bins[BINS], int axis, float widened, plane *best)
{
	float right_cost[BINS];
	tac_box box = empty_box();
	int32_t count = 0;
	for (int b = BINS - 1; b > 0; --b) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		right_cost[b] = count > 0 ? cost_of(&box, widened) * (float)count : -1.0F;
	}
	box = empty_box();
	count = 0;
	for (int b = 0; b < BINS - 1; ++b) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		if (count == 0 || right_cost[b + 1] < 0.0F)
			continue;
		float cost = cost_of(&box, widened) * (float)count + right_cost[b + 1];
		if (cost < best->cost)
			*best = (plane){axis, b, cost};
	}
}

int32_t tac_split_cut(tac_split *split, int32_t begin, int32_t end, bool halves, tac_box out_boxes[2])
{
	tac_box centres = empty_box();
	for (int32_t i = begin; i < end; ++i) {
		const struct tac_split_item *item = &split->items[i];
		float c[3] = {centre_of(item, 0), centre_of(item, 1), centre_of(item, 2)};
		add_box(&centres, &(tac_box){{c[0], c[1], c[2]}, {c[0], c[1], c[2]}});
	}
	float per_width[3];
	int longest = 0;
	for (int k = 0; k < 3; ++k) {
		float width = centres.max[k] - centres.min[k];
		// Rounded down, so that the largest centre stays within the last bin but one rounding; bin_of
		// clamps.
		per_width[k] = width > 0.0F ? (float)BINS / width : 0.0F;
		if (!(per_width[k] <= FLT_MAX))
			per_width[k] = 0.0F; // a width so small that its inverse overflows cuts nothing
		if (width > centres.max[longest] - centres.min[longest])
			longest = k;
	}

	plane best = {-1, 0, FLT_MAX};
	if (!halves && end - begin > 2) {
		bin bins[3][BINS];
		for (int k = 0; k < 3; ++k)
			for (int b = 0; b < BINS; ++b)
				bins[k][b] = (bin){empty_box(), 0};
		for (int32_t i = begin; i < end; ++i) {
			const struct tac_split_item *item = &split->items[i];
			for (int k = 0; k < 3; ++k) {
				bin *into =
					&bins[k][bin_of(centre_of(item, k), centres.min[k], per_width[k])];
				add_box(&into->box, &item->box);
				++into->count;
			}
		}
		float widened = 0.0F;
		if (split->along_axes) {
			tac_box box = tac_split_bounds(split, begin, end);
			tac_vec3 d = size_of(&box);
			widened = WIDENED * fminf(d.x, fminf(d.y, d.z));
		}
		for (int k = 0; k < 3; ++k)
			if (per_width[k] > 0.0F)
				best_plane(bins[k], k, widened, &best);
	}

	int32_t middle;
	if (best.axis >= 0) {
		int32_t i = begin, j = end;
		while (i < j) {
			float c = centre_of(&split->items[i], best.axis);
			if (bin_of(c, centres.min[best.axis], per_width[best.axis]) <= best.bin)
				++i;
			else
				swap_items(split, i, --j);
		}
		middle = i;
	} else {
		middle = begin + (end - begin) / 2;
		select_median(split, begin, end, middle, longest);
	}
	out_boxes[0] = tac_split_bounds(split, begin, middle);
	out_boxes[1] = tac_split_bounds(split, middle, end);
	return middle;
}
