// Input of the chip's tests, made independently of the project's trees and DOPs: triangle soups, DOP trees
// cut at the median or at random as bytes of memory, the registers of a motion, and a triangle test that
// measures the separation. All in double precision.
#ifndef TAC_TESTS_SUPPORT_CHIP_FIXTURE_H
#define TAC_TESTS_SUPPORT_CHIP_FIXTURE_H

#include "base/rng.h"
#include "collision/chip.h"
#include "collision/collider.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	float v[3][3];
} fix_triangle;

typedef struct {
	double r[3][3], t[3]; // a point of the tumbled object in the aligned frame: r x + t
} fix_motion;

#define FIX_R2 0.70710678118654752440
#define FIX_R3 0.57735026918962576451

static inline tac_dvec3 fix_direction(int i)
{
	static const double d[12][3] = {
		{1, 0, 0},
		{0, 1, 0},
		{0, 0, 1},
		{FIX_R2, FIX_R2, 0},
		{FIX_R2, -FIX_R2, 0},
		{FIX_R2, 0, FIX_R2},
		{FIX_R2, 0, -FIX_R2},
		{0, FIX_R2, FIX_R2},
		{0, FIX_R2, -FIX_R2},
		{-FIX_R3, FIX_R3, FIX_R3},
		{FIX_R3, -FIX_R3, FIX_R3},
		{FIX_R3, FIX_R3, -FIX_R3},
	};
	tac_dvec3 a = tac_dvec3_load(d[i % 12]);
	return i < 12 ? a : tac_dvec3_neg(a);
}

