// Part of base/algebra.h, compiled for float and for double: rigid transforms with the rotation as a matrix,
// for code that moves many points by one transform. As with poses, T_A_B maps B's coordinates to A's:
// x_A = R x_B + t.

typedef struct TAC_(rigid) {
	TAC_(mat3) R;
	TAC_(vec3) t; // in metres unless stated otherwise
} TAC_(rigid);

static inline TAC_(rigid) TAC_(rigid_from_pose)(TAC_(pose) T)
{
	TAC_(rigid) rigid = {TAC_(mat3_from_quat)(T.rotation), T.position};
	return rigid;
}

static inline TAC_(vec3) TAC_(rigid_apply_point)(const TAC_(rigid) *T_A_B, TAC_(vec3) point_B)
{
	return TAC_(vec3_add)(TAC_(mat3_apply)(T_A_B->R, point_B), T_A_B->t);
}

static inline TAC_(rigid) TAC_(rigid_inverse)(const TAC_(rigid) *T_A_B)
{
	TAC_(rigid) T_B_A = {TAC_(mat3_transpose)(T_A_B->R),
			     TAC_(vec3_neg)(TAC_(mat3_transpose_apply)(T_A_B->R, T_A_B->t))};
	return T_B_A;
}

// Whether all twelve numbers are finite.
static inline bool TAC_(rigid_finite)(const TAC_(rigid) *T)
{
	TAC_REAL sum = T->t.x * 0 + T->t.y * 0 + T->t.z * 0;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			sum += T->R.m[i][j] * 0;
	return sum == 0; // NaN and infinities make it NaN
}
