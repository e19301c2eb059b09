#include "haptic/sco_private.h"

#include <math.h>

#define dot tac_dvec3_dot
#define sub tac_dvec3_sub

// Passes that correct the linear rows by the true gaps at the last solution.
#define CURVATURE_PASSES 2
// A correction is at most half the gap plus this, m: beyond it the feature pair is another one.
#define CURVATURE_MAX 1e-4
// Below this turn (rad) there is no curvature to speak of.
#define TURN_MIN 1e-7
// sin of the angle of two edges below which their common normal is rounding.
#define EDGES_MIN 1e-4
// The straight way round a vertex may use this part of the hold gap. Less than ROLL_MIN, m, is no rolling.
#define ROLL_DIP 0.8
#define ROLL_MIN 5e-6
// The tangent of the largest angle of a roll.
#define ROLL_MOST 5
// Tries of a roll that ends within reach.
#define ROLL_PASSES 2

double tac_sco_limit(const tac_sco *sco, tac_sco_twist t, double reach)
{
	double s = 1, way = tac_sco_reach(sco, t), turn = tac_dvec3_length(t.w);
	if (way > reach)
		s = reach / way;
	return turn * s > sco->def.turn_max_rad ? sco->def.turn_max_rad / turn : s;
}

static void put_row(tac_sco *sco, const tac_contact_point *c, int32_t object, double bound)
{
	if (sco->row_count >= TAC_SCO_ROWS) {
		sco->report->flags |= TAC_SCO_DROPPED;
		return;
	}
	const tac_sco_thing *thing = &sco->things[object];
	tac_dvec3 n = tac_dpose_apply_vector(thing->pose, c->normal);
	tac_dvec3 arm = sub(tac_dpose_apply_point(thing->pose, c->point), sco->pose.position);
	tac_dvec3 m = tac_dvec3_zero();
	if (!sco->def.fixed_rotation)
		m = tac_dvec3_scale(tac_dvec3_cross(arm, n), 1 / sco->def.metric_m);
	double length = sqrt(dot(n, n) + dot(m, m));
	double row[TAC_QP_SIZE] = {n.x, n.y, n.z, m.x, m.y, m.z};
	for (int k = 0; k < TAC_QP_SIZE; k++)
		sco->row_values[sco->row_count][k] = row[k] / length;
	sco->rows[sco->row_count++] = (tac_sco_row){c, object, length, bound, 0};
}

// What a step must gain along a normal: the gap may be used up to the hold gap; a smaller one is opened by
// half of what it lacks.
static double bound_of(const tac_sco *sco, double gap)
{
	double spare = gap - sco->def.hold_gap_m;
	return spare >= 0 ? -spare : -0.5 * spare;
}

static void collect_rows(tac_sco *sco, double within)
{
	sco->row_count = 0;
	for (int32_t i = 0; i < sco->def.object_count; i++) {
		const tac_contacts *list = sco->things[i].contacts;
		for (int32_t k = 0; k < list->count; k++) {
			const tac_contact_point *c = &list->list[k];
			if (c->gap <= within)
				put_row(sco, c, i, bound_of(sco, c->gap) + sco->tick.bias);
		}
	}
	for (int32_t i = 0; i < sco->injected_count; i++) {
		const tac_sco_injected *in = &sco->injected[i];
		double bound = bound_of(sco, in->contact.gap);
		put_row(sco, &in->contact, in->object, in->blocker ? fmax(0, bound) : bound + sco->tick.bias);
	}
}

