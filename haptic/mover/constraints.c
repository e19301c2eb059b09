#include "haptic/mover/mover.h"

#include <math.h>
#include <string.h>

static tac_sco_unit_row make_row(const tac_sco *sco, const tac_contact_point *c, const tac_drigid *T)
{
	tac_dvec3 n = tac_dmat3_apply(T->R, c->normal), m = tac_dvec3_zero();
	tac_dvec3 arm = tac_dvec3_sub(tac_drigid_apply_point(T, c->point), sco->pose.position);
	if (!sco->def.fixed_rotation)
		m = tac_dvec3_scale(tac_dvec3_cross(arm, n), 1 / sco->def.metric_m);
	double length = sqrt(tac_dvec3_dot(n, n) + tac_dvec3_dot(m, m)), s = 1 / length;
	return (tac_sco_unit_row){
		{s * n.x, s * n.y, s * n.z, s * m.x, s * m.y, s * m.z}, length, sco->lists_version};
}

// Adds a row of the QP. A contact that bore the last solution joins the guess.
static void put_row(tac_sco *sco, const tac_contact_point *c, const tac_sco_obstacle *o,
		    const tac_sco_unit_row *unit)
{
	if (sco->row_count >= SCO_MAX_ROWS) {
		sco->tick.flags |= TAC_SCO_DROPPED;
		return;
	}
	memcpy(sco->qp_rows[sco->row_count], unit->row, sizeof unit->row);
	for (int32_t i = 0; i < sco->bearing_count && sco->guess_count < TAC_QP_SIZE; i++) {
		if (sco->bearing[i].obstacle == o && tac_contacts_same_features(&sco->bearing[i].contact, c))
			sco->guess[sco->guess_count++] = sco->row_count;
	}
	// The gap may close to the hold gap, and a smaller one must open.
	const double slack = c->gap - sco->def.hold_gap_m;
	const double bound = slack >= 0 ? -slack : -SCO_GAP_RECOVERY * slack;
	sco->rows[sco->row_count++] = (tac_sco_row){c, o, unit->length, bound, 0, 0};
}

static void collect_rows(tac_sco *sco, double within)
{
	sco->row_count = sco->guess_count = 0;
	for (tac_sco_obstacle *o = sco->obstacles; o < sco->obstacles_end; o++) {
		const tac_drigid T = tac_drigid_from_pose(o->pose);
		sco->tick.flags |= o->contacts->dropped > 0 ? TAC_SCO_DROPPED : 0;
		for (int32_t k = 0; k < o->contacts->count; k++) {
			const tac_contact_point *c = &o->contacts->list[k];
			if (!(c->gap <= within))
				continue;
			if (o->unit_rows[k].version != sco->lists_version)
				o->unit_rows[k] = make_row(sco, c, &T);
			put_row(sco, c, o, &o->unit_rows[k]);
		}
	}
	for (int32_t i = 0; i < sco->injected_count; i++) {
		const tac_sco_injected *in = &sco->injected[i];
		const tac_drigid T = tac_drigid_from_pose(in->obstacle->pose);
		const tac_sco_unit_row unit = make_row(sco, &in->contact, &T);
		put_row(sco, &in->contact, in->obstacle, &unit);
	}
}

// How far the tool's contact point of row i moves along the normal, to first order, m.
static double linear_advance(const tac_sco *sco, int32_t i, tac_dtwist t)
{
	const double *row = sco->qp_rows[i], rho = sco->def.metric_m;
	return sco->rows[i].length * (row[0] * t.v.x + row[1] * t.v.y + row[2] * t.v.z +
				      rho * (row[3] * t.w.x + row[4] * t.w.y + row[5] * t.w.z));
}

// How far the obstacle's point moves along the normal, to first order, m.
static double obstacle_advance(const tac_sco_row *row)
{
	const tac_sco_obstacle *o = row->obstacle;
	if (!o->moves)
		return 0;
	tac_dvec3 arm = tac_dvec3_sub(tac_dpose_apply_point(o->pose, row->contact->point), o->pose.position);
	tac_dvec3 n = tac_dpose_apply_vector(o->pose, row->contact->normal);
	return tac_dvec3_dot(n, tac_dvec3_add(o->twist.v, tac_dvec3_cross(o->twist.w, arm)));
}

