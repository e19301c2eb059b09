#include "haptic/task.h"

#include "base/log.h"
#include "collision/solid.h"
#include "haptic/servo/task_tissue.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORCE_BINS 1024
// Ticks over which the speed of a puncture is measured, at most.
#define SPEED_TICKS 256
#define SPEED_NS    20000000
// The normal force from which on a triangle counts as touched, N.
#define TOUCH_N 0.05

// Relative error of the sum of what was removed, so that all of it can be asked for.
#define ROUNDING 1e-6

// A sphere or capsule of a protected structure, in its object's frame.
typedef struct rounded {
	tac_dvec3 a, b;
	double radius_m;
} rounded;

typedef struct structure {
	int32_t object;
	const tac_clearance *clearance; // of a mesh, in its object's frame; NULL: it is solids
	tac_clearance_search search;
	rounded solids[TAC_SOLIDS_MAX];
	int32_t count;
} structure;

struct tac_task {
	const tac_world *world;
	int32_t tool;
	tac_task_figures figures;
	structure structures[TAC_TASK_STRUCTURES];
	int32_t target_object;                         // -1: none
	int32_t target_layer;                          // material of the scene; -1: none
	bool target_material[TAC_SCENE_MATERIALS + 1]; // of the world: should be removed

	// From tick to tick.
	int64_t ticks, begin_ns, last_ns;
	tac_dpose last_tool;
	tac_dvec3 last_device;
	bool touched, over, on_bone;
	int64_t touch_ticks;
	double touch_force_sum_N;
	uint32_t bins[FORCE_BINS + 1]; // the last one for what is beyond
	int32_t bin_95;                // with 95 % of the ticks in it and below
	int64_t below_95;              // ticks below it
	int32_t punctures, opened;
	double last_force_N; // along the needle
	struct {
		int64_t time_ns;
		double depth_m;
	} depths[SPEED_TICKS]; // ring
	int64_t depth_count;
	int64_t cut_ticks;
	double load_sum;

	// Coverage of the target object.
	bool *triangle_touched;
	double *triangle_area; // m^2
	double area_m2, covered_m2;

	tac_task_tissue tissue;
};

// ---- set-up ----

static tac_result parse_structure(tac_task *t, int32_t object, const tac_scene_structure *protect)
{
	tac_task_figures *f = &t->figures;
	if (f->structure_count == TAC_TASK_STRUCTURES) {
		tac_log(TAC_LOG_ERROR, "task: expected at most %d protected structures, found more",
			TAC_TASK_STRUCTURES);
		return TAC_ERROR_ARGUMENT;
	}
	structure *s = &t->structures[f->structure_count];
	s->object = object;
	const tac_scene_object *o = &t->world->scene->objects[object];
	s->clearance = t->world->objects[object].structures[protect - o->protect].clearance;
	tac_solids solids = {.count = 0};
	const tac_result result = s->clearance ? TAC_OK : tac_solids_parse(protect->solids, &solids);
	if (result < TAC_OK)
		return result;
	for (int32_t i = 0; i < solids.count; i++) {
		const tac_solid *solid = &solids.solid[i];
		if (solid->kind != TAC_SOLID_SPHERE && solid->kind != TAC_SOLID_CAPSULE) {
			tac_log(TAC_LOG_ERROR,
				"task: %s: expected spheres and capsules as a protected structure, found "
				"'%s'",
				protect->name, protect->solids);
			return TAC_ERROR_ARGUMENT;
		}
		const double half = solid->kind == TAC_SOLID_CAPSULE ? 0.5 * solid->height : 0;
		const tac_dvec3 axis = tac_dmat3_column(solid->rotation, 2);
		s->solids[s->count++] =
			(rounded){tac_dvec3_add_scaled(solid->position, -half, axis),
				  tac_dvec3_add_scaled(solid->position, half, axis), solid->radius};
	}
	f->structures[f->structure_count++] = (tac_task_structure){.name = protect->name,
								   .warn_m = protect->warn_m,
								   .distance_m = HUGE_VAL,
								   .least_distance_m = HUGE_VAL};
	return TAC_OK;
}

