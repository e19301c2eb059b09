// The triangle side of the chip: two transformations by the DOTADD unit, then the IT-Unit.
#include "collision/chip/units.h"

#include <math.h>

// Fetch, two passes of nine rows through the pipeline, five operand pairs for each edge.
#define DIRECTION_CYCLES                                                                                     \
	(TAC_CHIP_SDRAM_FIRST_BEAT + TAC_CHIP_SDRAM_BEATS + 2 * (9 + TAC_CHIP_DOTADD_DEPTH) + 15)

typedef struct {
	float x, y, z;
} point;

// Words of a triangle record.
enum { RECORD_VERTICES = 0, RECORD_MAP = 9 };

// One pass of nine rows. The destination register determines the coordinate, and thereby the matrix line.
static bool pass(tac_chip *chip, int corr, int matrix, float *out_largest)
{
	bool nan = false;
	float largest = 0.0F;
	for (int l = corr; l < corr + 9; l++) {
		const tac_chip_line *line = &chip->lines[l];
		float d = tac_chip_dotadd(chip->matrix[matrix + line->i % 3], chip->dop[line->k],
					  chip->dop[line->m], chip->dop[line->n]);
		chip->dop[line->i] = d;
		nan |= tac_chip_is_nan(tac_chip_bits(d));
		largest = fabsf(d) > largest ? fabsf(d) : largest;
	}
	*out_largest = largest;
	return !nan;
}

// The operands of an edge P-Q through the Correspondence Register File: PxQz, QxPz, PyQz, QyPz, Qz-Pz.
static void operands(const tac_chip *chip, int edge, point *p, point *q)
{
	const tac_chip_line *l = &chip->lines[TAC_CHIP_CORR_IT + 5 * edge];
	*p = (point){chip->dop[l[0].i], chip->dop[l[2].i], chip->dop[l[1].k]};
	*q = (point){chip->dop[l[1].i], chip->dop[l[3].i], chip->dop[l[0].k]};
}

// Equation 4 for an edge that crosses the plane: two products and a difference each, then ADD/SUB and ACC.
static bool pierces(point p, point q)
{
	float x = p.x * q.z - q.x * p.z;
	float y = p.y * q.z - q.y * p.z;
	float acc = x + y, r = q.z - p.z;
	return r > 0.0F ? x >= 0.0F && y >= 0.0F && acc <= r : x <= 0.0F && y <= 0.0F && acc >= r;
}

static bool in_unit(point p)
{
	return p.x >= 0.0F && p.y >= 0.0F && p.x + p.y <= 1.0F;
}

// Whether all of t is strictly on the outer side of an edge of s, in the plane.
static bool separates(const point s[3], const point t[3])
{
	float turn = (s[1].x - s[0].x) * (s[2].y - s[0].y) - (s[1].y - s[0].y) * (s[2].x - s[0].x);
	for (int i = 0; i < 3; i++) {
		point a = s[i], b = s[(i + 1) % 3];
		int outside = 0;
		for (int k = 0; k < 3; k++) {
			float side = (b.x - a.x) * (t[k].y - a.y) - (b.y - a.y) * (t[k].x - a.x);
			outside += turn > 0.0F ? side < 0.0F : side > 0.0F;
		}
		if (outside == 3)
			return true;
	}
	return false;
}

// The test as printed in the paper: an edge that does not strictly cross z = 0 is skipped.
static tac_chip_verdict it_paper(tac_chip *chip)
{
	for (int edge = 0; edge < 3; edge++) {
		point p, q;
		operands(chip, edge, &p, &q);
		chip->counters[TAC_CHIP_IT_EDGES]++;
		if ((p.z >= 0.0F && q.z >= 0.0F) || (p.z <= 0.0F && q.z <= 0.0F))
			chip->counters[TAC_CHIP_IT_SKIPPED]++;
		else if (pierces(p, q))
			return TAC_CHIP_IT_HIT;
	}
	return TAC_CHIP_IT_MISS;
}