// Sets each row's curvature: the true gap after the solution `t` minus the linear one.
static void correct_rows(tac_sco *sco, tac_dtwist t)
{
	tac_drigid from, to;
	const tac_sco_obstacle *o = NULL;
	for (int32_t i = 0; i < sco->row_count; i++) {
		tac_sco_row *row = &sco->rows[i];
		if (row->obstacle != o) {
			o = row->obstacle;
			tac_sco_relative r = tac_sco_relative_motion(sco, o, t);
			from = tac_drigid_from_pose(r.start);
			to = tac_drigid_from_pose(tac_dpose_after(r.start, r.twist, 1));
		}
		const tac_contact_point *c = row->contact;
		double after = o->geometry->gap_after ? o->geometry->gap_after(o->memory, c, &from, &to)
						      : tac_contacts_gap_after(c, NULL, NULL, &from, &to);
		row->curvature = after - c->gap - (linear_advance(sco, i, t) - obstacle_advance(row));
	}
}

// The bound of a row, with its curvature. A relaxed one has no curvature, and its gap need not open: unless
// an obstacle moves, to stay is then a solution.
static double row_bound(const tac_sco_row *row, bool relaxed)
{
	const double b = row->bound, k = row->curvature;
	if (relaxed)
		return fmin(b, 0);
	// The path may dip before the gap opens, so the linear gap must not close completely.
	return k > 0 ? fmin(fmax(b - k, -fmax(row->contact->gap - 2 * SCO_MIN_GAP_M, 0)), b) : b - k;
}

// Solves the QP, with relaxed bounds where the others contradict each other, if that is allowed.
static bool run_qp(tac_sco *sco, tac_dtwist t0, bool may_relax, tac_sco_work *work, tac_qp_result *out)
{
	const double rho = sco->def.metric_m;
	const double y0[TAC_QP_SIZE] = {t0.v.x, t0.v.y, t0.v.z, t0.w.x * rho, t0.w.y * rho, t0.w.z * rho};
	for (int relaxed = 0; relaxed <= may_relax; relaxed++) {
		if (!tac_sco_work_admit(work, SCO_QP_SOLVE))
			return false;
		for (int32_t i = 0; i < sco->row_count; i++) {
			const tac_sco_row *row = &sco->rows[i];
			double b = (row_bound(row, relaxed) + obstacle_advance(row)) / row->length;
			for (int k = 0; k < TAC_QP_SIZE; k++)
				b -= sco->qp_rows[i][k] * y0[k];
			sco->qp_bounds[i] = b;
		}
		*out = tac_qp_solve((const double(*)[TAC_QP_SIZE])sco->qp_rows, sco->qp_bounds,
				    sco->row_count, sco->guess, sco->guess_count);
		// With the correction of its rows: a fit to the times of QPs of 4 to 1,000 rows.
		const int64_t rows = sco->row_count;
		work->units += 1 + ((out->iterations + 1) * (rows + 40) + 24 * rows) / 128;
		if (out->status != TAC_QP_SOLVED)
			continue;
		// The rows that bear are the first guess of the next QP, with these rows or with others.
		sco->bearing_count = sco->guess_count = out->active_count;
		for (int32_t j = 0; j < out->active_count; j++) {
			const tac_sco_row *row = &sco->rows[out->active[j]];
			sco->bearing[j] = (tac_sco_injected){*row->contact, row->obstacle};
			sco->guess[j] = out->active[j];
		}
		return true;
	}
	return false;
}

static tac_dtwist solution(const tac_sco *sco, tac_dtwist t0, const tac_qp_result *qp)
{
	const double *y = qp->y;
	t0.v = tac_dvec3_add(t0.v, tac_dvec3_make(y[0], y[1], y[2]));
	t0.w = tac_dvec3_add(t0.w, tac_dvec3_scale(tac_dvec3_make(y[3], y[4], y[5]), 1 / sco->def.metric_m));
	return t0;
}

