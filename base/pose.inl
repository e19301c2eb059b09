// Part of base/algebra.h, compiled for float and for double: rigid poses. T_A_B maps B's coordinates to A's:
// p_A = rotation p_B + position, where position is B's origin in A, in metres unless stated otherwise.

typedef struct TAC_(pose) {
	TAC_(vec3) position;
	TAC_(quat) rotation; // unit length
} TAC_(pose);

static inline TAC_(pose) TAC_(pose_make)(TAC_(vec3) position, TAC_(quat) rotation)
{
	TAC_(pose) T = {position, rotation};
	return T;
}

static inline TAC_(pose) TAC_(pose_identity)(void)
{
	return TAC_(pose_make)(TAC_(vec3_zero)(), TAC_(quat_identity)());
}

static inline TAC_(vec3) TAC_(pose_apply_point)(TAC_(pose) T_A_B, TAC_(vec3) point_B)
{
	return TAC_(vec3_add)(T_A_B.position, TAC_(quat_rotate)(T_A_B.rotation, point_B));
}

// A direction, velocity or force: rotated, not translated.
static inline TAC_(vec3) TAC_(pose_apply_vector)(TAC_(pose) T_A_B, TAC_(vec3) vector_B)
{
	return TAC_(quat_rotate)(T_A_B.rotation, vector_B);
}

// T_A_C. The length error of the rotation adds up over long chains: normalize an accumulated rotation.
static inline TAC_(pose) TAC_(pose_compose)(TAC_(pose) T_A_B, TAC_(pose) T_B_C)
{
	return TAC_(pose_make)(TAC_(pose_apply_point)(T_A_B, T_B_C.position),
			       TAC_(quat_mul)(T_A_B.rotation, T_B_C.rotation));
}

// T_B_A.
static inline TAC_(pose) TAC_(pose_inverse)(TAC_(pose) T_A_B)
{
	TAC_(quat) back = TAC_(quat_conjugate)(T_A_B.rotation);
	return TAC_(pose_make)(TAC_(vec3_neg)(TAC_(quat_rotate)(back, T_A_B.position)), back);
}

// T_A_B of two poses in one frame. Positions are subtracted before they are rotated, so no digits are lost
// far from the origin.
static inline TAC_(pose) TAC_(pose_relative)(TAC_(pose) T_W_A, TAC_(pose) T_W_B)
{
	TAC_(quat) back = TAC_(quat_conjugate)(T_W_A.rotation);
	return TAC_(pose_make)(TAC_(quat_rotate)(back, TAC_(vec3_sub)(T_W_B.position, T_W_A.position)),
			       TAC_(quat_mul)(back, T_W_B.rotation));
}

// Linear in the position, slerp in the rotation. `t` is not clamped.
static inline TAC_(pose) TAC_(pose_interpolate)(TAC_(pose) a, TAC_(pose) b, TAC_REAL t)
{
	return TAC_(pose_make)(TAC_(vec3_lerp)(a.position, b.position, t),
			       TAC_(quat_slerp)(a.rotation, b.rotation, t));
}

// The same pose with a rotation of unit length (quat_normalize).
static inline TAC_(pose) TAC_(pose_normalize)(TAC_(pose) T)
{
	return TAC_(pose_make)(T.position, TAC_(quat_normalize)(T.rotation));
}

static inline bool TAC_(pose_finite)(TAC_(pose) T)
{
	return TAC_(vec3_finite)(T.position) && TAC_(quat_finite)(T.rotation);
}
