// Part of tests/base/test_algebra.c, compiled for float and for double. Oracles are closed forms in long
// double; tolerances are multiples of EPS, the precision under test.
#define REAL TAC_REAL
#define EPS  ((long double)TAC_LIMIT(EPSILON))

static REAL TAC_(uniform)(REAL low, REAL high)
{
	return (REAL)tac_rng_range_f64(&rng, (double)low, (double)high);
}

static TAC_(vec3) TAC_(random_vec3)(REAL size)
{
	REAL x = TAC_(uniform)(-size, size), y = TAC_(uniform)(-size, size), z = TAC_(uniform)(-size, size);
	return TAC_(vec3_make)(x, y, z);
}

static TAC_(quat) TAC_(random_quat)(void)
{
	tac_dquat q = tac_rng_rotation_f64(&rng);
	return TAC_(quat_make)((REAL)q.x, (REAL)q.y, (REAL)q.z, (REAL)q.w);
}

static TAC_(mat3) TAC_(random_mat3)(void)
{
	TAC_(vec3) r0 = TAC_(random_vec3)(1), r1 = TAC_(random_vec3)(1), r2 = TAC_(random_vec3)(1);
	return TAC_(mat3_from_rows)(r0, r1, r2);
}

static void TAC_(expect_vec3)(long double x, long double y, long double z, long double within, TAC_(vec3) v)
{
	expect(x, within, (long double)v.x);
	expect(y, within, (long double)v.y);
	expect(z, within, (long double)v.z);
}

static void TAC_(expect_same)(TAC_(vec3) a, TAC_(vec3) b)
{
	TAC_(expect_vec3)((long double)a.x, (long double)a.y, (long double)a.z, 0, b);
}

static void TAC_(expect_matrix)(long double want[3][3], long double within, TAC_(mat3) m)
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			expect(want[i][j], within, (long double)m.m[i][j]);
}

static void TAC_(widen)(TAC_(mat3) m, long double out[3][3])
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			out[i][j] = (long double)m.m[i][j];
}

// The rotation matrix of a quaternion whose components count as exact, regardless of its length.
static void TAC_(exact_rotation)(TAC_(quat) q, long double out[3][3])
{
	long double x = (long double)q.x, y = (long double)q.y, z = (long double)q.z, w = (long double)q.w;
	long double n = sqrtl(x * x + y * y + z * z);
	long double axis[3] = {n > 0 ? x / n : 1, n > 0 ? y / n : 0, n > 0 ? z / n : 0};
	rodrigues(axis, 2 * atan2l(n, w), out);
}

static void IN_(vector_operations_give_known_answers)(void)
{
	TAC_(vec3) a = TAC_(vec3_make)(1, -2, 3), b = TAC_(vec3_make)(5, 7, -11);
	TAC_(expect_vec3)(6, 5, -8, 0, TAC_(vec3_add)(a, b));
	TAC_(expect_vec3)(-4, -9, 14, 0, TAC_(vec3_sub)(a, b));
	TAC_(expect_vec3)(-1, 2, -3, 0, TAC_(vec3_neg)(a));
	TAC_(expect_vec3)(2, -4, 6, 0, TAC_(vec3_scale)(a, 2));
	TAC_(expect_vec3)(0.5L, -1, 1.5L, 0, TAC_(vec3_div)(a, 2));
	TAC_(expect_vec3)(11, 12, -19, 0, TAC_(vec3_add_scaled)(a, 2, b));
	TAC_(expect_vec3)(5, -14, -33, 0, TAC_(vec3_mul)(a, b));
	TAC_(expect_vec3)(1, -2, -11, 0, TAC_(vec3_min)(a, b));
	TAC_(expect_vec3)(5, 7, 3, 0, TAC_(vec3_max)(a, b));
	TAC_(expect_vec3)(1, 2, 3, 0, TAC_(vec3_abs)(a));
	TAC_(expect_vec3)(4, 4, 4, 0, TAC_(vec3_splat)(4));
	TAC_(expect_vec3)(1, 26, 17, 0, TAC_(vec3_cross)(a, b));
	expect(5 - 14 - 33, 0, (long double)TAC_(vec3_dot)(a, b));
	expect(14, 0, (long double)TAC_(vec3_length_squared)(a));
	expect(3, 0, (long double)TAC_(vec3_max_component)(a));
	REAL xyz[3];
	TAC_(vec3_store)(xyz, a);
	TAC_(expect_same)(a, TAC_(vec3_load)(xyz));
	for (int i = 0; i < 3; i++)
		expect((long double)xyz[i], 0, (long double)TAC_(vec3_get)(a, i));
}

static void IN_(cross_product_is_right_handed_and_exactly_antisymmetric)(void)
{
	TAC_(vec3) x = TAC_(vec3_make)(1, 0, 0), y = TAC_(vec3_make)(0, 1, 0), z = TAC_(vec3_make)(0, 0, 1);
	TAC_(expect_same)(z, TAC_(vec3_cross)(x, y));
	TAC_(expect_same)(x, TAC_(vec3_cross)(y, z));
	TAC_(expect_same)(y, TAC_(vec3_cross)(z, x));
	for (int i = 0; i < 1000; i++) {
		TAC_(vec3) a = TAC_(random_vec3)(10), b = TAC_(random_vec3)(10);
		TAC_(vec3) c = TAC_(vec3_cross)(a, b);
		TAC_(expect_same)(TAC_(vec3_neg)(c), TAC_(vec3_cross)(b, a));
		long double ax = (long double)a.x, ay = (long double)a.y, az = (long double)a.z;
		long double bx = (long double)b.x, by = (long double)b.y, bz = (long double)b.z;
		TAC_(expect_vec3)(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx, 200 * EPS, c);
	}
}

