#include "collision/trees/dop.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define HALF   (TAC_DOP_SIZE / 2)
#define PADDED 24 // half of the faces, padded to whole SIMD vectors; the last two repeat the first two
// Distances and components below this are zero up to rounding; all others are far larger.
#define COINCIDENT 1e-9

#define R2 0.70710678118654752440
#define R3 0.57735026918962576451

const double tac_dop_directions[HALF][3] = {
	{1, 0, 0},    {0, 1, 0},   {0, 0, 1},    {R2, R2, 0},   {R2, -R2, 0},  {R2, 0, R2},
	{R2, 0, -R2}, {0, R2, R2}, {0, R2, -R2}, {-R3, R3, R3}, {R3, -R3, R3}, {R3, R3, -R3},
};

// Set up once, before the first query, by tac_dop_faces.
static tac_dop_face faces[TAC_DOP_FACES];
static _Alignas(32) float inverses[9 * PADDED]; // each matrix entry for all faces in turn
static bool ready;
static tac_dop_locate_fn *locate;
static tac_dop_locate_fn *const locates[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_dop_locate);

static tac_dvec3 direction(int i)
{
	tac_dvec3 d = tac_dvec3_load(tac_dop_directions[i % HALF]);
	return i < HALF ? d : tac_dvec3_neg(d);
}

static void add_face(int *count, int a, int b, int c)
{
	for (int side = 0; side < 2; side++) {
		tac_dop_face *face = &faces[*count + side * TAC_DOP_FACES / 2];
		const int index[3] = {(a + side * HALF) % TAC_DOP_SIZE, (b + side * HALF) % TAC_DOP_SIZE,
				      (c + side * HALF) % TAC_DOP_SIZE};
		tac_dvec3 x = direction(index[0]), y = direction(index[1]), z = direction(index[2]);
		double det = tac_dvec3_dot(x, tac_dvec3_cross(y, z));
		for (int k = 0; k < 3; k++)
			face->direction[k] = index[k];
		tac_dvec3_store(face->inverse[0], tac_dvec3_div(tac_dvec3_cross(y, z), det));
		tac_dvec3_store(face->inverse[1], tac_dvec3_div(tac_dvec3_cross(z, x), det));
		tac_dvec3_store(face->inverse[2], tac_dvec3_div(tac_dvec3_cross(x, y), det));
	}
	++*count;
}

// A facet of the convex hull of the directions.
typedef struct facet {
	tac_dvec3 normal; // outwards
	int vertex[TAC_DOP_SIZE], vertex_count;
} facet;

// The facet whose three lowest vertices are a, b and c; false if there is none, or if its normal points down
// (lexicographically), because such a facet mirrors another one.
static bool find_facet(int a, int b, int c, facet *out)
{
	tac_dvec3 n = tac_dvec3_triangle_cross(direction(a), direction(b), direction(c));
	double height = tac_dvec3_dot(n, direction(a));
	if (fabs(height) < COINCIDENT)
		return false;
	if (height < 0.0) {
		n = tac_dvec3_neg(n);
		height = -height;
	}
	*out = (facet){.normal = n};
	for (int i = 0; i < TAC_DOP_SIZE; i++) {
		double h = tac_dvec3_dot(n, direction(i)) - height;
		if (h >= COINCIDENT)
			return false;
		if (fabs(h) < COINCIDENT)
			out->vertex[out->vertex_count++] = i;
	}
	bool up = n.x > COINCIDENT ||
		  (n.x > -COINCIDENT && (n.y > COINCIDENT || (n.y > -COINCIDENT && n.z > 0.0)));
	return up && out->vertex[0] == a && out->vertex[1] == b && out->vertex[2] == c;
}

// Sorts the vertices by their angle around the centre.
static void sort_around(facet *f)
{
	tac_dvec3 o = direction(f->vertex[0]);
	tac_dvec3 x = tac_dvec3_normalize(tac_dvec3_sub(direction(f->vertex[1]), o));
	tac_dvec3 y = tac_dvec3_cross(tac_dvec3_normalize(f->normal), x);
	tac_dvec3 centre = tac_dvec3_zero();
	for (int i = 0; i < f->vertex_count; i++)
		centre = tac_dvec3_add_scaled(centre, 1.0 / f->vertex_count, direction(f->vertex[i]));
	double angles[TAC_DOP_SIZE];
	for (int i = 0; i < f->vertex_count; i++) {
		tac_dvec3 d = tac_dvec3_sub(direction(f->vertex[i]), centre);
		double angle = atan2(tac_dvec3_dot(y, d), tac_dvec3_dot(x, d));
		int vertex = f->vertex[i], k = i;
		for (; k > 0 && angles[k - 1] > angle; k--) {
			angles[k] = angles[k - 1];
			f->vertex[k] = f->vertex[k - 1];
		}
		angles[k] = angle;
		f->vertex[k] = vertex;
	}
}

// Divides every facet into a fan of triangles; add_face mirrors them to the opposite facet.
static void find_faces(void)
{
	int count = 0;
	for (int a = 0; a < TAC_DOP_SIZE; a++)
		for (int b = a + 1; b < TAC_DOP_SIZE; b++)
			for (int c = b + 1; c < TAC_DOP_SIZE; c++) {
				facet f;
				if (!find_facet(a, b, c, &f))
					continue;
				sort_around(&f);
				for (int i = 1; i + 1 < f.vertex_count; i++)
					add_face(&count, f.vertex[0], f.vertex[i], f.vertex[i + 1]);
			}
}