static tac_result prepare_coverage(tac_task *t)
{
	const char *name = t->world->scene->task.target;
	t->target_object = -1;
	for (int32_t i = 0; *name && i < t->world->scene->object_count; i++) {
		if (strcmp(t->world->scene->objects[i].name, name) == 0)
			t->target_object = i;
	}
	if (t->target_object < 0)
		return TAC_OK;
	const tac_mesh *mesh = t->world->objects[t->target_object].mesh;
	const size_t count = (size_t)mesh->triangle_count + 1;
	t->triangle_touched = calloc(count, sizeof *t->triangle_touched);
	t->triangle_area = calloc(count, sizeof *t->triangle_area);
	if (!t->triangle_touched || !t->triangle_area) {
		tac_log(TAC_LOG_ERROR, "task: no memory");
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		const tac_dvec3 cross = tac_dvec3_triangle_cross(tac_dvec3_from_vec3(mesh->vertices[v[0]]),
								 tac_dvec3_from_vec3(mesh->vertices[v[1]]),
								 tac_dvec3_from_vec3(mesh->vertices[v[2]]));
		t->triangle_area[i] = 0.5 * tac_dvec3_length(cross);
		t->area_m2 += t->triangle_area[i];
	}
	return TAC_OK;
}

// The volume of the materials that should be removed, wherever they lie in the body.
static void prepare_removal(tac_task *t)
{
	const tac_world *world = t->world;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		const tac_scene_drillable *d = &world->scene->objects[i].drillable;
		const tac_world_body *body = &world->objects[i];
		for (int32_t k = 0; body->field && k < d->inside_count; k++)
			t->target_material[body->field_material[k + 1]] |= d->inside[k].target;
		for (int32_t k = 0; body->field && k <= d->inside_count; k++) {
			if (t->target_material[body->field_material[k]])
				t->figures.target_m3 += tac_field_volume_m3(body->field, k);
		}
	}
}

tac_result tac_task_create(const tac_world *world, int32_t tool, tac_task **out_task)
{
	*out_task = NULL;
	const tac_scene *scene = world->scene;
	tac_task *t = calloc(1, sizeof *t);
	if (!t) {
		tac_log(TAC_LOG_ERROR, "task: no memory");
		return TAC_ERROR_MEMORY;
	}
	t->world = world;
	t->tool = tool;
	t->target_layer =
		*scene->task.target_layer ? tac_scene_find_material(scene, scene->task.target_layer) : -1;
	tac_task_figures *f = &t->figures;
	f->limit_force_N = scene->task.limits.max_force_N;
	f->limit_time_s = scene->task.limits.time_s;
	f->limit_path_m = scene->task.limits.path_m;
	f->limit_removed = scene->task.removed;
	prepare_removal(t);
	tac_result result = prepare_coverage(t);
	if (result >= TAC_OK)
		result = tac_task_tissue_init(&t->tissue, world);
	for (int32_t i = 0; i < scene->object_count; i++) {
		for (int32_t k = 0; k < scene->objects[i].protect_count && result >= TAC_OK; k++)
			result = parse_structure(t, i, &scene->objects[i].protect[k]);
	}
	if (result < TAC_OK)
		tac_task_destroy(&t);
	*out_task = t;
	return result;
}

void tac_task_destroy(tac_task **task)
{
	if (!*task)
		return;
	tac_task_tissue_fini(&(*task)->tissue);
	free((*task)->triangle_touched);
	free((*task)->triangle_area);
	free(*task);
	*task = NULL;
}

// ---- distances ----

// The distance of two segments: of a point of either and the other, or where their lines are closest.
static double segment_distance(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d)
{
	const tac_dvec3 u = tac_dvec3_sub(b, a), v = tac_dvec3_sub(d, c), w = tac_dvec3_sub(a, c);
	const double uu = tac_dvec3_dot(u, u), vv = tac_dvec3_dot(v, v), uv = tac_dvec3_dot(u, v);
	const double uw = tac_dvec3_dot(u, w), vw = tac_dvec3_dot(v, w);
	const double det = uu * vv - uv * uv;
	double s = det > 1e-12 * uu * vv ? fmin(fmax((uv * vw - vv * uw) / det, 0), 1) : 0;
	double t = vv > 0 ? fmin(fmax((uv * s + vw) / vv, 0), 1) : 0;
	s = uu > 0 ? fmin(fmax((uv * t - uw) / uu, 0), 1) : 0;
	t = vv > 0 ? fmin(fmax((uv * s + vw) / vv, 0), 1) : 0;
	const tac_dvec3 between = tac_dvec3_add_scaled(tac_dvec3_add_scaled(w, s, u), -t, v);
	return tac_dvec3_length(between);
}