static void IN_(lerp_is_exact_at_both_ends)(void)
{
	for (int i = 0; i < 1000; i++) {
		TAC_(vec3) a = TAC_(random_vec3)(1), b = TAC_(random_vec3)(1000);
		TAC_(expect_same)(a, TAC_(vec3_lerp)(a, b, 0));
		TAC_(expect_same)(b, TAC_(vec3_lerp)(a, b, 1));
		TAC_(vec3) middle = TAC_(vec3_scale)(TAC_(vec3_add)(a, b), TAC_K(0.5));
		TAC_(expect_vec3)
		((long double)middle.x, (long double)middle.y, (long double)middle.z, 1000 * EPS,
		 TAC_(vec3_lerp)(a, b, TAC_K(0.5)));
	}
}

static void IN_(min_and_max_return_the_second_operand_for_nan_and_equal_zeros)(void)
{
	const REAL pairs[4][2] = {{(REAL)NAN, 1}, {1, (REAL)NAN}, {0, TAC_K(-0.0)}, {TAC_K(-0.0), 0}};
	for (int p = 0; p < 4; p++) {
		REAL second = pairs[p][1];
		TAC_(vec3) a = TAC_(vec3_splat)(pairs[p][0]), b = TAC_(vec3_splat)(second);
		TAC_(vec3) low = TAC_(vec3_min)(a, b), high = TAC_(vec3_max)(a, b);
		for (int i = 0; i < 3; i++) {
			TEST_ASSERT_EQUAL_MEMORY(&second, &(REAL){TAC_(vec3_get)(low, i)}, sizeof second);
			TEST_ASSERT_EQUAL_MEMORY(&second, &(REAL){TAC_(vec3_get)(high, i)}, sizeof second);
		}
	}
}

static void IN_(length_and_direction_survive_every_magnitude)(void)
{
	for (int e = TAC_LIMIT(MIN_EXP); e < TAC_LIMIT(MAX_EXP) - 4; e++) {
		REAL s = TAC_MATH(ldexp)(1, e);
		TAC_(vec3) v = TAC_(vec3_make)(3 * s, -4 * s, 12 * s);
		long double length = 13 * (long double)s;
		expect(length, length * 2 * EPS, (long double)TAC_(vec3_length)(v));
		TAC_(expect_vec3)(3 / 13.0L, -4 / 13.0L, 12 / 13.0L, 2 * EPS, TAC_(vec3_normalize)(v));
	}
}

static void IN_(length_and_direction_of_degenerate_vectors_are_defined)(void)
{
	REAL inf = (REAL)INFINITY, nan = (REAL)NAN;
	TAC_(vec3) zero = TAC_(vec3_zero)();
	expect(0, 0, (long double)TAC_(vec3_length)(zero));
	TAC_(expect_same)(zero, TAC_(vec3_normalize)(zero));
	TAC_(expect_same)(zero, TAC_(vec3_normalize)(TAC_(vec3_make)(1, inf, 0)));
	TAC_(expect_same)(zero, TAC_(vec3_normalize)(TAC_(vec3_make)(1, nan, 0)));
	TEST_ASSERT_TRUE(isinf(TAC_(vec3_length)(TAC_(vec3_make)(1, -inf, 0))));
	TEST_ASSERT_TRUE(isnan(TAC_(vec3_length)(TAC_(vec3_make)(nan, 1, 0))));
	TEST_ASSERT_TRUE(isnan(TAC_(vec3_length)(TAC_(vec3_make)(0, 0, nan))));
	TEST_ASSERT_TRUE(TAC_(vec3_finite)(TAC_(vec3_splat)(TAC_LIMIT(MAX))));
	for (int i = 0; i < 3; i++)
		for (int bad = 0; bad < 3; bad++) {
			REAL xyz[3] = {1, 2, 3};
			xyz[i] = bad == 0 ? inf : bad == 1 ? -inf : nan;
			TEST_ASSERT_FALSE(TAC_(vec3_finite)(TAC_(vec3_load)(xyz)));
		}
}

static void IN_(denormal_vectors_count_as_zero_only_where_denormals_are_flushed)(void)
{
	TAC_(vec3) tiny = TAC_(vec3_make)(0, TAC_LIMIT(MIN) / 1024, 0);
	volatile REAL y = tiny.y; // keeps the compiler from folding with denormals on
	tiny.y = y;
	bool flushed = tac_denormal_flushed();
	TAC_(expect_vec3)(0, flushed ? 0 : 1, 0, EPS, TAC_(vec3_normalize)(tiny));
}

