// Part of base/algebra.h, compiled for float and for double: the motion of a body from one pose to another,
// in the frame of these poses.

typedef struct TAC_(twist) {
	TAC_(vec3) v; // of the body's origin, in metres unless stated otherwise
	TAC_(vec3) w; // rotation vector about that origin, rad
} TAC_(twist);

static inline TAC_(twist) TAC_(twist_make)(TAC_(vec3) v, TAC_(vec3) w)
{
	TAC_(twist) t = {v, w};
	return t;
}

static inline TAC_(twist) TAC_(twist_zero)(void)
{
	return TAC_(twist_make)(TAC_(vec3_zero)(), TAC_(vec3_zero)());
}

// By the shorter turn (quat_log). Equal rotations give no turn, without the rounding of their product.
static inline TAC_(twist) TAC_(twist_between)(TAC_(pose) from, TAC_(pose) to)
{
	TAC_(vec3) v = TAC_(vec3_sub)(to.position, from.position);
	TAC_(quat) a = from.rotation, b = to.rotation;
	if (a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w)
		return TAC_(twist_make)(v, TAC_(vec3_zero)());
	return TAC_(twist_make)(v, TAC_(quat_log)(TAC_(quat_mul)(b, TAC_(quat_conjugate)(a))));
}

static inline TAC_(twist) TAC_(twist_add)(TAC_(twist) a, TAC_(twist) b)
{
	return TAC_(twist_make)(TAC_(vec3_add)(a.v, b.v), TAC_(vec3_add)(a.w, b.w));
}

static inline TAC_(twist) TAC_(twist_scale)(TAC_(twist) t, TAC_REAL s)
{
	return TAC_(twist_make)(TAC_(vec3_scale)(t.v, s), TAC_(vec3_scale)(t.w, s));
}

// An upper bound of the travel of any point of the body within `radius` of its origin.
static inline TAC_REAL TAC_(twist_travel)(TAC_(twist) t, TAC_REAL radius)
{
	return TAC_(vec3_length)(t.v) + TAC_(vec3_length)(t.w) * radius;
}

// The pose after the fraction `s` of a motion: position and turn advance evenly. Without a turn the rotation
// stays the same to the bit.
static inline TAC_(pose) TAC_(pose_after)(TAC_(pose) T, TAC_(twist) t, TAC_REAL s)
{
	TAC_(vec3) position = TAC_(vec3_add_scaled)(T.position, s, t.v);
	if (TAC_(vec3_length_squared)(t.w) == 0)
		return TAC_(pose_make)(position, T.rotation);
	TAC_(quat) turn = TAC_(quat_exp)(TAC_(vec3_scale)(t.w, s));
	return TAC_(pose_make)(position, TAC_(quat_mul)(turn, T.rotation));
}
