// Finds the face of the directions' hull that a direction pierces, eight faces at a time.
#include "base/simd/wide.h"
#include "collision/trees/dop.h"

typedef tac_f32x8 f8;
typedef tac_i32x8 i8;

// The weights of a face and of its opposite differ only in sign, so half of the faces suffice.
void TAC_SIMD_NAME(tac_dop_locate)(const float inverse[9 * 24], const float direction[3 * 12],
				   int32_t out_face[12])
{
	// The last two lanes repeat the first two faces.
	static const int32_t faces[24] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
					  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 0,  1};
	for (int i = 0; i < 12; i++) {
		f8 x = tac_f32x8_splat(direction[i]), y = tac_f32x8_splat(direction[12 + i]);
		f8 z = tac_f32x8_splat(direction[24 + i]);
		f8 best = tac_f32x8_splat(-1e30F);
		i8 best_face = tac_i32x8_splat(0);
		for (int f = 0; f < 24; f += 8) {
			i8 face = tac_i32x8_loadu(faces + f);
			f8 w[3];
			for (int k = 0; k < 3; k++) {
				const float *row = inverse + 72 * k + f;
				w[k] = tac_f32x8_add(
					tac_f32x8_add(tac_f32x8_mul(tac_f32x8_load(row), x),
						      tac_f32x8_mul(tac_f32x8_load(row + 24), y)),
					tac_f32x8_mul(tac_f32x8_load(row + 48), z));
			}
			f8 least = tac_f32x8_min(w[0], tac_f32x8_min(w[1], w[2]));
			f8 opposite = tac_f32x8_neg(tac_f32x8_max(w[0], tac_f32x8_max(w[1], w[2])));
			tac_m32x8 better = tac_f32x8_gt(least, best);
			best = tac_f32x8_select(better, least, best);
			best_face = tac_i32x8_select(better, face, best_face);
			better = tac_f32x8_gt(opposite, best);
			best = tac_f32x8_select(better, opposite, best);
			best_face = tac_i32x8_select(
				better, tac_i32x8_add(face, tac_i32x8_splat(TAC_DOP_FACES / 2)), best_face);
		}
		f8 most = tac_f32x8_splat(tac_f32x8_hmax(best));
		unsigned lanes = tac_m32x8_movemask(tac_f32x8_eq(best, most));
		int32_t lane_face[8];
		tac_i32x8_storeu(lane_face, best_face);
		out_face[i] = lane_face[__builtin_ctz(lanes)];
	}
}