static void IN_(perpendicular_is_a_unit_vector_at_a_right_angle)(void)
{
	for (int i = 0; i < 1000; i++) {
		TAC_(vec3) v = TAC_(random_vec3)(1);
		if (i < 27) // all axes, diagonals and the zero vector
			v = TAC_(vec3_make)((REAL)(i % 3 - 1), (REAL)(i / 3 % 3 - 1), (REAL)(i / 9 - 1));
		TAC_(vec3) p = TAC_(vec3_perpendicular)(v);
		expect(1, 4 * EPS, (long double)TAC_(vec3_length)(p));
		expect(0, 4 * EPS, (long double)TAC_(vec3_dot)(p, v));
	}
	TAC_(expect_vec3)(1, 0, 0, 0, TAC_(vec3_perpendicular)(TAC_(vec3_zero)()));
	TAC_(expect_vec3)(1, 0, 0, 0, TAC_(vec3_perpendicular)(TAC_(vec3_splat)((REAL)NAN)));
}

static void IN_(triangle_normal_points_to_the_counter_clockwise_side)(void)
{
	TAC_(vec3) a = TAC_(vec3_make)(1, 2, 3), b = TAC_(vec3_make)(4, 2, 3), c = TAC_(vec3_make)(1, 6, 3);
	TAC_(expect_vec3)(0, 0, 12, 0, TAC_(vec3_triangle_cross)(a, b, c)); // twice the area
	TAC_(expect_vec3)(0, 0, -12, 0, TAC_(vec3_triangle_cross)(a, c, b));
	TAC_(expect_vec3)(0, 0, 1, 0, TAC_(vec3_triangle_normal)(a, b, c));
	TAC_(expect_vec3)(0, 0, 0, 0, TAC_(vec3_triangle_normal)(a, b, b));
	for (int i = 0; i < 1000; i++) {
		a = TAC_(random_vec3)(1), b = TAC_(random_vec3)(1), c = TAC_(random_vec3)(1);
		TAC_(vec3) n = TAC_(vec3_triangle_normal)(a, b, c);
		expect(1, 4 * EPS, (long double)TAC_(vec3_length)(n));
		TEST_ASSERT_TRUE(TAC_(vec3_dot)(n, TAC_(vec3_triangle_cross)(a, b, c)) > 0);
	}
}

static void IN_(matrix_operations_agree_with_written_out_sums)(void)
{
	for (int n = 0; n < 300; n++) {
		TAC_(vec3) v = TAC_(random_vec3)(1);
		TAC_(mat3) a = TAC_(random_mat3)(), b = TAC_(random_mat3)();
		long double la[3][3], lb[3][3], ab[3][3] = {{0}}, atb[3][3] = {{0}}, at[3][3], sum[3][3],
						difference[3][3], twice[3][3];
		long double av[3] = {0}, atv[3] = {0};
		TAC_(widen)(a, la);
		TAC_(widen)(b, lb);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++) {
				long double vj = (long double)TAC_(vec3_get)(v, j);
				av[i] += la[i][j] * vj;
				atv[i] += la[j][i] * vj;
				at[i][j] = la[j][i];
				sum[i][j] = la[i][j] + lb[i][j];
				difference[i][j] = la[i][j] - lb[i][j];
				twice[i][j] = 2 * la[i][j];
				for (int k = 0; k < 3; k++) {
					ab[i][j] += la[i][k] * lb[k][j];
					atb[i][j] += la[k][i] * lb[k][j];
				}
			}
		TAC_(expect_matrix)(ab, 4 * EPS, TAC_(mat3_mul)(a, b));
		TAC_(expect_matrix)(atb, 4 * EPS, TAC_(mat3_transpose_mul)(a, b));
		TAC_(expect_matrix)(at, 0, TAC_(mat3_transpose)(a));
		TAC_(expect_matrix)(sum, EPS, TAC_(mat3_add)(a, b));
		TAC_(expect_matrix)(difference, EPS, TAC_(mat3_sub)(a, b));
		TAC_(expect_matrix)(twice, 0, TAC_(mat3_scale)(a, 2));
		TAC_(expect_vec3)(av[0], av[1], av[2], 4 * EPS, TAC_(mat3_apply)(a, v));
		TAC_(expect_vec3)(atv[0], atv[1], atv[2], 4 * EPS, TAC_(mat3_transpose_apply)(a, v));
	}
}

static void IN_(determinant_and_inverse_agree_with_integer_arithmetic)(void)
{
	for (int n = 0; n < 1000; n++) {
		int64_t k[3][3];
		TAC_(mat3) m;
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++) {
				k[i][j] = (int64_t)tac_rng_below(&rng, 201) - 100;
				m.m[i][j] = (REAL)k[i][j];
			}
		int64_t adjugate[3][3];
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++) {
				int r = (j + 1) % 3, s = (j + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
				adjugate[i][j] = k[r][p] * k[s][q] - k[r][q] * k[s][p];
			}
		int64_t det = k[0][0] * adjugate[0][0] + k[0][1] * adjugate[1][0] + k[0][2] * adjugate[2][0];
		expect((long double)det, 0, (long double)TAC_(mat3_det)(m)); // below 2^24: exact in float too
		if (det == 0)
			continue;
		TAC_(mat3) inverse = TAC_(mat3_inverse)(m);
		// The determinant of the scaled matrix has an error of a few EPS, and so has every quotient
		// by it.
		long double scaled_det = fabsl((long double)det) / 1e6L;
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				expect((long double)adjugate[i][j] / (long double)det,
				       (16 * EPS +
					fabsl((long double)adjugate[i][j]) / 1e4L * 16 * EPS / scaled_det) /
					       100 / scaled_det,
				       (long double)inverse.m[i][j]);
	}
}