static inline float fix_up(double x)
{
	float f = (float)x;
	return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static inline void fix_dop(const fix_triangle *triangle, float d[24])
{
	for (int i = 0; i < 24; i++) {
		double most = -HUGE_VAL;
		for (int k = 0; k < 3; k++) {
			const float *v = triangle->v[k];
			most = fmax(most,
				    tac_dvec3_dot(fix_direction(i),
						  tac_dvec3_make((double)v[0], (double)v[1], (double)v[2])));
		}
		d[i] = fix_up(most + 1e-15);
	}
}

// A tree in memory, in the words of docs/collisionchip.md, Hierarchy memory.
typedef struct {
	uint32_t *words;
	uint32_t base; // byte address of words[0], where the root is
	uint32_t bytes, capacity;
	float extent; // largest |d| of the root
	bool layout_r;
	tac_rng *cuts; // random cuts; NULL: cuts at the median
} fix_tree;

typedef struct {
	const fix_triangle *triangles;
	int index;
	float dop[24];
	double key;
} fix_item;

static inline int fix_by_key(const void *a, const void *b)
{
	double x = ((const fix_item *)a)->key, y = ((const fix_item *)b)->key;
	return (x > y) - (x < y);
}

static inline uint32_t fix_allocate(fix_tree *tree, uint32_t bytes)
{
	uint32_t at = tree->bytes;
	tree->bytes += bytes;
	while (tree->bytes > tree->capacity) {
		tree->words = realloc(tree->words, 2 * (size_t)tree->capacity);
		memset((char *)tree->words + tree->capacity, 0, tree->capacity);
		tree->capacity *= 2;
	}
	return at;
}

// Rows (m0, m1, m2, -m·W1) of the map to the unit triangle.
static inline void fix_record(fix_tree *tree, uint32_t at, const fix_triangle *triangle, int id)
{
	uint32_t *w = tree->words + at / 4;
	tac_dvec3 p[3];
	for (int k = 0; k < 3; k++)
		p[k] = tac_dvec3_make((double)triangle->v[k][0], (double)triangle->v[k][1],
				      (double)triangle->v[k][2]);
	tac_dvec3 e1 = tac_dvec3_sub(p[1], p[0]), e2 = tac_dvec3_sub(p[2], p[0]);
	tac_dvec3 n = tac_dvec3_normalize(tac_dvec3_cross(e1, e2));
	tac_dmat3 m = tac_dmat3_inverse(tac_dmat3_from_columns(e1, e2, n));
	memcpy(w, triangle->v, sizeof triangle->v);
	for (int r = 0; r < 3; r++) {
		float row[4] = {(float)m.m[r][0], (float)m.m[r][1], (float)m.m[r][2],
				(float)-tac_dvec3_dot(tac_dmat3_row(m, r), p[0])};
		memcpy(w + 9 + 4 * r, row, sizeof row);
	}
	w[24] = 1;
	w[25] = (uint32_t)id;
}

static inline void fix_node(fix_tree *tree, uint32_t at, fix_item *items, int count, float d[24])
{
	if (count == 1) {
		memcpy(d, items->dop, sizeof items->dop);
		if (!tree->layout_r) {
			fix_record(tree, at, &items->triangles[items->index], items->index);
			return;
		}
		uint32_t record = fix_allocate(tree, 256); // whole pairs keep node addresses aligned
		fix_record(tree, record, &items->triangles[items->index], items->index);
		memcpy(tree->words + at / 4, d, 24 * sizeof *d);
		tree->words[at / 4 + 24] = 1;
		tree->words[at / 4 + 25] = tree->base + record;
		return;
	}
	int axis = 0;
	double widest = -1.0;
	for (int i = 0; i < 12; i++) {
		double low = HUGE_VAL, high = -HUGE_VAL;
		for (int k = 0; k < count; k++) {
			high = fmax(high, (double)items[k].dop[i]);
			low = fmin(low, -(double)items[k].dop[i + 12]);
		}
		if (high - low > widest) {
			widest = high - low;
			axis = i;
		}
	}
	for (int k = 0; k < count; k++) {
		items[k].key = 0;
		for (int c = 0; c < 3; c++) {
			const float *v = items[k].triangles[items[k].index].v[c];
			items[k].key +=
				tac_dvec3_dot(fix_direction(axis),
					      tac_dvec3_make((double)v[0], (double)v[1], (double)v[2]));
		}
	}
	qsort(items, (size_t)count, sizeof *items, fix_by_key);
	int cut = tree->cuts ? 1 + (int)tac_rng_below(tree->cuts, (uint32_t)count - 1) : count / 2;
	uint32_t pair = fix_allocate(tree, 256);
	float other[24];
	fix_node(tree, pair, items, cut, d);
	fix_node(tree, pair + 128, items + cut, count - cut, other);
	for (int i = 0; i < 24; i++)
		d[i] = fmaxf(d[i], other[i]);
	memcpy(tree->words + at / 4, d, 24 * sizeof *d);
	tree->words[at / 4 + 24] = 0;
	tree->words[at / 4 + 25] = tree->base + pair;
}

// Builds a tree with its root at `base`, a multiple of 256, and an empty sibling of the root.
static inline fix_tree fix_build(const fix_triangle *triangles, int count, bool layout_r, uint32_t base,
				 tac_rng *cuts)
{
	fix_tree tree = {.base = base, .capacity = 4096, .layout_r = layout_r, .cuts = cuts};
	tree.words = calloc(1, tree.capacity);
	fix_item *items = malloc((size_t)count * sizeof *items);
	for (int i = 0; i < count; i++) {
		items[i] = (fix_item){.triangles = triangles, .index = i};
		fix_dop(&triangles[i], items[i].dop);
	}
	uint32_t root = fix_allocate(&tree, 256);
	float d[24];
	fix_node(&tree, root, items, count, d);
	tree.words[32 + 24] = 2;
	for (int i = 0; i < 24; i++)
		tree.extent = fmaxf(tree.extent, fabsf(d[i]));
	free(items);
	return tree;
}

// Moves all pairs but the root's to random addresses. For layout P.
static inline void fix_scatter(fix_tree *tree, tac_rng *rng)
{
	uint32_t pairs = tree->bytes / 256;
	uint32_t *place = malloc(pairs * sizeof *place);
	for (uint32_t i = 0; i < pairs; i++)
		place[i] = i;
	for (uint32_t i = pairs - 1; i > 1; i--) {
		uint32_t k = 1 + tac_rng_below(rng, i), kept = place[i];
		place[i] = place[k];
		place[k] = kept;
	}
	uint32_t *words = calloc(1, tree->capacity);
	for (uint32_t i = 0; i < 2 * pairs; i++) {
		uint32_t *node = words + place[i / 2] * 64 + i % 2 * 32;
		memcpy(node, tree->words + i * 32, 128);
		if (node[24] == 0)
			node[25] = tree->base + place[(node[25] - tree->base) / 256] * 256;
	}
	free(place);
	free(tree->words);
	tree->words = words;
}

static inline void fix_free(fix_tree *tree)
{
	free(tree->words);
	tree->words = NULL;
}

// The rows of a motion.
typedef struct {
	double weight[24][3], offset[24];
	int index[24][3];
} fix_rows;

// Finds for each direction the face of the hull of all 24 that it pierces: of all 44, the face with the
// largest smallest weight. An independent program found these faces; how it cuts quadrangles into triangles
// affects the delay of Address Generator 2.
static inline void fix_rows_of(const fix_motion *motion, fix_rows *out)
{
	static const int faces[44][3] = {
		{3, 0, 11},   {3, 1, 7},    {4, 0, 10},   {4, 13, 10},  {5, 0, 3},    {5, 2, 10},
		{5, 3, 7},    {6, 0, 21},   {6, 14, 21},  {7, 1, 9},    {7, 2, 5},    {8, 1, 11},
		{8, 14, 11},  {9, 1, 16},   {9, 2, 7},    {9, 12, 16},  {10, 0, 5},   {10, 2, 20},
		{10, 13, 20}, {11, 0, 6},   {11, 1, 3},   {11, 14, 6},  {15, 12, 23}, {15, 13, 19},
		{16, 1, 22},  {16, 12, 22}, {17, 12, 15}, {17, 14, 22}, {17, 15, 19}, {18, 2, 9},
		{18, 12, 9},  {19, 13, 21}, {19, 14, 17}, {20, 2, 23},  {20, 13, 23}, {21, 0, 4},
		{21, 13, 4},  {21, 14, 19}, {22, 1, 8},   {22, 12, 17}, {22, 14, 8},  {23, 2, 18},
		{23, 12, 18}, {23, 13, 15},
	};
	static double inverse[44][3][3];
	if (inverse[0][0][0] == 0 && inverse[0][0][1] == 0 && inverse[0][0][2] == 0)
		for (int f = 0; f < 44; f++) {
			tac_dmat3 m = tac_dmat3_inverse(tac_dmat3_from_columns(fix_direction(faces[f][0]),
									       fix_direction(faces[f][1]),
									       fix_direction(faces[f][2])));
			memcpy(inverse[f], m.m, sizeof m.m);
		}
	for (int i = 0; i < 24; i++) {
		tac_dvec3 b = fix_direction(i);
		const double seen[3] = {
			motion->r[0][0] * b.x + motion->r[1][0] * b.y + motion->r[2][0] * b.z,
			motion->r[0][1] * b.x + motion->r[1][1] * b.y + motion->r[2][1] * b.z,
			motion->r[0][2] * b.x + motion->r[1][2] * b.y + motion->r[2][2] * b.z,
		};
		double best = -HUGE_VAL;
		for (int f = 0; f < 44; f++) {
			double w[3], least = HUGE_VAL;
			for (int k = 0; k < 3; k++) {
				w[k] = inverse[f][k][0] * seen[0] + inverse[f][k][1] * seen[1] +
				       inverse[f][k][2] * seen[2];
				least = fmin(least, w[k]);
			}
			if (least > best) {
				best = least;
				for (int k = 0; k < 3; k++) {
					out->weight[i][k] = fmax(w[k], 0.0);
					out->index[i][k] = faces[f][k];
				}
			}
		}
		out->offset[i] = b.x * motion->t[0] + b.y * motion->t[1] + b.z * motion->t[2];
	}
}

static inline void fix_write_float(tac_chip *chip, uint32_t offset, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	tac_chip_write(chip, offset, bits);
}

static inline uint32_t fix_corr(int i, int k, int m, int n)
{
	return (uint32_t)(i | k << 5 | m << 10 | n << 15);
}

// The lines of the Correspondence Register File for the DOP rows, sorted by the word that arrives last.
// Returns the delay that they need: the row at position s can be issued after its last word has arrived, so
// delay + s >= word + 1.
static inline int fix_order(const fix_rows *rows, uint32_t lines[24])
{
	int at = 0, delay = 0;
	for (int last = 0; last < 24; last++)
		for (int i = 0; i < 24; i++) {
			const int *j = rows->index[i];
			int most = j[0] > j[1] ? j[0] : j[1];
			if ((most > j[2] ? most : j[2]) != last)
				continue;
			delay = last + 1 - at > delay ? last + 1 - at : delay;
			lines[at++] = fix_corr(i, j[0], j[1], j[2]);
		}
	return delay;
}

static inline void fix_load_motion(tac_chip *chip, const fix_motion *motion, float extent)
{
	fix_rows rows;
	fix_rows_of(motion, &rows);
	uint32_t lines[24];
	int delay = fix_order(&rows, lines);
	tac_chip_write(chip, TAC_CHIP_AG2_DELAY, (uint32_t)(delay > 12 ? delay : 12));
	for (int i = 0; i < 24; i++) {
		double sum = 0;
		for (int k = 0; k < 3; k++) {
			sum += rows.weight[i][k];
			fix_write_float(chip, TAC_CHIP_MATRIX + 16 * (uint32_t)i + 4 * (uint32_t)k,
					(float)rows.weight[i][k]);
		}
		double widened = rows.offset[i] + 0x1p-21 * (sum * (double)extent + fabs(rows.offset[i]));
		fix_write_float(chip, TAC_CHIP_MATRIX + 16 * (uint32_t)i + 12, (float)widened);
		tac_chip_write(chip, TAC_CHIP_CORR + 4 * (uint32_t)i, lines[i]);
	}
	for (int r = 0; r < 3; r++) {
		double back = 0;
		for (int c = 0; c < 3; c++) {
			uint32_t at = 16 * (uint32_t)r + 4 * (uint32_t)c;
			fix_write_float(chip, TAC_CHIP_MATRIX + 24 * 16 + at, (float)motion->r[r][c]);
			fix_write_float(chip, TAC_CHIP_MATRIX + 27 * 16 + at, (float)motion->r[c][r]);
			back -= motion->r[c][r] * motion->t[c];
		}
		fix_write_float(chip, TAC_CHIP_MATRIX + (24 + (uint32_t)r) * 16 + 12, (float)motion->t[r]);
		fix_write_float(chip, TAC_CHIP_MATRIX + (27 + (uint32_t)r) * 16 + 12, (float)back);
	}
	for (int v = 0; v < 3; v++)
		for (int c = 0; c < 3; c++) {
			uint32_t line = TAC_CHIP_CORR + 4 * (24 + 3 * (uint32_t)v + (uint32_t)c);
			tac_chip_write(chip, line, fix_corr(9 + 3 * v + c, 3 * v, 3 * v + 1, 3 * v + 2));
			tac_chip_write(chip, line + 36, fix_corr(9 + 3 * v + c, 3 * v, 3 * v + 1, 3 * v + 2));
			tac_chip_write(chip, line + 72,
				       fix_corr(3 * v + c, 9 + 3 * v, 10 + 3 * v, 11 + 3 * v));
		}
	for (int e = 0; e < 3; e++) {
		int p = 3 * e, q = 3 * ((e + 1) % 3);
		const int pairs[5][2] = {
			{p, q + 2}, {q, p + 2}, {p + 1, q + 2}, {q + 1, p + 2}, {q + 2, p + 2}};
		for (int k = 0; k < 5; k++)
			tac_chip_write(chip, TAC_CHIP_CORR + 4 * (51 + 5 * (uint32_t)e + (uint32_t)k),
				       fix_corr(pairs[k][0], pairs[k][1], 0, 0));
	}
}

static inline fix_motion fix_motion_of(tac_dquat q, double x, double y, double z)
{
	fix_motion m = {.t = {x, y, z}};
	tac_dmat3 r = tac_dmat3_from_quat(q);
	for (int i = 0; i < 9; i++) // rounded as in the registers
		m.r[i / 3][i % 3] = (double)(float)r.m[i / 3][i % 3];
	for (int i = 0; i < 3; i++)
		m.t[i] = (double)(float)m.t[i];
	return m;
}

// The separation of two triangles along the best of the separating axes, m; 0 if they touch, negative if they
// overlap along all axes.
static inline double fix_separation(const fix_triangle *tumbled, const fix_triangle *aligned,
				    const fix_motion *motion)
{
	tac_dvec3 p[2][3], e[2][3], n[2];
	for (int k = 0; k < 3; k++) {
		const float *v = tumbled->v[k], *w = aligned->v[k];
		double x[3];
		for (int r = 0; r < 3; r++)
			x[r] = motion->r[r][0] * (double)v[0] + motion->r[r][1] * (double)v[1] +
			       motion->r[r][2] * (double)v[2] + motion->t[r];
		p[0][k] = tac_dvec3_load(x);
		p[1][k] = tac_dvec3_make((double)w[0], (double)w[1], (double)w[2]);
	}
	for (int o = 0; o < 2; o++) {
		for (int k = 0; k < 3; k++)
			e[o][k] = tac_dvec3_sub(p[o][(k + 1) % 3], p[o][k]);
		n[o] = tac_dvec3_cross(e[o][0], e[o][1]);
	}
	tac_dvec3 axes[17] = {n[0], n[1]};
	int count = 2;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			axes[count++] = tac_dvec3_cross(e[0][i], e[1][k]);
		axes[count++] = tac_dvec3_cross(n[0], e[0][i]);
		axes[count++] = tac_dvec3_cross(n[1], e[1][i]);
	}
	double apart = -HUGE_VAL;
	for (int a = 0; a < count; a++) {
		double length = tac_dvec3_length(axes[a]);
		if (length < 1e-9)
			continue;
		double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
		for (int o = 0; o < 2; o++)
			for (int k = 0; k < 3; k++) {
				double d = tac_dvec3_dot(axes[a], p[o][k]) / length;
				low[o] = fmin(low[o], d);
				high[o] = fmax(high[o], d);
			}
		apart = fmax(apart, fmax(low[0] - high[1], low[1] - high[0]));
	}
	return apart;
}

