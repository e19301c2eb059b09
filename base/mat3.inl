// Part of base/algebra.h, compiled for float and for double: 3x3 matrices, row-major, m.m[row][column].

typedef struct TAC_(mat3) {
	TAC_REAL m[3][3];
} TAC_(mat3);

static inline TAC_(mat3) TAC_(mat3_from_rows)(TAC_(vec3) r0, TAC_(vec3) r1, TAC_(vec3) r2)
{
	TAC_(mat3) m = {{{r0.x, r0.y, r0.z}, {r1.x, r1.y, r1.z}, {r2.x, r2.y, r2.z}}};
	return m;
}

static inline TAC_(mat3) TAC_(mat3_from_columns)(TAC_(vec3) c0, TAC_(vec3) c1, TAC_(vec3) c2)
{
	TAC_(mat3) m = {{{c0.x, c1.x, c2.x}, {c0.y, c1.y, c2.y}, {c0.z, c1.z, c2.z}}};
	return m;
}

static inline TAC_(mat3) TAC_(mat3_diagonal)(TAC_(vec3) d)
{
	TAC_(mat3) m = {{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}};
	return m;
}

static inline TAC_(mat3) TAC_(mat3_identity)(void)
{
	return TAC_(mat3_diagonal)(TAC_(vec3_splat)(1));
}

// skew(v) w = v x w.
static inline TAC_(mat3) TAC_(mat3_skew)(TAC_(vec3) v)
{
	TAC_(mat3) m = {{{0, -v.z, v.y}, {v.z, 0, -v.x}, {-v.y, v.x, 0}}};
	return m;
}

// a bT: entry (i, j) is a_i b_j.
static inline TAC_(mat3) TAC_(mat3_outer)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(mat3_from_rows)(TAC_(vec3_scale)(b, a.x), TAC_(vec3_scale)(b, a.y),
				    TAC_(vec3_scale)(b, a.z));
}

static inline TAC_(vec3) TAC_(mat3_row)(TAC_(mat3) m, int row)
{
	return TAC_(vec3_load)(m.m[row]);
}

static inline TAC_(vec3) TAC_(mat3_column)(TAC_(mat3) m, int column)
{
	return TAC_(vec3_make)(m.m[0][column], m.m[1][column], m.m[2][column]);
}

static inline TAC_(mat3) TAC_(mat3_add)(TAC_(mat3) a, TAC_(mat3) b)
{
	return TAC_(mat3_from_rows)(TAC_(vec3_add)(TAC_(mat3_row)(a, 0), TAC_(mat3_row)(b, 0)),
				    TAC_(vec3_add)(TAC_(mat3_row)(a, 1), TAC_(mat3_row)(b, 1)),
				    TAC_(vec3_add)(TAC_(mat3_row)(a, 2), TAC_(mat3_row)(b, 2)));
}

static inline TAC_(mat3) TAC_(mat3_sub)(TAC_(mat3) a, TAC_(mat3) b)
{
	return TAC_(mat3_from_rows)(TAC_(vec3_sub)(TAC_(mat3_row)(a, 0), TAC_(mat3_row)(b, 0)),
				    TAC_(vec3_sub)(TAC_(mat3_row)(a, 1), TAC_(mat3_row)(b, 1)),
				    TAC_(vec3_sub)(TAC_(mat3_row)(a, 2), TAC_(mat3_row)(b, 2)));
}

static inline TAC_(mat3) TAC_(mat3_scale)(TAC_(mat3) m, TAC_REAL s)
{
	return TAC_(mat3_from_rows)(TAC_(vec3_scale)(TAC_(mat3_row)(m, 0), s),
				    TAC_(vec3_scale)(TAC_(mat3_row)(m, 1), s),
				    TAC_(vec3_scale)(TAC_(mat3_row)(m, 2), s));
}

static inline TAC_(mat3) TAC_(mat3_transpose)(TAC_(mat3) m)
{
	return TAC_(mat3_from_columns)(TAC_(mat3_row)(m, 0), TAC_(mat3_row)(m, 1), TAC_(mat3_row)(m, 2));
}

// m v.
static inline TAC_(vec3) TAC_(mat3_apply)(TAC_(mat3) m, TAC_(vec3) v)
{
	return TAC_(vec3_make)(TAC_(vec3_dot)(TAC_(mat3_row)(m, 0), v),
			       TAC_(vec3_dot)(TAC_(mat3_row)(m, 1), v),
			       TAC_(vec3_dot)(TAC_(mat3_row)(m, 2), v));
}