// The distance of a segment of the tool, with its radius, from a structure; below 0 inside. `limit_m` if it
// is not less.
static double structure_distance(structure *s, tac_dpose T_object_world, const tac_burr *world_tool,
				 double limit_m)
{
	double least = limit_m;
	const tac_burr tool = tac_burr_place(world_tool, T_object_world);
	if (s->clearance)
		return tac_clearance_measure(s->clearance, &tool, limit_m, &s->search);
	for (int32_t i = 0; i < s->count; i++) {
		const rounded *solid = &s->solids[i];
		const double distance =
			tool.kind == TAC_BURR_CYLINDER
				? tac_burr_segment_distance(&tool, solid->a, solid->b)
				: segment_distance(tool.a, tool.b, solid->a, solid->b) - tool.radius;
		least = fmin(least, distance - solid->radius_m);
	}
	return least;
}

// The tool is its exact shape where it is round or a burr, a bent needle its shape, and else the point at its
// origin.
static double tool_distance(const tac_task *t, structure *s, const tac_snapshot *n)
{
	const tac_world_body *tool = &t->world->tools[t->tool];
	const tac_dpose T = tac_dpose_inverse(n->T_world_objects[s->object]);
	const tac_scene_drill *drill = &t->world->scene->tools[t->tool].drill;
	if (n->needle.shape_count > 1) {
		double least = HUGE_VAL;
		for (int32_t i = 0; i + 1 < n->needle.shape_count; i++) {
			const tac_burr part = {TAC_BURR_ROUND, n->needle.shape_m[i], n->needle.shape_m[i + 1],
					       tool->is_round ? tool->round.radius : 0};
			least = structure_distance(s, T, &part, least);
		}
		return least;
	}
	tac_burr burr = {.kind = TAC_BURR_ROUND}; // the origin
	if (tool->is_round)
		burr = (tac_burr){TAC_BURR_ROUND, tool->round.a, tool->round.b, tool->round.radius};
	else if (drill->length_m > 0)
		burr = (tac_burr){TAC_BURR_CYLINDER, tac_dvec3_zero(), tac_dvec3_make(0, 0, drill->length_m),
				  drill->radius_m};
	const tac_burr placed = tac_burr_place(&burr, n->T_world_sco);
	return structure_distance(s, T, &placed, HUGE_VAL);
}

static void watch_structures(tac_task *t, const tac_snapshot *n, double time_s, double elapsed_s)
{
	for (int32_t i = 0; i < t->figures.structure_count; i++) {
		tac_task_structure *s = &t->figures.structures[i];
		const double before = s->distance_m;
		tac_clearance_search *search = &t->structures[i].search;
		search->work = TAC_CLEARANCE_WORK;
		search->unfinished = false;
		s->distance_m = tool_distance(t, &t->structures[i], n);
		s->unfinished += search->unfinished;
		if (s->distance_m < s->least_distance_m) {
			s->least_distance_m = s->distance_m;
			s->least_time_s = time_s;
		}
		if (s->distance_m < s->warn_m) {
			s->warned_s += elapsed_s;
			s->warnings += !(before < s->warn_m);
			s->warned_force_N = fmax(s->warned_force_N, tac_dvec3_length(n->sent.force_N));
			if (n->drill.used)
				s->warned_feed_m_per_s =
					fmax(s->warned_feed_m_per_s, n->drill.state.feed_m_per_s);
		}
		if (s->distance_m < 0) {
			s->breached_s += elapsed_s;
			s->breaches += !(before < 0);
		}
	}
}

// ---- force, path ----

// One more tick moves the percentile by a bin or so, so it is followed from tick to tick.
static void count_force(tac_task *t, int32_t bin)
{
	const double part = 0.95 * (double)t->touch_ticks;
	t->bins[bin]++;
	t->below_95 += bin < t->bin_95;
	while (t->bin_95 < FORCE_BINS && (double)(t->below_95 + t->bins[t->bin_95]) < part)
		t->below_95 += t->bins[t->bin_95++];
	while (t->bin_95 > 0 && (double)t->below_95 >= part)
		t->below_95 -= t->bins[--t->bin_95];
}

