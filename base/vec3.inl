// Part of base/algebra.h, compiled for float and for double: vectors of three components.

typedef struct TAC_(vec3) {
	TAC_REAL x, y, z;
} TAC_(vec3);

static inline TAC_(vec3) TAC_(vec3_make)(TAC_REAL x, TAC_REAL y, TAC_REAL z)
{
	TAC_(vec3) v = {x, y, z};
	return v;
}

static inline TAC_(vec3) TAC_(vec3_zero)(void)
{
	return TAC_(vec3_make)(0, 0, 0);
}

// All three components `s`.
static inline TAC_(vec3) TAC_(vec3_splat)(TAC_REAL s)
{
	return TAC_(vec3_make)(s, s, s);
}

// From and to three numbers in memory.
static inline TAC_(vec3) TAC_(vec3_load)(const TAC_REAL *xyz)
{
	return TAC_(vec3_make)(xyz[0], xyz[1], xyz[2]);
}

static inline void TAC_(vec3_store)(TAC_REAL *xyz, TAC_(vec3) v)
{
	xyz[0] = v.x;
	xyz[1] = v.y;
	xyz[2] = v.z;
}

// Component 0, 1 or 2.
static inline TAC_REAL TAC_(vec3_get)(TAC_(vec3) v, int component)
{
	return component == 0 ? v.x : component == 1 ? v.y : v.z;
}

static inline TAC_(vec3) TAC_(vec3_add)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline TAC_(vec3) TAC_(vec3_sub)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline TAC_(vec3) TAC_(vec3_neg)(TAC_(vec3) v)
{
	return TAC_(vec3_make)(-v.x, -v.y, -v.z);
}

static inline TAC_(vec3) TAC_(vec3_scale)(TAC_(vec3) v, TAC_REAL s)
{
	return TAC_(vec3_make)(v.x * s, v.y * s, v.z * s);
}

// Each component divided by `s`: more accurate than scaling by 1 / s, and safe where 1 / s would overflow.
static inline TAC_(vec3) TAC_(vec3_div)(TAC_(vec3) v, TAC_REAL s)
{
	return TAC_(vec3_make)(v.x / s, v.y / s, v.z / s);
}

// a + s b, with two roundings a component.
static inline TAC_(vec3) TAC_(vec3_add_scaled)(TAC_(vec3) a, TAC_REAL s, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// Component by component.
static inline TAC_(vec3) TAC_(vec3_mul)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x * b.x, a.y * b.y, a.z * b.z);
}

// (1 - t) a + t b: exactly a at t = 0 and b at t = 1. `t` is not clamped.
static inline TAC_(vec3) TAC_(vec3_lerp)(TAC_(vec3) a, TAC_(vec3) b, TAC_REAL t)
{
	return TAC_(vec3_add_scaled)(TAC_(vec3_scale)(a, 1 - t), t, b);
}

// By component a < b ? a : b, so b where either is NaN or both are zero: the rule of tac_f32x8_min.
static inline TAC_(vec3) TAC_(vec3_min)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

// By component a > b ? a : b, so b where either is NaN or both are zero: the rule of tac_f32x8_max.
static inline TAC_(vec3) TAC_(vec3_max)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static inline TAC_(vec3) TAC_(vec3_abs)(TAC_(vec3) v)
{
	return TAC_(vec3_make)(TAC_MATH(fabs)(v.x), TAC_MATH(fabs)(v.y), TAC_MATH(fabs)(v.z));
}

// The largest component; where one is NaN, unspecified.
static inline TAC_REAL TAC_(vec3_max_component)(TAC_(vec3) v)
{
	TAC_REAL xy = v.x > v.y ? v.x : v.y;
	return xy > v.z ? xy : v.z;
}

