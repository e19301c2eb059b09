// Algebra: 3-vectors, 3x3 matrices, quaternions, poses, twists and rigid transforms. Every type and function
// exists in float (tac_vec3, tac_vec3_add: geometry and queries) and in double (tac_dvec3, tac_dvec3_add:
// what accumulates or iterates). Both are generated from base/vec3.inl, mat3.inl, quat.inl, pose.inl,
// twist.inl and rigid.inl, which document the functions. The precisions mix only in the explicit conversions
// at the end of this header.
//
// Conventions: right-handed frames, column vectors, angles in rad. T_A_B maps coordinates of frame B to
// coordinates of frame A, so T_A_C = compose(T_A_B, T_B_C). Matrices are row-major. Quaternions are stored
// x, y, z, w with the scalar last, multiply by Hamilton's rule, and mul(a, b) rotates by b first, then by a.
//
// Degenerate input has a defined result, stated at each function; none asserts, none traps. No function
// depends on denormals: with flush-to-zero and denormals-are-zero set (as on the real-time thread), a
// component below FLT_MIN or DBL_MIN counts as 0, and length, normalize, inverse, exp and log lose nothing
// above those limits to underflow.
//
// Thread: RT, every function.
#ifndef TAC_BASE_ALGEBRA_H
#define TAC_BASE_ALGEBRA_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The parameters of the .inl files. TAC_(vec3_add) is the name of a function or type, TAC_K(0.5) a constant,
// TAC_MATH(sqrt) a function of the C library, TAC_LIMIT(EPSILON) a constant of <float.h>.
// Each file builds on the ones before it.
#define TAC_REAL        float
#define TAC_(name)      tac_##name
#define TAC_K(constant) constant##f
#define TAC_MATH(name)  name##f
#define TAC_LIMIT(name) FLT_##name
// clang-format off
#include "base/vec3.inl"
#include "base/mat3.inl"
#include "base/quat.inl"
#include "base/pose.inl"
#include "base/twist.inl"
#include "base/rigid.inl"
// clang-format on
#undef TAC_REAL
#undef TAC_
#undef TAC_K
#undef TAC_MATH
#undef TAC_LIMIT

#define TAC_REAL        double
#define TAC_(name)      tac_d##name
#define TAC_K(constant) constant
#define TAC_MATH(name)  name
#define TAC_LIMIT(name) DBL_##name
// clang-format off
#include "base/vec3.inl"
#include "base/mat3.inl"
#include "base/quat.inl"
#include "base/pose.inl"
#include "base/twist.inl"
#include "base/rigid.inl"
// clang-format on
#undef TAC_REAL
#undef TAC_
#undef TAC_K
#undef TAC_MATH
#undef TAC_LIMIT

// To double: exact.
static inline tac_dvec3 tac_dvec3_from_vec3(tac_vec3 v)
{
	return tac_dvec3_make((double)v.x, (double)v.y, (double)v.z);
}

static inline tac_dmat3 tac_dmat3_from_mat3(tac_mat3 m)
{
	return tac_dmat3_from_rows(tac_dvec3_from_vec3(tac_mat3_row(m, 0)),
				   tac_dvec3_from_vec3(tac_mat3_row(m, 1)),
				   tac_dvec3_from_vec3(tac_mat3_row(m, 2)));
}

// A unit quaternion in float has unit length only to about 1e-7: normalize it where double accuracy counts.
static inline tac_dquat tac_dquat_from_quat(tac_quat q)
{
	return tac_dquat_make((double)q.x, (double)q.y, (double)q.z, (double)q.w);
}

static inline tac_dpose tac_dpose_from_pose(tac_pose T)
{
	return tac_dpose_make(tac_dvec3_from_vec3(T.position), tac_dquat_from_quat(T.rotation));
}

// To float: rounds to nearest; beyond FLT_MAX it becomes infinite.
static inline float tac_f32_from_f64(double x)
{
	float rounded = (float)x;
	// gcc 12 on x86-64 merges the conversions of two neighbours into one vector conversion and, where the
	// result is widened again, drops both: x and y of a vector converted to float and back would keep
	// digits that no float has. The empty asm costs no instruction and hides the value's origin.
#if defined(__GNUC__) && !defined(__clang__) && defined(__SSE2__)
	__asm__("" : "+x"(rounded));
#endif
	return rounded;
}

static inline tac_vec3 tac_vec3_from_dvec3(tac_dvec3 v)
{
	return tac_vec3_make(tac_f32_from_f64(v.x), tac_f32_from_f64(v.y), tac_f32_from_f64(v.z));
}

static inline tac_mat3 tac_mat3_from_dmat3(tac_dmat3 m)
{
	return tac_mat3_from_rows(tac_vec3_from_dvec3(tac_dmat3_row(m, 0)),
				  tac_vec3_from_dvec3(tac_dmat3_row(m, 1)),
				  tac_vec3_from_dvec3(tac_dmat3_row(m, 2)));
}

static inline tac_quat tac_quat_from_dquat(tac_dquat q)
{
	return tac_quat_make(tac_f32_from_f64(q.x), tac_f32_from_f64(q.y), tac_f32_from_f64(q.z),
			     tac_f32_from_f64(q.w));
}

static inline tac_pose tac_pose_from_dpose(tac_dpose T)
{
	return tac_pose_make(tac_vec3_from_dvec3(T.position), tac_quat_from_dquat(T.rotation));
}

// The pose is rounded first, then its rotation becomes a matrix.
static inline tac_rigid tac_rigid_from_dpose(tac_dpose T)
{
	return tac_rigid_from_pose(tac_pose_from_dpose(T));
}

#ifdef __cplusplus
}
#endif

#endif