static void IN_(inverse_of_tiny_and_huge_matrices_does_not_underflow)(void)
{
	// At the smallest scale the inverse is still below MAX.
	for (int e = TAC_LIMIT(MIN_EXP) + 8; e < TAC_LIMIT(MAX_EXP) - 8; e++) {
		REAL s = TAC_MATH(ldexp)(1, e);
		TAC_(mat3) m = TAC_(mat3_diagonal)(TAC_(vec3_make)(s, 2 * s, 4 * s));
		long double t = 1 / (long double)s;
		long double want[3][3] = {{t, 0, 0}, {0, t / 2, 0}, {0, 0, t / 4}};
		TAC_(expect_matrix)(want, 0, TAC_(mat3_inverse)(m));
	}
}

static void IN_(inverse_of_a_singular_or_broken_matrix_is_zero)(void)
{
	long double zero[3][3] = {{0}};
	TAC_(vec3) r = TAC_(vec3_make)(1, 2, 3);
	TAC_(mat3) broken = TAC_(mat3_identity)();
	broken.m[1][2] = (REAL)NAN;
	TAC_(expect_matrix)
	(zero, 0, TAC_(mat3_inverse)(TAC_(mat3_from_rows)(r, r, TAC_(vec3_make)(1, 0, 0))));
	TAC_(expect_matrix)(zero, 0, TAC_(mat3_inverse)(TAC_(mat3_diagonal)(TAC_(vec3_zero)())));
	TAC_(expect_matrix)(zero, 0, TAC_(mat3_inverse)(broken));
	TEST_ASSERT_FALSE(TAC_(mat3_finite)(broken));
	TEST_ASSERT_TRUE(TAC_(mat3_finite)(TAC_(mat3_identity)()));
}

static void IN_(skew_and_outer_are_cross_and_dot_products)(void)
{
	for (int i = 0; i < 100; i++) {
		TAC_(vec3) a = TAC_(random_vec3)(1), b = TAC_(random_vec3)(1), v = TAC_(random_vec3)(1);
		TAC_(vec3) c = TAC_(vec3_cross)(a, v), o = TAC_(vec3_scale)(a, TAC_(vec3_dot)(b, v));
		TAC_(expect_vec3)
		((long double)c.x, (long double)c.y, (long double)c.z, 4 * EPS,
		 TAC_(mat3_apply)(TAC_(mat3_skew)(a), v));
		TAC_(expect_vec3)
		((long double)o.x, (long double)o.y, (long double)o.z, 8 * EPS,
		 TAC_(mat3_apply)(TAC_(mat3_outer)(a, b), v));
	}
}

static void IN_(orthonormality_error_measures_stretch_and_shear)(void)
{
	expect(0, 0, (long double)TAC_(mat3_orthonormality_error)(TAC_(mat3_identity)()));
	TAC_(mat3) stretched = TAC_(mat3_diagonal)(TAC_(vec3_make)(1, TAC_K(1.5), -1));
	expect(1.25L, 0, (long double)TAC_(mat3_orthonormality_error)(stretched));
	TAC_(mat3) sheared = TAC_(mat3_identity)();
	sheared.m[0][2] = TAC_K(-0.25);
	expect(0.25L, 0, (long double)TAC_(mat3_orthonormality_error)(sheared));
	for (int i = 0; i < 300; i++)
		expect(0, 8 * EPS,
		       (long double)TAC_(mat3_orthonormality_error)(
			       TAC_(mat3_from_quat)(TAC_(random_quat)())));
}

static void TAC_(expect_quat)(long double x, long double y, long double z, long double w, long double within,
			      TAC_(quat) q)
{
	TAC_(expect_vec3)(x, y, z, within, TAC_(quat_imaginary)(q));
	expect(w, within, (long double)q.w);
}

static void IN_(quaternions_multiply_by_hamiltons_rule)(void)
{
	TAC_(quat) i = TAC_(quat_make)(1, 0, 0, 0), j = TAC_(quat_make)(0, 1, 0, 0);
	TAC_(quat) k = TAC_(quat_make)(0, 0, 1, 0);
	TAC_(expect_quat)(0, 0, 0, -1, 0, TAC_(quat_mul)(i, i));
	TAC_(expect_quat)(0, 0, 1, 0, 0, TAC_(quat_mul)(i, j));
	TAC_(expect_quat)(0, 0, -1, 0, 0, TAC_(quat_mul)(j, i));
	TAC_(expect_quat)(1, 0, 0, 0, 0, TAC_(quat_mul)(j, k));
	TAC_(expect_quat)(0, 1, 0, 0, 0, TAC_(quat_mul)(k, i));
	// (1 + 2i + 3j + 4k)(5 + 6i + 7j + 8k), worked by hand.
	TAC_(expect_quat)
	(12, 30, 24, -60, 0, TAC_(quat_mul)(TAC_(quat_make)(2, 3, 4, 1), TAC_(quat_make)(6, 7, 8, 5)));
}