static void watch_force(tac_task *t, double force_N, bool touches, double elapsed_s)
{
	tac_task_figures *f = &t->figures;
	f->max_force_N = fmax(f->max_force_N, force_N);
	const bool over = f->limit_force_N > 0 && force_N > f->limit_force_N;
	f->overs += over && !t->over;
	f->over_s += over ? elapsed_s : 0;
	t->over = over;
	if (!touches)
		return;
	f->touch_s += elapsed_s;
	t->touch_ticks++;
	t->touch_force_sum_N += force_N;
	f->mean_force_N = t->touch_force_sum_N / (double)t->touch_ticks;
	const double bin = force_N / TAC_TASK_FORCE_STEP_N;
	count_force(t, bin < FORCE_BINS ? (int32_t)bin : FORCE_BINS);
	f->force_95_N = (t->bin_95 + 1) * TAC_TASK_FORCE_STEP_N;
}

static void watch_path(tac_task *t, const tac_snapshot *n, double elapsed_s)
{
	tac_task_figures *f = &t->figures;
	if (t->ticks > 0) {
		const double way =
			tac_dvec3_length(tac_dvec3_sub(n->T_world_sco.position, t->last_tool.position));
		f->path_m += way;
		f->turn_rad += tac_dquat_angle(
			tac_dquat_mul(n->T_world_sco.rotation, tac_dquat_conjugate(t->last_tool.rotation)));
		const double moved =
			tac_dvec3_length(tac_dvec3_sub(n->T_world_device.position, t->last_device));
		if (elapsed_s > 0)
			f->max_speed_m_per_s = fmax(f->max_speed_m_per_s, moved / elapsed_s);
	}
	t->last_tool = n->T_world_sco;
	t->last_device = n->T_world_device.position;
}

// ---- needle ----

// Depth of the tip below the skin of the object it is in, along the normal of the layers.
static double tip_depth(const tac_task *t, const tac_snapshot *n)
{
	const tac_scene_layers *layers = &t->world->scene->objects[n->needle.object].layers;
	const tac_dvec3 normal = tac_dvec3_normalize(layers->normal);
	return n->needle.skin_m - tac_dvec3_dot(normal, n->needle.state.tip_m);
}

// The mean speed of the tip over the last SPEED_NS.
static double recent_speed(const tac_task *t, int64_t now_ns, double depth_m)
{
	int64_t i = t->depth_count - 1;
	while (i > 0 && i > t->depth_count - SPEED_TICKS &&
	       now_ns - t->depths[i % SPEED_TICKS].time_ns < SPEED_NS)
		i--;
	if (i < 0)
		return 0;
	const double elapsed_s = (double)(now_ns - t->depths[i % SPEED_TICKS].time_ns) / 1e9;
	return elapsed_s > 0 ? (depth_m - t->depths[i % SPEED_TICKS].depth_m) / elapsed_s : 0;
}

static void note_punctures(tac_task *t, const tac_snapshot *n, double time_s)
{
	tac_task_figures *f = &t->figures;
	const tac_needle_state *s = &n->needle.state;
	const int32_t opened = s->punctures - t->punctures;
	for (int32_t i = 0; i < opened; i++) {
		if (f->puncture_count < TAC_TASK_PUNCTURES)
			f->punctures[f->puncture_count] = (tac_task_puncture){
				.time_s = time_s,
				.depth_m = s->depth_m,
				.force_N = t->last_force_N,
				.speed_m_per_s = recent_speed(
					t, t->last_ns,
					t->depth_count > 0
						? t->depths[(t->depth_count - 1) % SPEED_TICKS].depth_m
						: 0),
				.object = n->needle.object,
				.layer = s->opened - opened + i,
			};
		f->puncture_count++;
	}
	const tac_dvec3 plan = t->world->scene->task.plan;
	if (s->opened > 0 && t->opened == 0 && tac_dvec3_length(plan) > 0) {
		const tac_dvec3 axis = tac_dquat_rotate(n->T_world_sco.rotation, tac_dvec3_make(0, 0, -1));
		f->angle_rad = acos(fmin(fmax(tac_dvec3_dot(axis, tac_dvec3_normalize(plan)), -1), 1));
	}
	t->punctures = s->punctures;
	t->opened = s->opened;
}