// Turns the row of a round tool's end on an edge or vertex towards the device, by at most the angle with the
// tangent `most`. The half-space beyond any tangent plane of a ball is outside the ball, so the row is as
// safe for the end of the substep. Returns the length of the change of the normal.
static double roll_row(tac_sco *sco, int32_t i, tac_dtwist to_device, double most)
{
	tac_sco_row *row = &sco->rows[i];
	const tac_contact_point *c = row->contact;
	const tac_sco_obstacle *o = row->obstacle;
	double radius = sco->def.round.radius, hold = sco->def.hold_gap_m;
	tac_dvec3 end = tac_dvec3_add_scaled(c->point, radius, c->normal);
	tac_dvec3 towards = tac_dquat_rotate(tac_dquat_conjugate(o->pose.rotation), to_device.v);
	tac_dvec3 n = o->geometry->roll(o->memory, c, tac_dvec3_add(end, towards), most);
	tac_dvec3 foot = tac_dvec3_add_scaled(c->point, -c->gap, c->normal);
	row->bound = radius + hold - tac_dvec3_dot(n, tac_dvec3_sub(end, foot));
	row->length = 1;
	double rolled = tac_dvec3_length(tac_dvec3_sub(n, c->normal));
	n = tac_dpose_apply_vector(o->pose, n);
	memcpy(sco->qp_rows[i], (double[TAC_QP_SIZE]){n.x, n.y, n.z}, sizeof sco->qp_rows[i]);
	return rolled;
}

// A round tool that only translates and rests on edges or vertices goes around them in one substep, not in
// many short ones: its rows become tangent planes at the end of the motion instead of the start.
static void roll(tac_sco *sco, tac_dtwist to_device, const tac_qp_result *solved, tac_dtwist *t)
{
	for (int32_t j = 0; j < solved->active_count; j++) {
		if (!sco->rows[solved->active[j]].obstacle->geometry->roll)
			return;
	}
	// The longest chord that dips no deeper than allowed: `c` and `sine` belong to half of the angle that
	// it spans, `most` is the tangent of the whole angle, short of a quarter turn.
	double round = sco->def.round.radius + sco->def.hold_gap_m;
	double dip = (1 - 2 * SCO_ROUND_SLACK_GAPS) * sco->def.hold_gap_m;
	double c = 1 - dip / round, sine = sqrt(1 - c * c);
	double reach = fmin(sco->tick.roll_limit_m, 2 * round * sine);
	double most = 2 * c * sine / fmax(2 * c * c - 1, 0.1);
	double straight = tac_dvec3_length(t->v), left = tac_dvec3_length(tac_dvec3_sub(t->v, to_device.v));
	if (reach <= straight)
		return;
	for (int pass = 0; pass < 2; pass++) {
		double rolled = 0;
		for (int32_t j = 0; j < solved->active_count; j++)
			rolled = fmax(rolled, roll_row(sco, solved->active[j], to_device, most));
		tac_qp_result qp;
		if (rolled * round < SCO_MIN_TRAVEL_M || !run_qp(sco, to_device, false, &sco->tick.work, &qp))
			return;
		tac_dtwist rolling = solution(sco, to_device, &qp);
		if (tac_dvec3_length(tac_dvec3_sub(rolling.v, to_device.v)) >= left)
			return;
		double travel = tac_dvec3_length(rolling.v);
		if (travel <= reach) {
			*t = rolling;
			sco->tick.rolling = true;
			return;
		}
		// A fraction of this motion would end in the dip; a smaller turn of the rows does not.
		most = rolled * fmax(0, SCO_AT_LIMIT * reach - straight) / (travel - straight);
	}
}