static void IN_(rotations_agree_with_rodrigues_formula)(void)
{
	for (int n = 0; n < 1000; n++) {
		TAC_(vec3) u = TAC_(random_vec3)(1), v = TAC_(random_vec3)(1);
		REAL angle = n < 100 ? TAC_MATH(ldexp)(1, -n) : TAC_(uniform)(-7, 7);
		long double x = (long double)u.x, y = (long double)u.y, z = (long double)u.z;
		long double l = sqrtl(x * x + y * y + z * z), axis[3] = {x / l, y / l, z / l}, r[3][3];
		rodrigues(axis, (long double)angle, r);
		TAC_(quat) q = TAC_(quat_from_axis_angle)(u, angle);
		long double within = (4 + fabsl((long double)angle)) * 2 * EPS;
		TAC_(expect_matrix)(r, within, TAC_(mat3_from_quat)(q));
		TAC_(expect_matrix)(r, within, TAC_(mat3_from_axis_angle)(u, angle));
		long double rv[3];
		for (int i = 0; i < 3; i++)
			rv[i] = r[i][0] * (long double)v.x + r[i][1] * (long double)v.y +
				r[i][2] * (long double)v.z;
		TAC_(expect_vec3)(rv[0], rv[1], rv[2], 2 * within, TAC_(quat_rotate)(q, v));
	}
	TAC_(expect_quat)(0, 0, 0, 1, 0, TAC_(quat_from_axis_angle)(TAC_(vec3_zero)(), 1));
}

static void IN_(product_of_quaternions_rotates_by_the_right_one_first)(void)
{
	for (int n = 0; n < 300; n++) {
		TAC_(quat) a = TAC_(random_quat)(), b = TAC_(random_quat)();
		long double ra[3][3], rb[3][3], ab[3][3] = {{0}};
		TAC_(exact_rotation)(a, ra);
		TAC_(exact_rotation)(b, rb);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				for (int k = 0; k < 3; k++)
					ab[i][j] += ra[i][k] * rb[k][j];
		TAC_(expect_matrix)(ab, 16 * EPS, TAC_(mat3_from_quat)(TAC_(quat_mul)(a, b)));
		long double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
		TAC_(expect_matrix)
		(identity, 8 * EPS, TAC_(mat3_from_quat)(TAC_(quat_mul)(a, TAC_(quat_conjugate)(a))));
	}
}

static void IN_(normalized_quaternion_keeps_direction_at_every_magnitude)(void)
{
	for (int e = TAC_LIMIT(MIN_EXP); e < TAC_LIMIT(MAX_EXP) - 4; e++) {
		REAL s = TAC_MATH(ldexp)(1, e);
		TAC_(quat) q = TAC_(quat_normalize)(TAC_(quat_make)(s, -2 * s, 4 * s, 10 * s));
		TAC_(expect_vec3)(1 / 11.0L, -2 / 11.0L, 4 / 11.0L, EPS, TAC_(quat_imaginary)(q));
		expect(10 / 11.0L, EPS, (long double)q.w);
	}
	REAL bad[3] = {0, (REAL)INFINITY, (REAL)NAN};
	for (int i = 0; i < 3; i++) {
		TAC_(quat) q = TAC_(quat_normalize)(TAC_(quat_make)(0, 0, 0, bad[i]));
		TEST_ASSERT_TRUE(q.x == 0 && q.y == 0 && q.z == 0 && q.w == 1);
		TEST_ASSERT_EQUAL(i == 0, TAC_(quat_finite)(TAC_(quat_make)(1, 0, 0, bad[i])));
		TEST_ASSERT_EQUAL(i == 0, TAC_(quat_finite)(TAC_(quat_make)(0, bad[i], 0, 1)));
	}
}

static void TAC_(expect_rotation)(TAC_(quat) want, long double within, TAC_(quat) q)
{
	if (TAC_(quat_dot)(want, q) < 0)
		q = TAC_(quat_neg)(q);
	TAC_(expect_vec3)
	((long double)want.x, (long double)want.y, (long double)want.z, within, TAC_(quat_imaginary)(q));
	expect((long double)want.w, within, (long double)q.w);
}

static void IN_(quaternion_of_a_matrix_is_accurate_in_all_four_branches)(void)
{
	// The largest component selects the branch; the other three have any sign and may be zero.
	for (int branch = 0; branch < 4; branch++)
		for (int n = 0; n < 125; n++) {
			REAL c[4], small = TAC_K(0.25);
			int digit = n;
			for (int i = 0; i < 4; i++) {
				c[i] = i == branch ? 1 : small * (REAL)(digit % 5 - 2);
				if (i != branch)
					digit /= 5;
			}
			TAC_(quat) q = TAC_(quat_normalize)(TAC_(quat_make)(c[0], c[1], c[2], c[3]));
			long double exact[3][3];
			TAC_(exact_rotation)(q, exact);
			TAC_(mat3) m;
			for (int i = 0; i < 3; i++)
				for (int j = 0; j < 3; j++)
					m.m[i][j] = (REAL)exact[i][j];
			TAC_(expect_rotation)(q, 4 * EPS, TAC_(quat_from_mat3)(m));
		}
	for (int n = 0; n < 1000; n++) {
		TAC_(quat) q = TAC_(random_quat)();
		TAC_(expect_rotation)(q, 8 * EPS, TAC_(quat_from_mat3)(TAC_(mat3_from_quat)(q)));
	}
}