// The gap of a contact's own features, or of its plane, when the tool has gone from `from` to `to` in the
// object's frame.
static double gap_after(const tac_sco *sco, const tac_sco_row *row, tac_dpose from, tac_dpose to)
{
	const tac_contact_point *c = row->contact;
	const tac_sco_thing *thing = &sco->things[row->object];
	const tac_mesh *fixed = thing->body ? thing->body->mesh : thing->shape->mesh;
	tac_dvec3 local = tac_dquat_rotate(tac_dquat_conjugate(from.rotation), sub(c->point, from.position));
	tac_dvec3 x = tac_dpose_apply_point(to, local);
	if (c->kind == TAC_CONTACT_FACE_VERTEX) {
		tac_dvec3 n = tac_dquat_rotate(tac_dquat_conjugate(from.rotation), c->normal);
		n = tac_dquat_rotate(to.rotation, n);
		return dot(n, sub(x, tac_dvec3_from_vec3(fixed->vertices[c->fixed_feature])));
	}
	if (c->kind == TAC_CONTACT_EDGE_EDGE && sco->def.tool) {
		const tac_mesh *moving = sco->def.tool->mesh;
		const int32_t *a = moving->edges[c->moving_feature].vertex;
		const int32_t *b = fixed->edges[c->fixed_feature].vertex;
		tac_dvec3 p = tac_dvec3_from_vec3(moving->vertices[a[0]]);
		tac_dvec3 u = sub(tac_dvec3_from_vec3(moving->vertices[a[1]]), p);
		u = tac_dquat_rotate(to.rotation, u);
		tac_dvec3 q = tac_dvec3_from_vec3(fixed->vertices[b[0]]);
		tac_dvec3 w = sub(tac_dvec3_from_vec3(fixed->vertices[b[1]]), q);
		tac_dvec3 n = tac_dvec3_cross(u, w);
		double length = tac_dvec3_length(n);
		if (length > EDGES_MIN * tac_dvec3_length(u) * tac_dvec3_length(w)) {
			double side = dot(n, c->normal) < 0 ? -1 : 1;
			return side * dot(n, sub(tac_dpose_apply_point(to, p), q)) / length;
		}
	}
	return c->gap + dot(c->normal, sub(x, c->point));
}

// How much further along its normal the tool's point of a row moves than its object's, m.
static double linear(const tac_sco *sco, const tac_sco_row *row, tac_sco_twist t)
{
	const tac_sco_thing *thing = &sco->things[row->object];
	tac_dvec3 n = tac_dpose_apply_vector(thing->pose, row->contact->normal);
	tac_dvec3 x = tac_dpose_apply_point(thing->pose, row->contact->point);
	tac_dvec3 way = tac_dvec3_add(t.v, tac_dvec3_cross(t.w, sub(x, sco->pose.position)));
	return dot(n, way);
}

static double pushed(const tac_sco *sco, const tac_sco_row *row)
{
	const tac_sco_thing *thing = &sco->things[row->object];
	if (!thing->moves)
		return 0;
	tac_dvec3 x = tac_dpose_apply_point(thing->pose, row->contact->point);
	tac_dvec3 n = tac_dpose_apply_vector(thing->pose, row->contact->normal);
	return dot(n, tac_dvec3_add(thing->push.v,
				    tac_dvec3_cross(thing->push.w, sub(x, thing->pose.position))));
}

static void correct_rows(tac_sco *sco, tac_sco_twist t, int pass)
{
	tac_dpose from = tac_dpose_identity(), to = from;
	int32_t object = -1;
	for (int32_t i = 0; i < sco->row_count; i++) {
		tac_sco_row *row = &sco->rows[i];
		if (row->object != object) {
			object = row->object;
			tac_sco_relative r = tac_sco_relative_motion(sco, &sco->things[object], t);
			from = r.start;
			to = tac_sco_pose_after(r.start, r.twist, 1);
		}
		double gap = row->contact->gap;
		double k = gap_after(sco, row, from, to) - gap - (linear(sco, row, t) - pushed(sco, row));
		double most = 0.5 * fmax(gap, sco->def.hold_gap_m) + CURVATURE_MAX;
		k = fmax(-most, fmin(most, k));
		row->curvature = pass > 1 ? fmin(k, row->curvature) : k;
	}
}

// How the bounds are taken: with curvature; where that has no solution, without it and never asking for a
// retreat, so that standing still is one.
typedef enum tac_sco_bounds { WITH_CURVATURE, CURVATURE_NO_RETREAT, NO_RETREAT } tac_sco_bounds;

static double row_bound(const tac_sco *sco, const tac_sco_row *row, tac_sco_bounds mode)
{
	double b = row->bound, k = row->curvature;
	if (mode != NO_RETREAT && k > 0) {
		// The path dips first and recovers later: do not use what it gains at the end below the
		// floor.
		b = fmin(fmax(b - k, -fmax(row->contact->gap - 2 * TAC_SCO_CLOSEST, 0)), row->bound);
	} else if (mode != NO_RETREAT) {
		b -= k;
	}
	if (mode != WITH_CURVATURE)
		b = fmin(b, 0);
	return b + pushed(sco, row);
}

// What a QP of so many rows and iterations takes, its rows corrected beforehand, in pairs of triangles as the
// unit of a step's limit: fitted to QPs of 4 to 1,000 rows.
static int64_t work_of(int32_t rows, int32_t iterations)
{
	return 1 + ((int64_t)(iterations + 1) * (rows + 40) + 24 * rows) / 128;
}