static inline TAC_REAL TAC_(vec3_dot)(TAC_(vec3) a, TAC_(vec3) b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

// cross(b, a) is exactly -cross(a, b).
static inline TAC_(vec3) TAC_(vec3_cross)(TAC_(vec3) a, TAC_(vec3) b)
{
	return TAC_(vec3_make)(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Overflows beyond 1.8e19 (float) or 1.3e154 (double), loses digits below 1e-19 or 1e-154; length does not.
static inline TAC_REAL TAC_(vec3_length_squared)(TAC_(vec3) v)
{
	return TAC_(vec3_dot)(v, v);
}

// Whether no component is infinite or NaN.
static inline bool TAC_(vec3_finite)(TAC_(vec3) v)
{
	// x - x is 0 for finite x and NaN otherwise; one sum, no branches.
	return (v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0;
}

// Euclidean length, without intermediate overflow or underflow for every finite v; infinite or NaN where a
// component is.
static inline TAC_REAL TAC_(vec3_length)(TAC_(vec3) v)
{
	TAC_REAL squared = TAC_(vec3_dot)(v, v);
	// Below MIN / EPSILON a square that was flushed to zero would matter.
	if (squared >= TAC_LIMIT(MIN) / TAC_LIMIT(EPSILON) && squared <= TAC_LIMIT(MAX))
		return TAC_MATH(sqrt)(squared);
	TAC_REAL largest = TAC_(vec3_max_component)(TAC_(vec3_abs)(v));
	if (!TAC_(vec3_finite)(v) || largest == 0)
		return squared;
	TAC_(vec3) u = TAC_(vec3_div)(v, largest);
	return largest * TAC_MATH(sqrt)(TAC_(vec3_dot)(u, u));
}

// v at unit length; the zero vector for zero, infinite or NaN input.
static inline TAC_(vec3) TAC_(vec3_normalize)(TAC_(vec3) v)
{
	TAC_REAL squared = TAC_(vec3_dot)(v, v);
	if (squared >= TAC_LIMIT(MIN) / TAC_LIMIT(EPSILON) && squared <= TAC_LIMIT(MAX))
		return TAC_(vec3_div)(v, TAC_MATH(sqrt)(squared));
	TAC_REAL largest = TAC_(vec3_max_component)(TAC_(vec3_abs)(v));
	if (!TAC_(vec3_finite)(v) || largest == 0)
		return TAC_(vec3_zero)();
	TAC_(vec3) u = TAC_(vec3_div)(v, largest);
	return TAC_(vec3_div)(u, TAC_MATH(sqrt)(TAC_(vec3_dot)(u, u)));
}

// A unit vector perpendicular to v, v of any length; the x axis for zero, infinite or NaN input. It is
// discontinuous where the smallest component of v changes.
static inline TAC_(vec3) TAC_(vec3_perpendicular)(TAC_(vec3) v)
{
	TAC_(vec3) u = TAC_(vec3_normalize)(v);
	TAC_(vec3) a = TAC_(vec3_abs)(u);
	if (a.x <= a.y && a.x <= a.z) // also the zero vector, whose result is the x axis
		return a.y + a.z > 0 ? TAC_(vec3_normalize)(TAC_(vec3_make)(0, -u.z, u.y))
				     : TAC_(vec3_make)(1, 0, 0);
	if (a.y <= a.z)
		return TAC_(vec3_normalize)(TAC_(vec3_make)(u.z, 0, -u.x));
	return TAC_(vec3_normalize)(TAC_(vec3_make)(-u.y, u.x, 0));
}

// (b - a) x (c - a): normal to the triangle a b c, towards the side from which it is counter-clockwise, with
// twice its area as length.
static inline TAC_(vec3) TAC_(vec3_triangle_cross)(TAC_(vec3) a, TAC_(vec3) b, TAC_(vec3) c)
{
	return TAC_(vec3_cross)(TAC_(vec3_sub)(b, a), TAC_(vec3_sub)(c, a));
}

// The unit normal of the triangle a b c; zero where it has no area.
static inline TAC_(vec3) TAC_(vec3_triangle_normal)(TAC_(vec3) a, TAC_(vec3) b, TAC_(vec3) c)
{
	return TAC_(vec3_normalize)(TAC_(vec3_triangle_cross)(a, b, c));
}