static void IN_(exponential_is_accurate_at_every_angle)(void)
{
	for (int e = TAC_LIMIT(MIN_EXP) + 8; e < 7; e++) {
		TAC_(vec3) u = TAC_(vec3_make)(TAC_K(0.375), TAC_K(-1.75), TAC_K(0.9));
		TAC_(vec3) r = TAC_(vec3_scale)(u, TAC_MATH(ldexp)(1, e));
		long double x = (long double)r.x, y = (long double)r.y, z = (long double)r.z;
		long double angle = sqrtl(x * x + y * y + z * z), s = sinl(angle / 2) / angle;
		TAC_(quat) q = TAC_(quat_exp)(r);
		// The error is relative to the angle where it is small, and to its rounding where it is
		// large.
		long double within = angle < 1 ? angle * 2 * EPS : (2 + angle) * 2 * EPS;
		TAC_(expect_vec3)(x * s, y * s, z * s, within, TAC_(quat_imaginary)(q));
		expect(cosl(angle / 2), (2 + angle) * EPS, (long double)q.w);
	}
	TAC_(expect_rotation)(TAC_(quat_identity)(), 0, TAC_(quat_exp)(TAC_(vec3_zero)()));
}

static void IN_(logarithm_is_accurate_at_small_angles_and_near_pi)(void)
{
	for (int sign = -1; sign <= 1; sign += 2)
		for (int e = TAC_LIMIT(MIN_EXP) + 8; e < 60; e++) {
			// Up to e = 0 angles 2^e; beyond it pi - 2^-e.
			long double half = e <= 0 ? ldexpl(1, e) / 2 : (acosl(-1) - ldexpl(1, -e)) / 2;
			long double ux = 2 / 7.0L, uy = -3 / 7.0L, uz = 6 / 7.0L;
			REAL sine = (REAL)sinl(half);
			TAC_(vec3) v = TAC_(vec3_make)((REAL)ux * sine, (REAL)uy * sine, (REAL)uz * sine);
			TAC_(quat) q = TAC_(quat_make)(v.x, v.y, v.z, (REAL)cosl(half));
			if (sign < 0)
				q = TAC_(quat_neg)(q);
			TAC_(vec3) r = TAC_(quat_log)(q);
			long double within = 2 * half * 4 * EPS;
			if (q.w == 0 && sign < 0) // exactly pi: the sign of q selects the direction
				r = TAC_(vec3_neg)(r);
			TAC_(expect_vec3)(2 * half * ux, 2 * half * uy, 2 * half * uz, within, r);
			expect(2 * half, within, (long double)TAC_(quat_angle)(q));
		}
	TAC_(expect_vec3)(0, 0, 0, 0, TAC_(quat_log)(TAC_(quat_identity)()));
	TAC_(expect_vec3)(0, 0, 0, 0, TAC_(quat_log)(TAC_(quat_neg)(TAC_(quat_identity)())));
	TAC_(expect_vec3)(0, 0, 0, 0, TAC_(quat_log)(TAC_(quat_make)(0, 0, 0, 0)));
	TAC_(vec3) turn = TAC_(quat_log)(TAC_(quat_make)(0, -1, 0, 0));
	TAC_(expect_vec3)(0, -acosl(-1), 0, 2 * EPS, turn);
}

static void IN_(logarithm_inverts_the_exponential)(void)
{
	for (int n = 0; n < 1000; n++) {
		TAC_(vec3) r = TAC_(random_vec3)(TAC_K(1.8)); // up to 3.12 < pi
		TAC_(expect_vec3)
		((long double)r.x, (long double)r.y, (long double)r.z, 16 * EPS,
		 TAC_(quat_log)(TAC_(quat_exp)(r)));
	}
}

static void IN_(slerp_rotates_at_constant_speed_along_the_shorter_arc)(void)
{
	long double pi = acosl(-1);
	for (int n = 0; n < 1000; n++) {
		TAC_(quat) a = TAC_(random_quat)();
		tac_dvec3 u = tac_rng_unit_f64(&rng);
		TAC_(vec3) axis = TAC_(vec3_make)((REAL)u.x, (REAL)u.y, (REAL)u.z);
		// From parallel to almost opposite: 2^-1 … 2^-60, pi - 2^-1 … pi - 2^-20, then any.
		REAL angle = n < 60   ? TAC_MATH(ldexp)(1, -n - 1)
			     : n < 80 ? (REAL)(pi - ldexpl(1, 59 - n))
				      : TAC_(uniform)(0, TAC_K(3.1));
		REAL t = TAC_(uniform)(0, 1);
		TAC_(quat) b = TAC_(quat_mul)(a, TAC_(quat_from_axis_angle)(axis, angle));
		TAC_(quat) want = TAC_(quat_mul)(a, TAC_(quat_from_axis_angle)(axis, t * angle));
		TAC_(quat) got = TAC_(quat_slerp)(a, b, t);
		TAC_(expect_rotation)(want, 16 * EPS, got);
		TAC_(expect_rotation)(want, 16 * EPS, TAC_(quat_slerp)(a, TAC_(quat_neg)(b), t));
		TAC_(expect_rotation)(a, 0, TAC_(quat_slerp)(a, b, 0));
		TAC_(expect_rotation)(b, 0, TAC_(quat_slerp)(a, b, 1));
	}
}