const tac_dop_face *tac_dop_faces(void)
{
	if (!ready) {
		find_faces();
		for (int f = 0; f < PADDED; f++)
			for (int k = 0; k < 9; k++)
				inverses[k * PADDED + f] =
					(float)faces[f < TAC_DOP_FACES ? f : 0].inverse[k / 3][k % 3];
		locate = locates[tac_simd_select()];
		ready = true;
	}
	return faces;
}

tac_dop tac_dop_empty(void)
{
	tac_dop dop;
	for (int i = 0; i < TAC_DOP_SIZE; i++)
		dop.d[i] = -FLT_MAX;
	return dop;
}

// The second float above the nearest: the double itself has an error of 2^-52 of the largest coordinate. Zero
// becomes a small normal number, which survives flushing of denormals.
static float round_up(double x)
{
	float nearest = (float)x;
	if (fabsf(nearest) < 4.0F * FLT_MIN)
		return 8.0F * FLT_MIN;
	uint32_t bits;
	memcpy(&bits, &nearest, sizeof bits);
	bits = nearest > 0.0F ? bits + 2 : bits - 2;
	memcpy(&nearest, &bits, sizeof bits);
	return nearest;
}

void tac_dop_add_point(tac_dop *dop, tac_vec3 point)
{
	for (int i = 0; i < HALF; i++) {
		const double *a = tac_dop_directions[i];
		// Along the coordinate axes nothing is rounded: axis-aligned boxes stay exact.
		double d = i < 3 ? (double)tac_vec3_get(point, i)
				 : a[0] * (double)point.x + a[1] * (double)point.y + a[2] * (double)point.z;
		float high = i < 3 ? (float)d : round_up(d), low = i < 3 ? (float)-d : round_up(-d);
		dop->d[i] = high > dop->d[i] ? high : dop->d[i];
		dop->d[i + HALF] = low > dop->d[i + HALF] ? low : dop->d[i + HALF];
	}
}

void tac_dop_add_dop(tac_dop *dop, const tac_dop *other)
{
	for (int i = 0; i < TAC_DOP_SIZE; i++)
		dop->d[i] = other->d[i] > dop->d[i] ? other->d[i] : dop->d[i];
}

void tac_dop_motion_init(tac_dop_motion *out_rows, const tac_rigid *motion, float extent)
{
	tac_dop_faces();
	double local[HALF][3]; // the directions in the moving frame
	float lanes[3 * HALF];
	int32_t face_of[HALF];
	for (int i = 0; i < HALF; i++)
		for (int k = 0; k < 3; k++) {
			const double *b = tac_dop_directions[i];
			local[i][k] = (double)motion->R.m[0][k] * b[0] + (double)motion->R.m[1][k] * b[1] +
				      (double)motion->R.m[2][k] * b[2];
			lanes[k * HALF + i] = (float)local[i][k];
		}
	locate(inverses, lanes, face_of);
	for (int i = 0; i < HALF; i++) {
		const tac_dop_face *face = &faces[face_of[i]];
		const double *b = tac_dop_directions[i];
		double sum = 0.0;
		for (int k = 0; k < 3; k++) {
			const double *row = face->inverse[k];
			double w = row[0] * local[i][0] + row[1] * local[i][1] + row[2] * local[i][2];
			w = w > 0.0 ? w : 0.0; // negative only by rounding
			sum += w;
			out_rows->weight[k][i] = out_rows->weight[k][i + HALF] = (float)w;
			out_rows->index[k][i] = face->direction[k];
			out_rows->index[k][i + HALF] = (face->direction[k] + HALF) % TAC_DOP_SIZE;
		}
		double c =
			b[0] * (double)motion->t.x + b[1] * (double)motion->t.y + b[2] * (double)motion->t.z;
		// Six roundings of 2^-24 each (weight, product, three sums, offset), plus the error of the
		// clamp above and of the two roundings of the direction's float copy.
		double widen = extent > 0.0F ? 0x1p-21 * (sum * (double)extent + fabs(c)) : 0.0;
		out_rows->offset[i] = (float)(c + widen);
		out_rows->offset[i + HALF] = (float)(widen - c);
	}
}

tac_dop tac_dop_transform(const tac_dop_motion *rows, const tac_dop *dop)
{
	tac_dop out;
	for (int i = 0; i < TAC_DOP_SIZE; i++)
		out.d[i] = rows->weight[0][i] * dop->d[rows->index[0][i]] +
			   rows->weight[1][i] * dop->d[rows->index[1][i]] +
			   rows->weight[2][i] * dop->d[rows->index[2][i]] + rows->offset[i];
	return out;
}

bool tac_dop_disjoint(const tac_dop *a, const tac_dop *b)
{
	for (int i = 0; i < HALF; i++)
		if (a->d[i] < -b->d[i + HALF] || b->d[i] < -a->d[i + HALF])
			return true;
	return false;
}

bool tac_dop_key(float value, uint32_t *out_key)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	if ((bits & 0x7FFFFFFF) > 0x7F800000)
		return false;
	if (bits == 0x80000000)
		bits = 0;
	*out_key = bits >> 31 ? ~bits : bits | 0x80000000;
	return true;
}