static inline fix_triangle fix_mesh_triangle(const tac_mesh *mesh, int32_t i)
{
	fix_triangle t;
	for (int k = 0; k < 3; k++)
		tac_vec3_store(t.v[k], mesh->vertices[mesh->triangles[i].vertex[k]]);
	return t;
}

// The same for triangles of meshes.
static inline double fix_mesh_separation(const tac_mesh *moving, int32_t moving_triangle,
					 const tac_mesh *fixed, int32_t fixed_triangle,
					 const tac_rigid *motion)
{
	fix_motion m;
	for (int r = 0; r < 3; r++) {
		for (int c = 0; c < 3; c++)
			m.r[r][c] = (double)motion->R.m[r][c];
		m.t[r] = (double)tac_vec3_get(motion->t, r);
	}
	fix_triangle a = fix_mesh_triangle(moving, moving_triangle),
		     b = fix_mesh_triangle(fixed, fixed_triangle);
	return fix_separation(&a, &b, &m);
}

// Triangles of about `size` with centres in a cube of edge 2.
static inline void fix_soup(tac_rng *rng, fix_triangle *out, int count, double size)
{
	for (int i = 0; i < count; i++) {
		double centre[3];
		for (int c = 0; c < 3; c++)
			centre[c] = tac_rng_range_f64(rng, -1, 1);
		for (int k = 0; k < 3; k++)
			for (int c = 0; c < 3; c++)
				out[i].v[k][c] = (float)(centre[c] + tac_rng_range_f64(rng, -size, size));
	}
}

#endif