static void watch_needle(tac_task *t, const tac_snapshot *n, double time_s)
{
	tac_task_figures *f = &t->figures;
	const tac_needle_state *s = &n->needle.state;
	note_punctures(t, n, time_s);
	f->insertions = s->insertions;
	f->branches = s->branches;
	const tac_dvec3 axis = tac_dquat_rotate(n->T_world_sco.rotation, tac_dvec3_make(0, 0, 1));
	t->last_force_N = tac_dvec3_dot(n->sent.force_N, axis);
	t->depths[t->depth_count % SPEED_TICKS].time_ns = n->time_ns;
	t->depths[t->depth_count++ % SPEED_TICKS].depth_m = s->depth_m;
	if (n->needle.object < 0 || s->layer < 0)
		return;
	const double depth = tip_depth(t, n);
	f->max_depth_m = fmax(f->max_depth_m, depth);
	const tac_scene_layers *layers = &t->world->scene->objects[n->needle.object].layers;
	double top = 0;
	for (int32_t i = 0; i < layers->list_count; i++) {
		if (tac_scene_find_material(t->world->scene, layers->list[i].material) == t->target_layer &&
		    s->layer >= i) {
			if (!f->reached)
				f->reached_s = time_s;
			f->reached = true;
			f->overshoot_m = fmax(f->overshoot_m, depth - top);
		}
		top += layers->list[i].thickness_m;
	}
}

// ---- drill ----

static void watch_drill(tac_task *t, const tac_snapshot *n)
{
	const tac_drill_state *s = &n->drill.state;
	t->figures.drill_s = s->time_s;
	t->figures.air_s = s->air_s;
	t->figures.full_s = s->full_s;
	if (!s->cutting)
		return;
	t->cut_ticks++;
	t->load_sum += s->load;
	t->figures.mean_load = t->load_sum / (double)t->cut_ticks;
}

// ---- the tick ----

static void cover(tac_task *t, const tac_snapshot *n)
{
	for (int32_t i = 0; t->target_object >= 0 && i < n->contact_count; i++) {
		const tac_snapshot_contact *c = &n->contacts[i];
		if (c->object != t->target_object || c->object_triangle < 0 ||
		    t->triangle_touched[c->object_triangle] || !(tac_dvec3_length(c->force_N) > TOUCH_N))
			continue;
		t->triangle_touched[c->object_triangle] = true;
		t->covered_m2 += t->triangle_area[c->object_triangle];
		t->figures.coverage = t->covered_m2 / t->area_m2;
	}
}

static bool passes(const tac_task *t)
{
	const tac_task_figures *f = &t->figures;
	bool passed = f->overs == 0 && !(f->limit_time_s > 0 && f->time_s > f->limit_time_s) &&
		      !(f->limit_path_m > 0 && f->path_m > f->limit_path_m) &&
		      (t->target_layer < 0 || f->reached) && f->removed >= (1 - ROUNDING) * f->limit_removed;
	for (int32_t i = 0; i < f->structure_count; i++)
		passed = passed && f->structures[i].breaches == 0;
	return passed;
}

void tac_task_step(tac_task *task, const tac_snapshot *snapshot)
{
	tac_task *t = task;
	const tac_snapshot *n = snapshot;
	tac_task_figures *f = &t->figures;
	if (t->ticks == 0)
		t->begin_ns = t->last_ns = n->time_ns;
	const double elapsed_s = (double)(n->time_ns - t->last_ns) / 1e9;
	f->time_s = (double)(n->time_ns - t->begin_ns) / 1e9;
	watch_path(t, n, elapsed_s);
	watch_force(t, tac_dvec3_length(n->sent.force_N), tac_snapshot_touching(n), elapsed_s);
	f->bone_contacts += n->contact_count > 0 && !t->on_bone;
	f->bone_s += n->contact_count > 0 ? elapsed_s : 0;
	t->on_bone = n->contact_count > 0;
	if (n->needle.present)
		watch_needle(t, n, f->time_s);
	if (n->drill.used)
		watch_drill(t, n);
	watch_structures(t, n, f->time_s, elapsed_s);
	cover(t, n);
	tac_task_tissue_step(&t->tissue, n, f->time_s, f);
	f->passed = passes(t);
	t->last_ns = n->time_ns;
	t->ticks++;
}

