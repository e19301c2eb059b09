// Part of base/algebra.h, compiled for float and for double: quaternions as rotations. Unless stated
// otherwise a quaternion argument has unit length to rounding; q and -q are the same rotation.

typedef struct TAC_(quat) {
	TAC_REAL x, y, z, w;
} TAC_(quat);

static inline TAC_(quat) TAC_(quat_make)(TAC_REAL x, TAC_REAL y, TAC_REAL z, TAC_REAL w)
{
	TAC_(quat) q = {x, y, z, w};
	return q;
}

static inline TAC_(quat) TAC_(quat_identity)(void)
{
	return TAC_(quat_make)(0, 0, 0, 1);
}

// x, y, z as a vector.
static inline TAC_(vec3) TAC_(quat_imaginary)(TAC_(quat) q)
{
	return TAC_(vec3_make)(q.x, q.y, q.z);
}

static inline TAC_REAL TAC_(quat_dot)(TAC_(quat) a, TAC_(quat) b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

static inline bool TAC_(quat_finite)(TAC_(quat) q)
{
	return TAC_(vec3_finite)(TAC_(quat_imaginary)(q)) && q.w - q.w == 0;
}

// The inverse of a unit quaternion.
static inline TAC_(quat) TAC_(quat_conjugate)(TAC_(quat) q)
{
	return TAC_(quat_make)(-q.x, -q.y, -q.z, q.w);
}

// The same rotation, the other sign.
static inline TAC_(quat) TAC_(quat_neg)(TAC_(quat) q)
{
	return TAC_(quat_make)(-q.x, -q.y, -q.z, -q.w);
}

// Rotates by b, then by a. Accepts quaternions of any length.
static inline TAC_(quat) TAC_(quat_mul)(TAC_(quat) a, TAC_(quat) b)
{
	return TAC_(quat_make)(
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}

// q at unit length, q of any length; the identity for zero, infinite or NaN input.
static inline TAC_(quat) TAC_(quat_normalize)(TAC_(quat) q)
{
	TAC_(vec3) a = TAC_(vec3_abs)(TAC_(quat_imaginary)(q));
	TAC_REAL largest = TAC_(vec3_max_component)(a);
	if (TAC_MATH(fabs)(q.w) > largest)
		largest = TAC_MATH(fabs)(q.w);
	if (!TAC_(quat_finite)(q) || largest == 0)
		return TAC_(quat_identity)();
	TAC_(quat) u = TAC_(quat_make)(q.x / largest, q.y / largest, q.z / largest, q.w / largest);
	TAC_REAL length = TAC_MATH(sqrt)(TAC_(quat_dot)(u, u));
	return TAC_(quat_make)(u.x / length, u.y / length, u.z / length, u.w / length);
}

// v rotated by q. For many vectors convert q to a matrix first.
static inline TAC_(vec3) TAC_(quat_rotate)(TAC_(quat) q, TAC_(vec3) v)
{
	TAC_(vec3) i = TAC_(quat_imaginary)(q);
	TAC_(vec3) t = TAC_(vec3_scale)(TAC_(vec3_cross)(i, v), 2);
	return TAC_(vec3_add)(TAC_(vec3_add_scaled)(v, q.w, t), TAC_(vec3_cross)(i, t));
}

// By `angle` about `axis`, which may have any length; the identity for a zero axis.
static inline TAC_(quat) TAC_(quat_from_axis_angle)(TAC_(vec3) axis, TAC_REAL angle)
{
	TAC_(vec3) u = TAC_(vec3_normalize)(axis);
	if (TAC_(vec3_dot)(u, u) == 0)
		return TAC_(quat_identity)();
	TAC_(vec3) i = TAC_(vec3_scale)(u, TAC_MATH(sin)(TAC_K(0.5) * angle));
	return TAC_(quat_make)(i.x, i.y, i.z, TAC_MATH(cos)(TAC_K(0.5) * angle));
}

static inline TAC_(mat3) TAC_(mat3_from_quat)(TAC_(quat) q)
{
	TAC_REAL x = 2 * q.x, y = 2 * q.y, z = 2 * q.z;
	TAC_REAL xx = x * q.x, yy = y * q.y, zz = z * q.z;
	TAC_REAL xy = x * q.y, yz = y * q.z, zx = z * q.x;
	TAC_REAL wx = x * q.w, wy = y * q.w, wz = z * q.w;
	return TAC_(mat3_from_rows)(TAC_(vec3_make)(1 - (yy + zz), xy - wz, zx + wy),
				    TAC_(vec3_make)(xy + wz, 1 - (xx + zz), yz - wx),
				    TAC_(vec3_make)(zx - wy, yz + wx, 1 - (xx + yy)));
}

// The same rotation as quat_from_axis_angle.
static inline TAC_(mat3) TAC_(mat3_from_axis_angle)(TAC_(vec3) axis, TAC_REAL angle)
{
	return TAC_(mat3_from_quat)(TAC_(quat_from_axis_angle)(axis, angle));
}

// The unit quaternion of the rotation m, normalized because m may be a rotation only to rounding. Divides by
// the largest of the four components, so it is accurate at every angle (Shepperd, "Quaternion from rotation
// matrix", J. Guidance and Control 1(3), 1978).
static inline TAC_(quat) TAC_(quat_from_mat3)(TAC_(mat3) m)
{
	TAC_REAL a = m.m[0][0], b = m.m[1][1], c = m.m[2][2];
	TAC_REAL yz = m.m[2][1] - m.m[1][2], zx = m.m[0][2] - m.m[2][0], xy = m.m[1][0] - m.m[0][1];
	TAC_REAL sxy = m.m[1][0] + m.m[0][1], syz = m.m[2][1] + m.m[1][2], szx = m.m[0][2] + m.m[2][0];
	TAC_REAL trace = a + b + c;
	TAC_(quat) q;
	if (trace >= a && trace >= b && trace >= c)
		q = TAC_(quat_make)(yz, zx, xy, 1 + trace);
	else if (a >= b && a >= c)
		q = TAC_(quat_make)(1 + a - b - c, sxy, szx, yz);
	else if (b >= c)
		q = TAC_(quat_make)(sxy, 1 - a + b - c, syz, zx);
	else
		q = TAC_(quat_make)(szx, syz, 1 - a - b + c, xy);
	return TAC_(quat_normalize)(q);
}

// The exponential map: the rotation by |r| rad about r, for any finite r. Accurate relative to |r| at small
// angles.
static inline TAC_(quat) TAC_(quat_exp)(TAC_(vec3) r)
{
	TAC_REAL angle = TAC_(vec3_length)(r);
	// sin(angle / 2) / angle = 1/2 - angle^2 / 48 + …: below this bound 1/2 is right to the last bit.
	TAC_REAL s =
		angle * angle < TAC_LIMIT(EPSILON) ? TAC_K(0.5) : TAC_MATH(sin)(TAC_K(0.5) * angle) / angle;
	return TAC_(quat_make)(r.x * s, r.y * s, r.z * s, TAC_MATH(cos)(TAC_K(0.5) * angle));
}

// The rotation vector of q, of length 0 to pi: the inverse of exp, by the shorter rotation. At exactly pi
// both directions are valid and the sign of q selects one. Accurate at small angles and near pi; the length
// of q does not matter, zero gives zero.
static inline TAC_(vec3) TAC_(quat_log)(TAC_(quat) q)
{
	if (q.w < 0)
		q = TAC_(quat_neg)(q);
	TAC_(vec3) i = TAC_(quat_imaginary)(q);
	TAC_REAL n = TAC_(vec3_length)(i);
	if (n == 0)
		return i;
	// atan(n / w) / n = (1 - n^2 / 3 w^2 + …) / w: below this bound 2 / w is right to the last bit.
	if (n * n < TAC_K(0.25) * TAC_LIMIT(EPSILON) * q.w * q.w)
		return TAC_(vec3_scale)(i, 2 / q.w);
	return TAC_(vec3_scale)(i, 2 * TAC_MATH(atan2)(n, q.w) / n);
}

// The angle of rotation, 0 to pi. Accurate at both ends, unlike 2 acos(w).
static inline TAC_REAL TAC_(quat_angle)(TAC_(quat) q)
{
	return 2 * TAC_MATH(atan2)(TAC_(vec3_length)(TAC_(quat_imaginary)(q)), TAC_MATH(fabs)(q.w));
}

// From a at t = 0 to b at t = 1 at constant angular speed along the shorter arc (to -b, the same rotation,
// where that is nearer). Rotations exactly pi apart have two shortest arcs; the sign of b selects one. `t` is
// not clamped. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985; the angle is measured by
// chords (Kahan), so nearly equal rotations keep their digits.
static inline TAC_(quat) TAC_(quat_slerp)(TAC_(quat) a, TAC_(quat) b, TAC_REAL t)
{
	if (TAC_(quat_dot)(a, b) < 0)
		b = TAC_(quat_neg)(b);
	TAC_(quat) d = TAC_(quat_make)(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
	TAC_(quat) s = TAC_(quat_make)(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
	TAC_REAL angle = 2 * TAC_MATH(atan2)(TAC_MATH(sqrt)(TAC_(quat_dot)(d, d)),
					     TAC_MATH(sqrt)(TAC_(quat_dot)(s, s)));
	TAC_REAL u = 1 - t;
	// sin(t angle) / sin(angle) = t (1 + (1 - t^2) angle^2 / 6 + …): below this bound t is right.
	if (angle * angle >= TAC_LIMIT(EPSILON)) {
		u = TAC_MATH(sin)(u * angle) / TAC_MATH(sin)(angle);
		t = TAC_MATH(sin)(t * angle) / TAC_MATH(sin)(angle);
	}
	return TAC_(quat_make)(u * a.x + t * b.x, u * a.y + t * b.y, u * a.z + t * b.z, u * a.w + t * b.w);
}