static bool run_qp(tac_sco *sco, tac_sco_twist t0, tac_sco_bounds last_mode, tac_qp_result *out)
{
	double rho = sco->def.metric_m;
	const double y0[TAC_QP_SIZE] = {t0.v.x, t0.v.y, t0.v.z, t0.w.x * rho, t0.w.y * rho, t0.w.z * rho};
	for (int mode = 0; mode <= (int)last_mode; mode++) {
		if (sco->report->qps >= sco->def.qps) {
			sco->report->flags |= TAC_SCO_BUDGET_SPENT;
			return false;
		}
		for (int32_t i = 0; i < sco->row_count; i++) {
			const tac_sco_row *row = &sco->rows[i];
			double b = row_bound(sco, row, (tac_sco_bounds)mode) / row->length;
			for (int k = 0; k < TAC_QP_SIZE; k++)
				b -= sco->row_values[i][k] * y0[k];
			sco->row_bounds[i] = b;
		}
		sco->report->qps++;
		*out = tac_qp_solve((const double(*)[TAC_QP_SIZE])sco->row_values, sco->row_bounds,
				    sco->row_count);
		sco->report->pairs += work_of(sco->row_count, out->iterations);
		if (out->status == TAC_QP_SOLVED)
			return true;
	}
	return false;
}

static tac_sco_twist solution(const tac_sco *sco, tac_sco_twist t0, const tac_qp_result *qp)
{
	const double *y = qp->y;
	t0.v = tac_dvec3_add(t0.v, tac_dvec3_make(y[0], y[1], y[2]));
	t0.w = tac_dvec3_add(t0.w, tac_dvec3_scale(tac_dvec3_make(y[3], y[4], y[5]), 1 / sco->def.metric_m));
	return t0;
}

// Turns the row of an end that rolls over an edge or a vertex towards the device, by at most an angle. A
// half-space beyond a tangent plane of a ball is outside the ball whichever plane it is, so the row stays a
// safe one for the end of the piece. Answers by how much.
static double roll_row(tac_sco *sco, int32_t i, tac_sco_twist t0, double most)
{
	tac_sco_row *row = &sco->rows[i];
	const tac_contact_point *c = row->contact;
	const tac_sco_thing *thing = &sco->things[row->object];
	double radius = sco->def.round.radius_m, hold = sco->def.hold_gap_m;
	tac_dvec3 end = tac_dvec3_add_scaled(c->point, radius, c->normal);
	tac_dvec3 way = tac_dquat_rotate(tac_dquat_conjugate(thing->pose.rotation), t0.v);
	tac_dvec3 n = tac_contacts_roll(c, thing->body, tac_dvec3_add(end, way), most);
	tac_dvec3 foot = tac_dvec3_add_scaled(c->point, -c->gap, c->normal);
	row->bound = radius + hold - dot(n, sub(end, foot)) + sco->tick.bias;
	row->length = 1;
	double rolled = tac_dvec3_length(sub(n, c->normal));
	n = tac_dpose_apply_vector(thing->pose, n);
	double values[TAC_QP_SIZE] = {n.x, n.y, n.z};
	for (int k = 0; k < TAC_QP_SIZE; k++)
		sco->row_values[i][k] = values[k];
	return rolled;
}

// A round tool that only translates and that edges or vertices hold back goes round them in one piece: with
// planes that touch where it is going, not where it is. Without, each piece would see a little of the curve.
static void roll(tac_sco *sco, tac_sco_twist t0, const tac_qp_result *held, tac_sco_twist *t)
{
	bool curved = false;
	for (int32_t j = 0; j < held->active_count; j++) {
		tac_contact_kind kind = sco->rows[held->active[j]].contact->kind;
		curved |= kind == TAC_CONTACT_VERTEX_EDGE || kind == TAC_CONTACT_VERTEX_VERTEX;
	}
	if (!curved)
		return;
	// The longest chord that dips no deeper, by the half of the angle that it spans; and the tangent of
	// the whole.
	double round = sco->def.round.radius_m + sco->def.hold_gap_m;
	double c = 1 - ROLL_DIP * sco->def.hold_gap_m / round, sine = sqrt(fmax(0, 1 - c * c));
	double reach = fmin(sco->tick.roll, 2 * round * sine);
	double whole = 2 * c * c - 1; // its cosine
	double most = whole > 0 ? fmin(2 * c * sine / whole, ROLL_MOST) : ROLL_MOST;
	double straight = tac_dvec3_length(t->v), left = tac_dvec3_length(sub(t->v, t0.v));
	if (reach <= straight)
		return;
	for (int pass = 0; pass < ROLL_PASSES; pass++) {
		double rolled = 0;
		for (int32_t j = 0; j < held->active_count; j++)
			rolled = fmax(rolled, roll_row(sco, held->active[j], t0, most));
		tac_qp_result qp;
		if (rolled * round < ROLL_MIN || !run_qp(sco, t0, WITH_CURVATURE, &qp))
			return;
		tac_sco_twist there = solution(sco, t0, &qp);
		if (tac_dvec3_length(sub(there.v, t0.v)) >= left)
			return;
		double way = tac_dvec3_length(there.v);
		if (way <= reach) {
			*t = there;
			sco->tick.rolls = true;
			return;
		}
		// A part of the way would end in the dip: less of a turn does not.
		most = rolled * fmax(0, 0.99 * reach - straight) / (way - straight);
	}
}