static void IN_(slerp_between_equal_rotations_is_constant)(void)
{
	for (int n = 0; n < 100; n++) {
		TAC_(quat) q = TAC_(random_quat)();
		REAL t = TAC_(uniform)(0, 1);
		TAC_(expect_rotation)(q, EPS, TAC_(quat_slerp)(q, q, t));
		TAC_(expect_rotation)(q, EPS, TAC_(quat_slerp)(q, TAC_(quat_neg)(q), t));
	}
	// Half a turn apart: the dot product is 0 and the sign of b selects the arc.
	TAC_(quat) half = TAC_(quat_slerp)(TAC_(quat_identity)(), TAC_(quat_make)(0, 0, 1, 0), TAC_K(0.5));
	TAC_(expect_vec3)(0, 0, sqrtl(0.5L), EPS, TAC_(quat_imaginary)(half));
}

static TAC_(pose) TAC_(random_pose)(void)
{
	TAC_(vec3) position = TAC_(random_vec3)(1);
	return TAC_(pose_make)(position, TAC_(random_quat)());
}

static void IN_(pose_maps_coordinates_of_b_to_a)(void)
{
	// B is at x = 1 in A, rotated by 90 degrees about z: B's x axis points along A's y.
	REAL h = TAC_MATH(sqrt)(TAC_K(0.5));
	TAC_(pose) T_A_B = TAC_(pose_make)(TAC_(vec3_make)(1, 0, 0), TAC_(quat_make)(0, 0, h, h));
	TAC_(expect_vec3)(1, 2, 0, 4 * EPS, TAC_(pose_apply_point)(T_A_B, TAC_(vec3_make)(2, 0, 0)));
	TAC_(expect_vec3)(0, 2, 0, 4 * EPS, TAC_(pose_apply_vector)(T_A_B, TAC_(vec3_make)(2, 0, 0)));
	TAC_(pose) T_B_A = TAC_(pose_inverse)(T_A_B);
	TAC_(expect_vec3)(2, 0, 0, 4 * EPS, TAC_(pose_apply_point)(T_B_A, TAC_(vec3_make)(1, 2, 0)));
}

static void IN_(poses_compose_invert_and_relate)(void)
{
	for (int n = 0; n < 300; n++) {
		TAC_(pose) T_A_B = TAC_(random_pose)(), T_B_C = TAC_(random_pose)();
		TAC_(vec3) p_C = TAC_(random_vec3)(1);
		long double ab[3][3], bc[3][3], p_B[3], p_A[3],
			c[3] = {(long double)p_C.x, (long double)p_C.y, (long double)p_C.z};
		TAC_(exact_rotation)(T_A_B.rotation, ab);
		TAC_(exact_rotation)(T_B_C.rotation, bc);
		for (int i = 0; i < 3; i++)
			p_B[i] = bc[i][0] * c[0] + bc[i][1] * c[1] + bc[i][2] * c[2] +
				 (long double)TAC_(vec3_get)(T_B_C.position, i);
		for (int i = 0; i < 3; i++)
			p_A[i] = ab[i][0] * p_B[0] + ab[i][1] * p_B[1] + ab[i][2] * p_B[2] +
				 (long double)TAC_(vec3_get)(T_A_B.position, i);
		TAC_(pose) T_A_C = TAC_(pose_compose)(T_A_B, T_B_C);
		TAC_(expect_vec3)(p_A[0], p_A[1], p_A[2], 40 * EPS, TAC_(pose_apply_point)(T_A_C, p_C));
		TAC_(vec3) there = TAC_(pose_apply_point)(T_A_C, p_C);
		TAC_(vec3) back = TAC_(pose_apply_point)(TAC_(pose_inverse)(T_A_C), there);
		TAC_(expect_vec3)(c[0], c[1], c[2], 60 * EPS, back);
		TAC_(pose) relative = TAC_(pose_relative)(T_A_B, T_A_C);
		TAC_(expect_vec3)(p_B[0], p_B[1], p_B[2], 40 * EPS, TAC_(pose_apply_point)(relative, p_C));
		TAC_(expect_rotation)(T_B_C.rotation, 16 * EPS, relative.rotation);
	}
}

static void IN_(relative_pose_keeps_its_digits_far_from_the_origin)(void)
{
	TAC_(pose) a = TAC_(random_pose)(), b = a;
	a.position = TAC_(vec3_make)(1024, -2048, 4096);
	b.position = TAC_(vec3_add)(a.position, TAC_(vec3_make)(TAC_K(0.125), 0, TAC_K(0.25)));
	TAC_(vec3) distance = TAC_(pose_relative)(a, b).position;
	expect(sqrtl(0.078125L), 8 * EPS, (long double)TAC_(vec3_length)(distance));
}

static void IN_(pose_interpolates_from_end_to_end)(void)
{
	for (int n = 0; n < 100; n++) {
		TAC_(pose) a = TAC_(random_pose)(), b = TAC_(random_pose)();
		TAC_(pose) first = TAC_(pose_interpolate)(a, b, 0), last = TAC_(pose_interpolate)(a, b, 1);
		TAC_(expect_same)(a.position, first.position);
		TAC_(expect_same)(b.position, last.position);
		TAC_(expect_rotation)(a.rotation, 0, first.rotation);
		TAC_(expect_rotation)(b.rotation, 0, last.rotation);
		TAC_(pose) middle = TAC_(pose_interpolate)(a, b, TAC_K(0.5));
		REAL left = TAC_(quat_angle)(TAC_(pose_relative)(a, middle).rotation);
		REAL right = TAC_(quat_angle)(TAC_(pose_relative)(middle, b).rotation);
		expect((long double)left, 32 * EPS, (long double)right);
		TEST_ASSERT_TRUE(TAC_(pose_finite)(middle));
	}
	TAC_(pose) broken = TAC_(pose_identity)();
	broken.rotation.y = (REAL)NAN;
	TEST_ASSERT_FALSE(TAC_(pose_finite)(broken));
	broken = TAC_(pose_identity)();
	broken.position.z = (REAL)INFINITY;
	TEST_ASSERT_FALSE(TAC_(pose_finite)(broken));
}