void tac_task_add_volume(tac_task *task, int32_t material, double volume_m3)
{
	tac_task_figures *f = &task->figures;
	if (material < 0 || material > TAC_SCENE_MATERIALS)
		return;
	f->volume_m3[material] += volume_m3;
	if (task->target_material[material])
		f->removed += volume_m3 / f->target_m3;
	else
		f->healthy_m3 += volume_m3;
}

const tac_task_figures *tac_task_read(tac_task *task)
{
	return &task->figures;
}

// ---- the list ----

typedef struct row_list {
	tac_task_row *rows;
	int32_t count;
} row_list;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static tac_task_row *
add(row_list *list, const char *unit, double value, const char *format, ...)
{
	static tac_task_row spare;
	tac_task_row *row = list->count < TAC_TASK_ROWS ? &list->rows[list->count++] : &spare;
	va_list args;
	va_start(args, format);
	vsnprintf(row->name, sizeof row->name, format, args);
	va_end(args);
	row->unit = unit;
	row->value = value;
	row->limit = HUGE_VAL;
	row->at_least = row->exceeded = false;
	row->puncture = row->structure = 0;
	return row;
}

static void limit(tac_task_row *row, double most)
{
	if (!(most > 0))
		return;
	row->limit = most;
	row->exceeded = row->value > most;
}

static void limit_below(tac_task_row *row, double least)
{
	row->limit = least;
	row->at_least = true;
	row->exceeded = row->value < least;
}

static void list_needle(row_list *list, const tac_task_figures *f, const tac_world *world)
{
	add(list, "", f->insertions, "insertions");
	add(list, "", f->branches, "redirections");
	add(list, "mm", 1e3 * f->max_depth_m, "largest depth");
	if (*world->scene->task.target_layer) {
		limit_below(
			add(list, TAC_TASK_YES_NO, f->reached, "%s reached", world->scene->task.target_layer),
			1);
		if (f->reached) {
			add(list, "s", f->reached_s, "%s reached after", world->scene->task.target_layer);
			add(list, "mm", 1e3 * f->overshoot_m, "overshoot beyond %s",
			    world->scene->task.target_layer);
		}
	}
	if (tac_dvec3_length(world->scene->task.plan) > 0)
		add(list, "deg", f->angle_rad * 57.295779513082321, "angle to the plan");
	add(list, "", f->bone_contacts, "bone contacts");
	add(list, "s", f->bone_s, "time on bone");
	add(list, "", f->puncture_count, "punctures");
	const int32_t listed =
		f->puncture_count < TAC_TASK_PUNCTURES ? f->puncture_count : TAC_TASK_PUNCTURES;
	for (int32_t i = 0; i < listed && i < 12; i++) {
		const tac_task_puncture *p = &f->punctures[i];
		const char *layer = world->scene->objects[p->object].layers.list[p->layer].material;
		add(list, "N", p->force_N, "puncture %d, %s: force", (int)i + 1, layer)->puncture = i + 1;
		add(list, "s", p->time_s, "puncture %d, %s: time", (int)i + 1, layer)->puncture = i + 1;
		add(list, "mm", 1e3 * p->depth_m, "puncture %d, %s: depth", (int)i + 1, layer)->puncture =
			i + 1;
		add(list, "mm/s", 1e3 * p->speed_m_per_s, "puncture %d, %s: speed", (int)i + 1, layer)
			->puncture = i + 1;
	}
}

static void list_tissue(row_list *list, const tac_task_figures *f, const tac_world *world)
{
	const char *name = NULL;
	int32_t inside = 0;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (!world->objects[i].compliance)
			continue;
		name = name ? "soft bodies" : world->scene->objects[i].name;
		inside += world->scene->objects[i].tissue.inside_count;
	}
	if (!name)
		return;
	add(list, "%", 100 * f->pressed, "%s pressed with %.1f to %.1f N", name, TAC_TASK_PRESS_MIN_N,
	    TAC_TASK_PRESS_MAX_N);
	if (inside == 0)
		return;
	add(list, "", f->marks, "marks");
	if (f->marks == 0)
		return;
	add(list, "mm", 1e3 * f->mark_error_m, "%s: error of the last mark", f->mark_name);
	add(list, "s", f->mark_s, "%s: marked after", f->mark_name);
}

