#include "haptic/servo/drilling.h"

#include "base/log.h"

#include <math.h>

#define PI 3.14159265358979323846

// The vibration is at most this fast, in periods of the loop: a faster one would alias.
#define VIBRATION_PERIODS 6

static tac_burr burr_of(const tac_scene_drill *d)
{
	return (tac_burr){d->length_m > 0 ? TAC_BURR_CYLINDER : TAC_BURR_ROUND,
			  {0, 0, 0},
			  {0, 0, d->length_m},
			  d->radius_m};
}

static tac_result start_drill(tac_servo_drilling *g, const tac_scene_tool *tool)
{
	const tac_scene_drill *d = &tool->drill;
	const tac_world_body *body = &g->world->objects[g->object];
	tac_drill_def def = {
		.burr = burr_of(d),
		.speed_rad_per_s = d->speed_rpm * 2 * PI / 60,
		.power_W = d->power_W,
		.thrust_ratio = d->thrust_ratio,
		.field = g->field,
	};
	for (int i = 0; i < TAC_FIELD_LABELS; i++) {
		const tac_material *m = &g->world->materials[body->field_material[i]];
		def.materials[i] = (tac_drill_material){
			m->feed_m_per_N_s > 0 ? tac_drill_energy_of_feed(&def, m->feed_m_per_N_s)
					      : m->cutting_energy_J_per_m3,
			m->rub_N};
	}
	const double most = 2 * PI / (VIBRATION_PERIODS * g->period_s);
	g->frequency_rad_per_s = fmin(def.speed_rad_per_s, most);
	g->amplitude_N = d->vibration_N;
	g->button = d->button;
	g->used = true;
	return tac_drill_init(&g->drill, tool->name, &def);
}

tac_result tac_servo_drilling_init(tac_servo_drilling *drilling, const tac_world *world, int32_t tool,
				   int64_t period_ns)
{
	tac_servo_drilling *g = drilling;
	const tac_scene *scene = world->scene;
	*g = (tac_servo_drilling){.world = world, .period_s = (double)period_ns / 1e9, .label = -1};
	for (int32_t i = 0; i < scene->object_count; i++) {
		if (!world->objects[i].field)
			continue;
		g->object = i;
		const tac_result result = tac_field_copy(world->objects[i].field, &g->field);
		if (result < TAC_OK)
			return result;
	}
	return g->field && scene->tools[tool].drill.radius_m > 0 ? start_drill(g, &scene->tools[tool])
								 : TAC_OK;
}

void tac_servo_drilling_fini(tac_servo_drilling *drilling)
{
	if (!drilling->borrowed)
		tac_field_destroy(&drilling->field);
	drilling->field = NULL;
}

void tac_servo_drilling_share(tac_servo_drilling *drilling, const tac_servo_drilling *owner)
{
	tac_servo_drilling_fini(drilling);
	drilling->field = drilling->drill.def.field = owner->field;
	drilling->borrowed = true;
}

void tac_servo_drilling_allow(tac_servo_drilling *drilling, uint32_t buttons, double elapsed_s)
{
	tac_servo_drilling *g = drilling;
	if (!g->used)
		return;
	const bool running = g->button < 0 || (buttons >> g->button & 1u);
	tac_drill_allow(&g->drill, running, g->force_N, g->label, elapsed_s);
}

double tac_servo_drilling_vibrate(tac_servo_drilling *drilling, double elapsed_s)
{
	tac_servo_drilling *g = drilling;
	if (!g->used)
		return 0;
	g->phase_rad = fmod(g->phase_rad + g->frequency_rad_per_s * elapsed_s, 2 * PI);
	// The amplitude grows with the root of the load, so that a light cut is felt, too.
	const double load = fmin(fmax(g->drill.state.load, 0), 1);
	g->vibration_N = g->drill.state.running ? g->amplitude_N * sqrt(load) * sin(g->phase_rad) : 0;
	return g->vibration_N;
}

void tac_servo_drilling_cut(tac_servo_drilling *drilling, const tac_sco_report *report,
			    double stiffness_N_per_m, const tac_dpose *trail, int32_t count,
			    tac_dpose T_world_object)
{
	tac_servo_drilling *g = drilling;
	if (!g->used)
		return;
	tac_dvec3 force = tac_dvec3_zero();
	double most = 0;
	g->label = -1;
	g->touching = false;
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		if (c->object != g->object)
			continue;
		g->touching = true;
		force = tac_dvec3_add_scaled(force, stiffness_N_per_m * c->load_m, c->normal);
		if (c->load_m > most) {
			most = c->load_m;
			g->label = c->object_surface;
		}
	}
	g->force_N = tac_dpose_apply_vector(tac_dpose_inverse(T_world_object), force);
	tac_drill_cut(&g->drill, trail, count, g->touching);
}

void tac_servo_drilling_fill(const tac_servo_drilling *drilling, tac_snapshot_drill *out)
{
	*out = (tac_snapshot_drill){0};
	if (drilling->used)
		*out = (tac_snapshot_drill){true, drilling->object, drilling->vibration_N,
					    drilling->drill.state};
}
