#include "collision/trees/split.h"

#include "base/log.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define BINS 16
// A mesh is treated as axis-aligned if more than this fraction of its area is.
#define ALIGNED_AREA 0.75
// A normal is parallel to an axis if the cosine of their angle is at least this.
#define PARALLEL_COSINE 0.999
// Boxes are widened by this fraction of the set's thinnest side.
#define WIDENING 0.25F

static tac_box empty_box(void)
{
	return (tac_box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

static void add_box(tac_box *box, const tac_box *other)
{
	for (int k = 0; k < 3; k++) {
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

// The cost of a visit of the box: its widened volume, or its area if the widening is 0.
static float cost_of(const tac_box *box, float widening)
{
	tac_vec3 d = size_of(box);
	return widening > 0.0F ? (d.x + widening) * (d.y + widening) * (d.z + widening)
			       : tac_box_half_area(box);
}

tac_result tac_split_init(const tac_mesh *mesh, tac_split *out_split)
{
	out_split->count = mesh->triangle_count;
	out_split->items = malloc((size_t)(mesh->triangle_count > 0 ? mesh->triangle_count : 1) *
				  sizeof *out_split->items);
	if (!out_split->items) {
		tac_log(TAC_LOG_ERROR, "collision tree: no memory for %d triangles", mesh->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	double twice_area = 0.0, twice_aligned = 0.0;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		struct tac_split_item *item = &out_split->items[t];
		*item = (struct tac_split_item){.box = empty_box(), .triangle = t};
		for (int k = 0; k < 3; k++) {
			tac_vec3 v = mesh->vertices[mesh->triangles[t].vertex[k]];
			add_box(&item->box, &(tac_box){{v.x, v.y, v.z}, {v.x, v.y, v.z}});
		}
		tac_dvec3 n = tac_mesh_triangle_cross(mesh, t);
		double length = tac_dvec3_length(n);
		twice_area += length;
		if (fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) >= PARALLEL_COSINE * length)
			twice_aligned += length;
	}
	out_split->axis_aligned = twice_aligned > ALIGNED_AREA * twice_area;
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
	for (int32_t i = begin; i < end; i++)
		add_box(&box, &split->items[i].box);
	return box;
}

// The centre of the item's box, which the planes divide.
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

// Quickselect: afterwards no item before `middle` has a larger centre than one after it.
static void select_median(tac_split *split, int32_t begin, int32_t end, int32_t middle, int axis)
{
	int32_t low = begin, high = end - 1;
	while (low < high) {
		float pivot = centre_of(&split->items[low + (high - low) / 2], axis);
		int32_t i = low, j = high;
		while (i <= j) {
			while (centre_of(&split->items[i], axis) < pivot)
				i++;
			while (centre_of(&split->items[j], axis) > pivot)
				j--;
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

static void best_plane_along(bin bins[BINS], int axis, float widening, plane *best)
{
	float right_cost[BINS];
	tac_box box = empty_box();
	int32_t count = 0;
	for (int b = BINS - 1; b > 0; b--) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		right_cost[b] = count > 0 ? cost_of(&box, widening) * (float)count : -1.0F;
	}
	box = empty_box();
	count = 0;
	for (int b = 0; b < BINS - 1; b++) {
		add_box(&box, &bins[b].box);
		count += bins[b].count;
		if (count == 0 || right_cost[b + 1] < 0.0F)
			continue;
		float cost = cost_of(&box, widening) * (float)count + right_cost[b + 1];
		if (cost < best->cost)
			*best = (plane){axis, b, cost};
	}
}

// The plane of least cost over the bins of all three axes; its axis is -1 if there is none.
static plane best_plane(const tac_split *split, int32_t begin, int32_t end, const tac_box *centres,
			const float per_width[3])
{
	bin bins[3][BINS];
	for (int k = 0; k < 3; k++)
		for (int b = 0; b < BINS; b++)
			bins[k][b] = (bin){empty_box(), 0};
	for (int32_t i = begin; i < end; i++) {
		const struct tac_split_item *item = &split->items[i];
		for (int k = 0; k < 3; k++) {
			bin *into = &bins[k][bin_of(centre_of(item, k), centres->min[k], per_width[k])];
			add_box(&into->box, &item->box);
			into->count++;
		}
	}
	float widening = 0.0F;
	if (split->axis_aligned) {
		tac_box box = tac_split_bounds(split, begin, end);
		tac_vec3 d = size_of(&box);
		widening = WIDENING * fminf(d.x, fminf(d.y, d.z));
	}
	plane best = {-1, 0, FLT_MAX};
	for (int k = 0; k < 3; k++)
		if (per_width[k] > 0.0F)
			best_plane_along(bins[k], k, widening, &best);
	return best;
}

int32_t tac_split_cut(tac_split *split, int32_t begin, int32_t end, bool at_median, tac_box out_boxes[2])
{
	tac_box centres = empty_box();
	for (int32_t i = begin; i < end; i++) {
		const struct tac_split_item *item = &split->items[i];
		float c[3] = {centre_of(item, 0), centre_of(item, 1), centre_of(item, 2)};
		add_box(&centres, &(tac_box){{c[0], c[1], c[2]}, {c[0], c[1], c[2]}});
	}
	float per_width[3];
	int longest = 0;
	for (int k = 0; k < 3; k++) {
		float width = centres.max[k] - centres.min[k];
		// Rounding may put the largest centre into a bin beyond the last; bin_of clamps.
		per_width[k] = width > 0.0F ? (float)BINS / width : 0.0F;
		if (!(per_width[k] <= FLT_MAX))
			per_width[k] = 0.0F; // the inverse of a tiny width overflows: do not split this axis
		if (width > centres.max[longest] - centres.min[longest])
			longest = k;
	}

	plane best = {-1, 0, FLT_MAX};
	if (!at_median && end - begin > 2)
		best = best_plane(split, begin, end, &centres, per_width);

	int32_t middle;
	if (best.axis >= 0) {
		int32_t i = begin, j = end;
		while (i < j) {
			float c = centre_of(&split->items[i], best.axis);
			if (bin_of(c, centres.min[best.axis], per_width[best.axis]) <= best.bin)
				i++;
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