static void list_structure(row_list *list, const tac_task_structure *s, int32_t number, bool drill)
{
	const int32_t first = list->count;
	tac_task_row *row = add(list, "mm", 1e3 * s->least_distance_m, "%s: least distance", s->name);
	if (s->warn_m > 0)
		limit_below(row, 1e3 * s->warn_m);
	add(list, "s", isfinite(s->least_distance_m) ? s->least_time_s : HUGE_VAL, "%s: least distance at",
	    s->name);
	add(list, "s", s->warned_s, "%s: time below the warning", s->name);
	add(list, "N", s->warned_force_N, "%s: largest force there", s->name);
	if (drill)
		add(list, "mm/s", 1e3 * s->warned_feed_m_per_s, "%s: largest feed there", s->name);
	row = add(list, "", s->breaches, "%s: breaches", s->name);
	row->limit = 0;
	row->exceeded = s->breaches > 0;
	for (int32_t i = first; i < list->count; i++)
		list->rows[i].structure = number;
}

static void list_drill(row_list *list, const tac_task_figures *f)
{
	add(list, "s", f->drill_s, "time drilling");
	add(list, "s", f->air_s, "of that in the air");
	if (f->full_s > 0)
		add(list, "s", f->full_s, "of that without cutting: the body's memory was full");
	add(list, "%", 100 * f->mean_load, "mean load of the motor while it cut");
}

static void list_removed(row_list *list, const tac_task_figures *f, const tac_world *world)
{
	for (int32_t i = 0; i <= TAC_SCENE_MATERIALS; i++) {
		if (f->volume_m3[i] > 0)
			add(list, "mm3", 1e9 * f->volume_m3[i], "%s removed", world->materials[i].name);
	}
	if (f->target_m3 > 0) {
		add(list, "mm3", 1e9 * f->healthy_m3, "healthy material removed");
		tac_task_row *row = add(list, "%", 100 * f->removed, "target removed");
		if (f->limit_removed > 0)
			limit_below(row, 100 * f->limit_removed);
	}
}

int32_t tac_task_list(const tac_task_figures *figures, const tac_world *world, int32_t tool,
		      tac_task_row out_rows[TAC_TASK_ROWS])
{
	const tac_task_figures *f = figures;
	row_list list = {out_rows, 0};
	limit(add(&list, "s", f->time_s, "time"), f->limit_time_s);
	add(&list, "s", f->touch_s, "time in touch");
	limit(add(&list, "N", f->max_force_N, "largest force"), f->limit_force_N);
	add(&list, "N", f->mean_force_N, "mean force in touch");
	add(&list, "N", f->force_95_N, "force, 95 %% of the time below");
	if (f->limit_force_N > 0) {
		add(&list, "", f->overs, "times above the force limit");
		add(&list, "s", f->over_s, "time above the force limit");
	}
	limit(add(&list, "mm", 1e3 * f->path_m, "path"), 1e3 * f->limit_path_m);
	add(&list, "deg", f->turn_rad * 57.295779513082321, "turning");
	add(&list, "mm/s", 1e3 * f->max_speed_m_per_s, "largest speed");
	for (int32_t i = 0; i < f->structure_count; i++)
		list_structure(&list, &f->structures[i], i + 1, world->scene->tools[tool].drill.radius_m > 0);
	for (int32_t i = 0; i < f->structure_count; i++) {
		if (f->structures[i].unfinished > 0)
			add(&list, "", (double)f->structures[i].unfinished,
			    "%s: ticks with an unfinished search", f->structures[i].name);
	}
	if (world->scene->tools[tool].drill.radius_m > 0)
		list_drill(&list, f);
	list_removed(&list, f, world);
	const int32_t target = tac_scene_find_object(world->scene, world->scene->task.target);
	if (target >= 0 && !world->objects[target].compliance)
		add(&list, "%", 100 * f->coverage, "%s covered", world->scene->task.target);
	list_tissue(&list, f, world);
	if (world->scene->tools[tool].needle.length_m > 0)
		list_needle(&list, f, world);
	return list.count;
}
