#include "apps/viewer/chips.h"

#include <math.h>

#define LIFE_S 0.7F
#define MOST   8     // of one snapshot
#define SIZE   0.09F // of the burr's radius
#define SPEED  24.0F // radii in a second, at birth
#define DRAG   4.0F  // 1/s

void viewer_chips_init(viewer_chips *c)
{
	*c = (viewer_chips){.rng = tac_rng_seed(1, 0)};
}

// The direction in which the contacts press the tool, or upwards.
static tac_vec3 out_of_the_hole(const tac_snapshot *s)
{
	tac_dvec3 sum = tac_dvec3_make(0, 0, 1e-6);
	for (int32_t i = 0; i < s->contact_count; i++)
		sum = tac_dvec3_add(sum, s->contacts[i].force_N);
	return tac_vec3_from_dvec3(tac_dvec3_normalize(sum));
}

static void throw(viewer_chips * c, const tac_snapshot *s, float radius_m, int32_t label)
{
	const tac_vec3 way = tac_vec3_normalize(tac_vec3_add(tac_rng_unit_f32(&c->rng), out_of_the_hole(s)));
	const float speed = SPEED * radius_m * (0.4F + 0.6F * tac_rng_unit_f32(&c->rng).x);
	c->chips[c->made++ % VIEWER_CHIPS] = (viewer_chip){
		.born_ns = s->time_ns,
		.from = tac_vec3_add_scaled(tac_vec3_from_dvec3(s->T_world_sco.position), radius_m, way),
		.velocity_m_per_s = tac_vec3_scale(way, fabsf(speed)),
		.rotation = tac_quat_exp(tac_vec3_scale(tac_rng_unit_f32(&c->rng), 2)),
		.size_m = SIZE * radius_m,
		.label = label,
	};
}

void viewer_chips_add(viewer_chips *c, const tac_snapshot *s, float radius_m)
{
	if (!s->drill.used || s->time_ns <= c->time_ns)
		return;
	// A chip stands for three times its volume: dust is not drawn.
	const double chip_m3 = 3 * pow((double)(SIZE * radius_m), 3);
	c->time_ns = s->time_ns;
	int left = MOST;
	for (int32_t label = 0; label < TAC_FIELD_LABELS; label++) {
		const double removed = s->drill.state.removed_m3[label];
		for (; left > 0 && removed - c->removed_m3[label] >= chip_m3; left--) {
			throw(c, s, radius_m, label);
			c->removed_m3[label] += chip_m3;
		}
		if (left == 0)
			c->removed_m3[label] = removed;
	}
}

bool viewer_chips_at(const viewer_chips *c, int i, int64_t now_ns, tac_vec3 *out_position, float *out_left)
{
	const viewer_chip *chip = &c->chips[i];
	const float age_s = (float)(now_ns - chip->born_ns) / 1e9F;
	if (!(chip->size_m > 0) || age_s < 0 || age_s >= LIFE_S)
		return false;
	*out_position =
		tac_vec3_add_scaled(chip->from, (1 - expf(-DRAG * age_s)) / DRAG, chip->velocity_m_per_s);
	*out_left = 1 - age_s / LIFE_S;
	return true;
}