bool tac_sco_solve(tac_sco *sco, tac_sco_twist t0, double reach, tac_sco_twist *out_twist)
{
	collect_rows(sco, reach + sco->def.hold_gap_m);
	bool pushing = tac_sco_pushing(sco);
	tac_sco_twist t = t0, to_device = t0;
	tac_qp_result qp = {0};
	for (int pass = 0; pass <= CURVATURE_PASSES; pass++) {
		if (pass > 0) {
			double s = tac_sco_limit(sco, t, reach);
			if (s >= 1 && tac_dvec3_length(t.w) < TURN_MIN && !pushing)
				break;
			if (s < 1) {
				t0 = tac_sco_twist_scale(t0, s);
				t = tac_sco_twist_scale(t, s);
				for (int32_t i = 0; i < sco->def.object_count; i++)
					sco->things[i].push = tac_sco_twist_scale(sco->things[i].push, s);
			}
			correct_rows(sco, t, pass);
		}
		bool solved = run_qp(sco, t0, NO_RETREAT, &qp);
		if (!solved && (pushing || sco->report->qps >= sco->def.qps))
			return false;
		t = solution(sco, t0, &qp);
	}
	if (!sco->def.tool && sco->def.fixed_rotation && !pushing)
		roll(sco, to_device, &qp, &t);
	*out_twist = t;
	return true;
}

static bool loads_more(const tac_sco_contact *a, const tac_sco_contact *b)
{
	return a->load_m > b->load_m;
}

// Keeps the list in order of falling load; equal loads stay in the order of the rows.
static void report_row(tac_sco *sco, const tac_sco_row *row, double load)
{
	const tac_contact_point *c = row->contact;
	const tac_sco_thing *thing = &sco->things[row->object];
	tac_sco_contact contact = {
		.point_m = tac_dpose_apply_point(thing->pose, c->point),
		.normal = tac_dpose_apply_vector(thing->pose, c->normal),
		.gap_m = c->gap,
		.load_m = load,
		.object = row->object,
		.tool_surface = c->moving_surface,
		.object_surface = c->fixed_surface,
		.tool_triangle = c->moving_triangle,
		.object_triangle = c->fixed_triangle,
	};
	tac_sco_report *report = sco->report;
	int32_t at = report->contact_count;
	if (at == TAC_SCO_CONTACTS) {
		if (!loads_more(&contact, &report->contacts[at - 1]))
			return;
		at--;
	} else {
		report->contact_count++;
	}
	for (; at > 0 && loads_more(&contact, &report->contacts[at - 1]); at--)
		report->contacts[at] = report->contacts[at - 1];
	report->contacts[at] = contact;
}

void tac_sco_report_contacts(tac_sco *sco)
{
	sco->injected_count = 0;
	sco->tick.bias = 0;
	for (int32_t i = 0; i < sco->def.object_count; i++)
		sco->things[i].moves = false;
	collect_rows(sco, TAC_SCO_REPORTED * sco->def.hold_gap_m);
	if (sco->row_count == 0)
		return;
	// The one more that the limits always leave room for.
	int32_t spent = sco->report->qps;
	uint32_t flags = sco->report->flags;
	sco->report->qps = 0;
	tac_qp_result qp = {0};
	run_qp(sco, tac_sco_twist_between(sco, sco->pose, sco->tick.device), NO_RETREAT, &qp);
	sco->report->qps = spent + 1;
	sco->report->flags = flags | TAC_SCO_CONTACT;
	for (int32_t i = 0; i < sco->row_count; i++) {
		double load = 0;
		for (int32_t j = 0; j < qp.active_count; j++) {
			if (qp.active[j] == i)
				load = qp.multiplier[j] / sco->rows[i].length;
		}
		report_row(sco, &sco->rows[i], load);
	}
}