// False if the tool cannot yield to an obstacle, or if no work is left. Otherwise a QP that is not solved
// gives its last iterate: the proof decides how much of it is made.
static bool solve_rows(tac_sco *sco, tac_dtwist t0, tac_qp_result *qp, tac_dtwist *out_twist)
{
	if (!run_qp(sco, t0, true, &sco->tick.work, qp) &&
	    (tac_sco_any_obstacle_moves(sco) || !tac_sco_work_allows(&sco->tick.work, SCO_QP_SOLVE)))
		return false;
	*out_twist = solution(sco, t0, qp);
	return true;
}

bool tac_sco_solve(tac_sco *sco, tac_dtwist t0, double reach, tac_dtwist *out_twist)
{
	tac_qp_result qp = {0};
	collect_rows(sco, reach + sco->def.hold_gap_m);
	if (!solve_rows(sco, t0, &qp, out_twist))
		return false;
	const double s = tac_sco_limit_factor(sco, *out_twist, sco->radius_m, reach);
	const double bend = tac_dvec3_length_squared(out_twist->w) * sco->radius_m; // of the points' arcs
	const bool pushing = tac_sco_any_obstacle_moves(sco);
	if (s < 1 || bend >= SCO_MIN_TRAVEL_M || pushing) {
		tac_sco_scale_obstacles(sco, s);
		correct_rows(sco, tac_dtwist_scale(*out_twist, s));
		if (!solve_rows(sco, tac_dtwist_scale(t0, s), &qp, out_twist))
			return false;
	}
	if (sco->def.fixed_rotation && !pushing)
		roll(sco, t0, &qp, out_twist);
	return true;
}

static tac_sco_contact contact_of(const tac_sco *sco, const tac_sco_row *row)
{
	const tac_contact_point *c = row->contact;
	const tac_sco_obstacle *o = row->obstacle;
	tac_sco_contact contact = {
		.point_m = tac_dpose_apply_point(o->pose, c->point),
		.normal = tac_dpose_apply_vector(o->pose, c->normal),
		.gap_m = c->gap,
		.rest_gap_m = c->gap + row->bound,
		.load_m = row->load,
		.object = (int32_t)(o - sco->obstacles),
		.tool_surface = c->moving_surface,
		.object_surface = c->fixed_surface,
		.tool_triangle = c->moving_triangle,
		.object_triangle = c->fixed_triangle,
	};
	// With triangles where there is a load: contacts of a tool that only translates share theirs.
	if (o->geometry->restate)
		o->geometry->restate(o->memory, sco->pose, c, row->load > 0 || sco->def.fixed_rotation,
				     &contact);
	return contact;
}

void tac_sco_report_contacts(tac_sco *sco, tac_sco_report *out_report)
{
	sco->injected_count = 0;
	collect_rows(sco, SCO_LIST_GAPS * sco->def.hold_gap_m);
	if (sco->row_count == 0)
		return;
	// This QP is exempt from the limit.
	tac_sco_work extra = {.limit = INT64_MAX, .most = {[SCO_QP_SOLVE] = 2}};
	tac_qp_result qp = {0};
	run_qp(sco, tac_sco_to_device(sco, sco->pose), true, &extra, &qp);
	sco->tick.work.count[SCO_QP_SOLVE] += extra.count[SCO_QP_SOLVE];
	sco->tick.work.units += extra.units;
	sco->tick.flags |= TAC_SCO_CONTACT;
	for (int32_t j = 0; j < qp.active_count; j++)
		sco->rows[qp.active[j]].load = qp.multiplier[j] / sco->rows[qp.active[j]].length;
	// By falling load, those that bear none in the order of the rows.
	for (const tac_sco_row *row = sco->rows; row < sco->rows + sco->row_count; row++) {
		int32_t at = out_report->contact_count;
		while (at > 0 && out_report->contacts[at - 1].load_m < row->load)
			at--;
		if (at >= TAC_SCO_CONTACTS)
			continue;
		out_report->contact_count += out_report->contact_count < TAC_SCO_CONTACTS;
		memmove(&out_report->contacts[at + 1], &out_report->contacts[at],
			(size_t)(out_report->contact_count - 1 - at) * sizeof *out_report->contacts);
		out_report->contacts[at] = contact_of(sco, row);
	}
}