static void IN_(pose_after_a_twist_between_two_poses_is_the_second)(void)
{
	for (int n = 0; n < 100; n++) {
		TAC_(pose) a = TAC_(random_pose)(), b = TAC_(random_pose)();
		TAC_(twist) t = TAC_(twist_between)(a, b), half = TAC_(twist_scale)(t, TAC_K(0.5));
		TAC_(pose) end = TAC_(pose_after)(a, t, 1), middle = TAC_(pose_after)(a, t, TAC_K(0.5));
		TAC_(expect_vec3)
		((long double)b.position.x, (long double)b.position.y, (long double)b.position.z, 16 * EPS,
		 end.position);
		expect(0, 64 * EPS, (long double)TAC_(quat_angle)(TAC_(pose_relative)(b, end).rotation));
		TAC_(expect_same)(middle.position, TAC_(pose_after)(a, half, 1).position);
		TAC_(expect_same)(t.v, TAC_(twist_add)(half, half).v);
		TAC_(expect_same)(t.w, TAC_(twist_add)(half, half).w);
		TAC_(pose) resting = TAC_(pose_after)(a, TAC_(twist_zero)(), 1);
		TEST_ASSERT_EQUAL_MEMORY(&a.rotation, &resting.rotation, sizeof a.rotation);
		TEST_ASSERT_TRUE(TAC_(vec3_length)(TAC_(twist_between)(a, a).w) == 0);
		TAC_(vec3) point = TAC_(vec3_normalize)(TAC_(random_vec3)(1));
		TAC_(vec3) way =
			TAC_(vec3_sub)(TAC_(pose_apply_point)(b, point), TAC_(pose_apply_point)(a, point));
		TEST_ASSERT_TRUE(TAC_(vec3_length)(way) <= TAC_(twist_travel)(t, 1) * (1 + 16 * (REAL)EPS));
	}
}

static void IN_(run_all)(void)
{
	RUN_TEST(IN_(vector_operations_give_known_answers));
	RUN_TEST(IN_(cross_product_is_right_handed_and_exactly_antisymmetric));
	RUN_TEST(IN_(lerp_is_exact_at_both_ends));
	RUN_TEST(IN_(min_and_max_return_the_second_operand_for_nan_and_equal_zeros));
	RUN_TEST(IN_(length_and_direction_survive_every_magnitude));
	RUN_TEST(IN_(length_and_direction_of_degenerate_vectors_are_defined));
	RUN_TEST(IN_(denormal_vectors_count_as_zero_only_where_denormals_are_flushed));
	RUN_TEST(IN_(perpendicular_is_a_unit_vector_at_a_right_angle));
	RUN_TEST(IN_(triangle_normal_points_to_the_counter_clockwise_side));
	RUN_TEST(IN_(matrix_operations_agree_with_written_out_sums));
	RUN_TEST(IN_(determinant_and_inverse_agree_with_integer_arithmetic));
	RUN_TEST(IN_(inverse_of_tiny_and_huge_matrices_does_not_underflow));
	RUN_TEST(IN_(inverse_of_a_singular_or_broken_matrix_is_zero));
	RUN_TEST(IN_(skew_and_outer_are_cross_and_dot_products));
	RUN_TEST(IN_(orthonormality_error_measures_stretch_and_shear));
	RUN_TEST(IN_(quaternions_multiply_by_hamiltons_rule));
	RUN_TEST(IN_(rotations_agree_with_rodrigues_formula));
	RUN_TEST(IN_(product_of_quaternions_rotates_by_the_right_one_first));
	RUN_TEST(IN_(normalized_quaternion_keeps_direction_at_every_magnitude));
	RUN_TEST(IN_(quaternion_of_a_matrix_is_accurate_in_all_four_branches));
	RUN_TEST(IN_(exponential_is_accurate_at_every_angle));
	RUN_TEST(IN_(logarithm_is_accurate_at_small_angles_and_near_pi));
	RUN_TEST(IN_(logarithm_inverts_the_exponential));
	RUN_TEST(IN_(slerp_rotates_at_constant_speed_along_the_shorter_arc));
	RUN_TEST(IN_(slerp_between_equal_rotations_is_constant));
	RUN_TEST(IN_(pose_maps_coordinates_of_b_to_a));
	RUN_TEST(IN_(poses_compose_invert_and_relate));
	RUN_TEST(IN_(relative_pose_keeps_its_digits_far_from_the_origin));
	RUN_TEST(IN_(pose_interpolates_from_end_to_end));
	RUN_TEST(IN_(pose_after_a_twist_between_two_poses_is_the_second));
}

#undef REAL
#undef EPS
#undef TAC_REAL
#undef TAC_
#undef IN_
#undef TAC_K
#undef TAC_MATH
#undef TAC_LIMIT