// The test of closed triangles. A vertex within `tolerance` (m) of the plane counts as in it.
static tac_chip_verdict it_closed(tac_chip *chip, float tolerance)
{
	point v[3];
	int above = 0, below = 0;
	for (int i = 0; i < 3; i++) {
		point next;
		operands(chip, i, &v[i], &next);
		if (fabsf(v[i].z) <= tolerance)
			v[i].z = 0.0F;
		above += v[i].z > 0.0F;
		below += v[i].z < 0.0F;
	}
	if (above == 3 || below == 3)
		return TAC_CHIP_IT_APART;
	if (above == 0 && below == 0) {
		static const point unit[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
		return separates(unit, v) || separates(v, unit) ? TAC_CHIP_IT_APART : TAC_CHIP_IT_HIT;
	}
	for (int i = 0; i < 3; i++) {
		point p = v[i], q = v[(i + 1) % 3];
		chip->counters[TAC_CHIP_IT_EDGES]++;
		bool crosses = (p.z > 0.0F && q.z < 0.0F) || (p.z < 0.0F && q.z > 0.0F);
		chip->counters[TAC_CHIP_IT_SKIPPED] += !crosses;
		if (p.z == 0.0F ? in_unit(p) : crosses && pierces(p, q))
			return TAC_CHIP_IT_HIT;
	}
	return TAC_CHIP_IT_MISS;
}

tac_chip_verdict tac_chip_it(tac_chip *chip, float largest)
{
	return (chip->master.ctrl & TAC_CHIP_CLOSED_TRI) != 0 ? it_closed(chip, 0x1p-20F * largest)
							      : it_paper(chip);
}

// Edges of `a` against triangle `b`. The vertices of a are loaded into d0-d8, transformed to b's frame in
// d9-d17, then to the frame of b's unit triangle in d0-d8.
static tac_chip_verdict direction(tac_chip *chip, uint32_t address_a, uint32_t address_b, int corr,
				  int matrix)
{
	const uint32_t *a = tac_chip_fetch(chip, address_a, TAC_CHIP_NODE_BYTES);
	const uint32_t *b = tac_chip_fetch(chip, address_b, TAC_CHIP_NODE_BYTES);
	if (!a || !b)
		return TAC_CHIP_IT_APART;
	if (a[TAC_CHIP_WORD_TYPE] != TAC_CHIP_LEAF || b[TAC_CHIP_WORD_TYPE] != TAC_CHIP_LEAF) {
		tac_chip_raise(chip, TAC_CHIP_ERR_TYPE);
		return TAC_CHIP_IT_APART;
	}
	for (int i = 0; i < 9; i++)
		chip->dop[i] = tac_chip_float(a[RECORD_VERTICES + i]);
	for (int i = 0; i < 12; i++)
		chip->matrix[TAC_CHIP_MATRIX_LEAF + i / 4][i % 4] = tac_chip_float(b[RECORD_MAP + i]);
	float largest, unused;
	if (!pass(chip, corr, matrix, &largest) ||
	    !pass(chip, TAC_CHIP_CORR_LEAF, TAC_CHIP_MATRIX_LEAF, &unused)) {
		tac_chip_raise(chip, TAC_CHIP_ERR_NAN);
		return TAC_CHIP_IT_APART;
	}
	if ((chip->master.ctrl & TAC_CHIP_SCHED) != 0)
		chip->counters[TAC_CHIP_CYCLES_TRI] += DIRECTION_CYCLES;
	return tac_chip_it(chip, largest);
}

bool tac_chip_triangles(tac_chip *chip, uint32_t tumbled, uint32_t aligned)
{
	chip->counters[TAC_CHIP_TRI_TESTS_FWD]++;
	tac_chip_verdict v =
		direction(chip, tumbled, aligned, TAC_CHIP_CORR_FORWARD, TAC_CHIP_MATRIX_FORWARD);
	if (v != TAC_CHIP_IT_MISS)
		return v == TAC_CHIP_IT_HIT;
	chip->counters[TAC_CHIP_TRI_TESTS_REV]++;
	return direction(chip, aligned, tumbled, TAC_CHIP_CORR_REVERSE, TAC_CHIP_MATRIX_REVERSE) ==
	       TAC_CHIP_IT_HIT;
}