// mT v: the inverse rotation where m is one.
static inline TAC_(vec3) TAC_(mat3_transpose_apply)(TAC_(mat3) m, TAC_(vec3) v)
{
	return TAC_(vec3_make)(TAC_(vec3_dot)(TAC_(mat3_column)(m, 0), v),
			       TAC_(vec3_dot)(TAC_(mat3_column)(m, 1), v),
			       TAC_(vec3_dot)(TAC_(mat3_column)(m, 2), v));
}

// a b.
static inline TAC_(mat3) TAC_(mat3_mul)(TAC_(mat3) a, TAC_(mat3) b)
{
	return TAC_(mat3_from_columns)(TAC_(mat3_apply)(a, TAC_(mat3_column)(b, 0)),
				       TAC_(mat3_apply)(a, TAC_(mat3_column)(b, 1)),
				       TAC_(mat3_apply)(a, TAC_(mat3_column)(b, 2)));
}

// aT b: for rotations, b seen from a.
static inline TAC_(mat3) TAC_(mat3_transpose_mul)(TAC_(mat3) a, TAC_(mat3) b)
{
	return TAC_(mat3_mul)(TAC_(mat3_transpose)(a), b);
}

static inline TAC_REAL TAC_(mat3_det)(TAC_(mat3) m)
{
	return TAC_(vec3_dot)(TAC_(mat3_row)(m, 0),
			      TAC_(vec3_cross)(TAC_(mat3_row)(m, 1), TAC_(mat3_row)(m, 2)));
}

static inline bool TAC_(mat3_finite)(TAC_(mat3) m)
{
	return TAC_(vec3_finite)(TAC_(mat3_row)(m, 0)) && TAC_(vec3_finite)(TAC_(mat3_row)(m, 1)) &&
	       TAC_(vec3_finite)(TAC_(mat3_row)(m, 2));
}

// The largest absolute entry.
static inline TAC_REAL TAC_(mat3_max_abs)(TAC_(mat3) m)
{
	TAC_(vec3) a = TAC_(vec3_abs)(TAC_(mat3_row)(m, 0));
	a = TAC_(vec3_max)(a, TAC_(vec3_abs)(TAC_(mat3_row)(m, 1)));
	a = TAC_(vec3_max)(a, TAC_(vec3_abs)(TAC_(mat3_row)(m, 2)));
	return TAC_(vec3_max_component)(a);
}

// By the adjugate, scaled first so that inertias in kg m^2 (1e-12 and less) neither underflow nor vanish
// under flush-to-zero. The zero matrix where the computed determinant is zero or an entry is not finite. The
// relative error grows with the condition number, as for any inverse.
static inline TAC_(mat3) TAC_(mat3_inverse)(TAC_(mat3) m)
{
	TAC_REAL size = TAC_(mat3_max_abs)(m);
	TAC_(mat3) zero = TAC_(mat3_diagonal)(TAC_(vec3_zero)());
	if (!TAC_(mat3_finite)(m) || size == 0)
		return zero;
	TAC_(vec3) r0 = TAC_(vec3_div)(TAC_(mat3_row)(m, 0), size);
	TAC_(vec3) r1 = TAC_(vec3_div)(TAC_(mat3_row)(m, 1), size);
	TAC_(vec3) r2 = TAC_(vec3_div)(TAC_(mat3_row)(m, 2), size);
	TAC_(vec3) c0 = TAC_(vec3_cross)(r1, r2);
	TAC_REAL det = TAC_(vec3_dot)(r0, c0);
	if (det == 0)
		return zero;
	return TAC_(mat3_from_columns)(TAC_(vec3_div)(TAC_(vec3_div)(c0, det), size),
				       TAC_(vec3_div)(TAC_(vec3_div)(TAC_(vec3_cross)(r2, r0), det), size),
				       TAC_(vec3_div)(TAC_(vec3_div)(TAC_(vec3_cross)(r0, r1), det), size));
}

// The largest absolute entry of RT R - I: 0 for an exact rotation or reflection, about EPSILON for a computed
// one. The sign of the determinant distinguishes the two.
static inline TAC_REAL TAC_(mat3_orthonormality_error)(TAC_(mat3) r)
{
	return TAC_(mat3_max_abs)(TAC_(mat3_sub)(TAC_(mat3_transpose_mul)(r, r), TAC_(mat3_identity)()));
}
