#include "collision/split.h"

#include "base/log.h"

#include <float.h>
#include <stdlib.h>

#define BINS 16

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

float tac_box_half_area(const tac_box *box)
{
	float x = box->max[0] - box->min[0], y = box->max[1] - box->min[1], z = box->max[2] - box->min[2];
	return x * y + y * z + z * x;
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
	for (int32_t t = 0; t < mesh->triangle_count; ++t) {
		struct tac_split_item *item = &out_split->items[t];
		*item = (struct tac_split_item){.box = empty_box(), .triangle = t};
		for (int k = 0; k < 3; ++k) {
			tac_vec3 v = mesh->vertices[mesh->triangles[t].vertex[k]];
			add_box(&item->box, &(tac_box){{v.x, v.y, v.z}, {v.x, v.y, v.z}});
		}
	}
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

// Twice the centre of the item's box: what the planes compare.
static float centre2(const struct tac_split_item *item, int axis)
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
		float pivot = centre2(&split->items[low + (high - low) / 2], axis);
		int32_t i = low, j = high;
		while (i <= j) {
			while (centre2(&split->items[i], axis) < pivot)
				++i;
			while (centre2(&split->items[j], axis) > pivot)
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

static void best_plane(bin bins[BINS], int axis, plane *best)
{
	float right_cost[BINS];
	tac_box box = empty_box();
	int32_t count = 0;
	for (int b = BINS - 1; b > 0; --b) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		right_cost[b] = count > 0 ? tac_box_half_area(&box) * (float)count : -1.0F;
	}
	box = empty_box();
	count = 0;
	for (int b = 0; b < BINS - 1; ++b) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		if (count == 0 || right_cost[b + 1] < 0.0F)
			continue;
		float cost = tac_box_half_area(&box) * (float)count + right_cost[b + 1];
		if (cost < best->cost)
			*best = (plane){axis, b, cost};
	}
}

int32_t tac_split_cut(tac_split *split, int32_t begin, int32_t end, bool halves, tac_box out_boxes[2])
{
	tac_box centres = empty_box();
	for (int32_t i = begin; i < end; ++i) {
		const struct tac_split_item *item = &split->items[i];
		float c[3] = {centre2(item, 0), centre2(item, 1), centre2(item, 2)};
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
				bin *into = &bins[k][bin_of(centre2(item, k), centres.min[k], per_width[k])];
				add_box(&into->box, &item->box);
				++into->count;
			}
		}
		for (int k = 0; k < 3; ++k)
			if (per_width[k] > 0.0F)
				best_plane(bins[k], k, &best);
	}

	int32_t middle;
	if (best.axis >= 0) {
		int32_t i = begin, j = end;
		while (i < j) {
			float c = centre2(&split->items[i], best.axis);
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
