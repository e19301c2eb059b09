#include "apps/viewer/panel.h"

#include "collision/mesh.h"
#include "haptic/limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INK     0xe8edf4ffU
#define DIM     0x93a0b1ffU
#define GOOD    0x5fd39affU
#define WARN    0xffb347ffU
#define BAD     0xff6b81ffU
#define BLUE    0x6cb6ffffU
#define PANEL   0x0b0f14d8U
#define GRID    0xffffff1cU
#define MARGIN  16.0F
#define SIZE    9.0F  // height of the capitals
#define LINE    19.0F // line spacing
#define WIDTH   VIEWER_PANEL_WIDTH
#define INSET   14.0F // of the text from the panel's edge
#define VALUE_X VIEWER_PANEL_VALUE_X

#define CONTACT_LINES 6
#define HELP_LINES    17
#define HELP_WIDTH    498.0F
#define PLOTS_HEIGHT  (2 * 74.0F + 8.0F) // both plots with the gap between them
#define NO_FORCE_N    1e-3               // less than anybody feels

// Where the next line of a panel goes.
typedef struct cursor {
	viewer_flat *f;
	float s; // scale
	float x, y;
} cursor;

float viewer_panel_value_size(const char *value)
{
	return SIZE * fminf(1, (WIDTH - 2 * INSET - VALUE_X) / fmaxf(viewer_flat_width(SIZE, value), 1));
}

static void name_value(cursor *c, const char *name, viewer_colour colour, const char *value)
{
	viewer_flat_text(c->f, c->x, c->y, SIZE * c->s, DIM, name);
	viewer_flat_text(c->f, c->x + VALUE_X * c->s, c->y, viewer_panel_value_size(value) * c->s, colour,
			 value);
	c->y += LINE * c->s;
}

// Of a panel with a heading.
static float panel_height(const viewer_panel *p, int lines)
{
	return (LINE * (float)lines + 40) * p->scale;
}

static cursor begin_panel(viewer_flat *f, const viewer_panel *p, float x, float y, int lines)
{
	const float s = p->scale;
	viewer_flat_rect(f, x, y, WIDTH * s, panel_height(p, lines), 8 * s, PANEL);
	return (cursor){f, s, x + INSET * s, y + INSET * s};
}

static void heading(cursor *c, const char *text, const char *badge, viewer_colour colour)
{
	const float end = viewer_flat_text(c->f, c->x, c->y, 11 * c->s, INK, text);
	if (badge) {
		viewer_flat_disc(c->f, end + 12 * c->s, c->y + 5.5F * c->s, 4 * c->s, colour);
		viewer_flat_text(c->f, end + 22 * c->s, c->y + 1 * c->s, SIZE * c->s, colour, badge);
	}
	c->y += 26 * c->s;
}

static const char *short_us(double ns, char *out, size_t size)
{
	snprintf(out, size,
		 ns >= 1e6   ? "%.2f ms"
		 : ns >= 1e5 ? "%.0f µs"
			     : "%.1f µs",
		 ns >= 1e6 ? ns / 1e6 : ns / 1e3);
	return out;
}

static bool odd_size(const viewer_panel *p)
{
	return tac_mesh_plausible_scale((double)p->size_m) != 1;
}

static int loop_lines(const viewer_panel *p)
{
	const tac_monitor_stats *s = p->frame->stats;
	int lines = (s ? 4 : 2) + odd_size(p);
	for (int i = TAC_CAUSE_NONE + 1; s && i < TAC_CAUSE_COUNT; i++)
		lines += s->misses_by_cause[i] > 0;
	return lines;
}

static void rate_line(cursor *c, const viewer_panel *p)
{
	char text[96] = "starting";
	if (p->rate_Hz > 0 && p->frames_per_s > 0)
		snprintf(text, sizeof text, "%.0f Hz, %.*f frames/s", (double)p->rate_Hz,
			 p->frames_per_s < 10 ? 1 : 0, (double)p->frames_per_s);
	else if (p->rate_Hz > 0)
		snprintf(text, sizeof text, "%.0f Hz", (double)p->rate_Hz);
	name_value(c, "rate", INK, text);
}

static void draw_loop(viewer_flat *f, const viewer_panel *p)
{
	static const viewer_colour colours[TAC_SERVO_STATE_COUNT] = {WARN, GOOD, BLUE, BAD};
	const tac_monitor_stats *s = p->frame->stats;
	cursor c = begin_panel(f, p, MARGIN * p->scale, MARGIN * p->scale, loop_lines(p));
	heading(&c, p->def->world->scene->name,
		p->paused  ? "paused"
		: p->shown ? tac_servo_state_name(p->shown->state)
			   : "starting",
		p->paused || !p->shown ? BLUE : colours[p->shown->state]);
	char text[96], a[32], b[32];
	name_value(&c, "device", INK, p->frame->device ? p->frame->device : "none");
	rate_line(&c, p);
	if (odd_size(p)) {
		snprintf(text, sizeof text, "%.3g m: %s", (double)p->size_m,
			 p->size_m > 1 ? "millimetres?" : "metres?");
		name_value(&c, "size", WARN, text);
	}
	if (!s)
		return;
	const bool counted = s->totals.ticks > 0 && s->compute.count > 0;
	snprintf(text, sizeof text, "p50 %s  p99 %s",
		 short_us((double)tac_histogram_percentile(&s->compute, 50), a, sizeof a),
		 short_us((double)tac_histogram_percentile(&s->compute, 99), b, sizeof b));
	name_value(&c, "tick", INK, counted ? text : "starting");
	snprintf(text, sizeof text, "%lld of %lld", (long long)s->totals.misses, (long long)s->totals.ticks);
	name_value(&c, "missed", s->totals.misses ? WARN : GOOD, counted ? text : "none yet");
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++) {
		if (s->misses_by_cause[i] == 0)
			continue;
		snprintf(text, sizeof text, "%lld %s", (long long)s->misses_by_cause[i],
			 tac_cause_name((tac_cause)i));
		name_value(&c, "", DIM, text);
	}
}

const char *viewer_panel_no_force(const tac_snapshot *s)
{
	static const struct {
		tac_limit_reason limit;
		const char *text;
	} gates[] = {
		{TAC_LIMIT_STOPPED, "emergency stop"},
		{TAC_LIMIT_LOST, "the device is off or lost"},
		{TAC_LIMIT_STALL, "the loop stood still"},
		{TAC_LIMIT_STALE, "the device sends no samples"},
		{TAC_LIMIT_UNKNOWN, "the collider gives no answer"},
		{TAC_LIMIT_DEADMAN, "hold the dead-man button"},
		{TAC_LIMIT_SPEED, "the device moves too fast"},
		{TAC_LIMIT_ENGAGE, "rising after the start"},
	};
	if (tac_dvec3_length(s->sent.force_N) > NO_FORCE_N)
		return NULL;
	if (s->state == TAC_SERVO_LOST)
		return "the device is lost or ended";
	if (s->state == TAC_SERVO_WAITING)
		return "inside an object: move out";
	if (s->state == TAC_SERVO_CLUTCHED)
		return "the clutch is held";
	if (!tac_snapshot_touching(s))
		return "nothing is touched";
	for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
		if (s->limits >> gates[i].limit & 1u)
			return gates[i].text;
	}
	return NULL;
}

const char *viewer_panel_touch(const tac_snapshot *s)
{
	return s->state == TAC_SERVO_WAITING ? "not free yet"
	       : s->contact_count > 0        ? "touching"
	       : tac_snapshot_touching(s)    ? "in tissue"
					     : "free";
}

static bool in_tissue(const tac_snapshot *s)
{
	return s->needle.present && s->needle.object >= 0;
}

// Friction of the contacts, what acts on a needle along its axis, or what a drill has done: the picture shows
// the body as it was at the start.
static void friction_line(cursor *c, const tac_snapshot *s)
{
	char text[96];
	if (in_tissue(s)) {
		snprintf(text, sizeof text, "tip %.2f, shaft %.2f N", s->needle.state.tip_N,
			 s->needle.state.shaft_N);
		name_value(c, "needle", INK, text);
		return;
	}
	if (s->drill.used) {
		double removed_m3 = 0;
		for (int i = 0; i < TAC_FIELD_LABELS; i++)
			removed_m3 += s->drill.state.removed_m3[i];
		snprintf(text, sizeof text, "removed %.1f mm3, load %.0f %%", 1e9 * removed_m3,
			 100 * s->drill.state.load);
		name_value(c, "drill", INK, text);
		return;
	}
	if (s->tissue.present && s->contact_count == 0) {
		const bool touching = s->tissue.state.loaded > 0 && s->tissue.touching;
		name_value(c, "friction", touching && s->tissue.slipping ? WARN : INK,
			   !touching            ? "none"
			   : s->tissue.slipping ? "slip"
						: "stick");
		return;
	}
	name_value(c, "friction", s->friction.slipping ? WARN : INK,
		   !s->friction.touching  ? "none"
		   : s->friction.slipping ? "slip"
					  : "stick");
}

// The tissue that a needle presses, or the layer at its tip and how deep that is.
static void tissue_line(cursor *c, const tac_scene *scene, const tac_snapshot_needle *n)
{
	const tac_scene_object *object = &scene->objects[n->object];
	char text[96];
	if (n->state.layer >= 0 && n->state.layer < object->layers.list_count)
		snprintf(text, sizeof text, "%s, %.1f mm deep", object->layers.list[n->state.layer].material,
			 1e3 * n->state.depth_m);
	else
		snprintf(text, sizeof text, "%s", object->name);
	name_value(c, "inside", INK, text);
}

// The body that yields, and how far.
static void pressed_line(cursor *c, const tac_scene *scene, const tac_snapshot_tissue *t)
{
	char text[96];
	snprintf(text, sizeof text, "%s, %.1f mm deep", scene->objects[t->object].name,
		 1e3 * t->state.depth_m);
	name_value(c, "pressed", INK, text);
}

// Whether the distance to every object was searched: some engines have none, and no body that is drilled or
// yields is searched (haptic/companion.h).
static bool all_searched(const tac_world *world)
{
	bool all = world->collider->nearest;
	for (int32_t i = 0; i < world->scene->object_count; i++)
		all = all && !world->objects[i].field && !world->objects[i].compliance;
	return all;
}

// What the device's own pose is inside of; where it is free, how far the tool is from the nearest object.
static void surroundings_line(cursor *c, const viewer_panel *p)
{
	const tac_surroundings *s = p->frame->surroundings;
	const tac_world *world = p->def->world;
	char text[96] = "";
	if (s && s->pair_count > 0) {
		const tac_surface_pair *pair = &s->pairs[0];
		const tac_mesh *mesh = world->objects[pair->object].mesh;
		const char *object = world->scene->objects[pair->object].name;
		const char *surface = mesh && pair->object_surface < mesh->surface_count
					      ? mesh->surfaces[pair->object_surface].name
					      : "";
		const bool named = *surface && strcmp(surface, object) != 0;
		snprintf(text, sizeof text, "%s%s%s", object, named ? ", " : "", named ? surface : "");
		name_value(c, "inside", INK, text);
		return;
	}
	if (s && s->nearest_object >= 0)
		snprintf(text, sizeof text, "%s, %.2f mm", world->scene->objects[s->nearest_object].name,
			 1e3 * s->distance_m);
	else if (p->shown->contact_count > 0)
		snprintf(text, sizeof text, "touched");
	else if (s ? !all_searched(world) : p->shown->live.world != 0)
		snprintf(text, sizeof text, "not measured");
	else if (s)
		snprintf(text, sizeof text, "nothing within %.0f mm", 1e3 * TAC_SURROUNDINGS_REACH_M);
	name_value(c, "nearest", INK, text);
}

static void draw_contact(viewer_flat *f, const viewer_panel *p)
{
	const tac_snapshot *s = p->shown;
	if (!s)
		return;
	const float w = WIDTH * p->scale;
	cursor c =
		begin_panel(f, p, (float)p->width - w - MARGIN * p->scale, MARGIN * p->scale, CONTACT_LINES);
	const bool free = s->state != TAC_SERVO_WAITING && !tac_snapshot_touching(s);
	heading(&c, "contact", viewer_panel_touch(s), free ? GOOD : WARN);
	char text[96];
	snprintf(text, sizeof text, "%.2f N   %.0f mNm", tac_dvec3_length(s->sent.force_N),
		 1e3 * tac_dvec3_length(s->sent.torque_Nm));
	const char *reason = viewer_panel_no_force(s);
	name_value(&c, reason ? "no force" : "force", reason && !free ? WARN : INK, reason ? reason : text);
	snprintf(text, sizeof text, "%d", s->contact_count);
	name_value(&c, "contacts", INK, text);
	const double depth =
		tac_dvec3_length(tac_dvec3_sub(s->T_world_device.position, s->T_world_sco.position));
	snprintf(text, sizeof text, "%.2f mm", 1e3 * depth);
	name_value(&c, "depth", INK, text);
	friction_line(&c, s);
	snprintf(text, sizeof text, "%.0f N/m%s", s->stiffness_N_per_m, s->derated ? ", derated" : "");
	name_value(&c, "stiffness", s->derated ? WARN : INK, text);
	if (in_tissue(s))
		tissue_line(&c, p->def->world->scene, &s->needle);
	else if (s->tissue.state.loaded > 0)
		pressed_line(&c, p->def->world->scene, &s->tissue);
	else
		surroundings_line(&c, p);
}

// ---- plots ----

// The next number at or above `value` that is 1, 2 or 5 times a power of ten.
static float round_up(float value)
{
	const float power = powf(10, floorf(log10f(fmaxf(value, 1e-6F))));
	const float lead = value / power;
	return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void draw_plot(viewer_flat *f, const viewer_panel *p, float y, const viewer_trail_bin *bins,
		      bool force)
{
	const float s = p->scale, x = MARGIN * s, w = 2 * WIDTH * s, h = 74 * s;
	viewer_flat_rect(f, x, y, w, h, 8 * s, PANEL);
	float max = 0, last = 0;
	for (int i = 0; i < VIEWER_TRAIL_BINS; i++) {
		const float value = force ? bins[i].force_N : bins[i].compute_us;
		max = fmaxf(max, value);
		if (force ? bins[i].has_force : bins[i].has_tick)
			last = value;
	}
	// A single tick far above the period would flatten all others.
	const float limit = force ? HUGE_VALF : 1.5e-3F * (float)p->def->period_ns;
	const float top = round_up(fminf(fmaxf(max, force ? 1.0F : 10.0F), limit));
	const float left = x + 14 * s, right = x + w - 74 * s, low = y + h - 12 * s, high = y + 26 * s;
	for (int i = 0; i <= 2; i++) {
		const float level = low + (high - low) * (float)i / 2;
		viewer_flat_line(f, left, level, right, level, 1 * s, GRID);
	}
	char text[48];
	viewer_flat_text(f, left, y + 9 * s, SIZE * s, DIM, force ? "force" : "tick, max of 20 ms");
	snprintf(text, sizeof text, force ? "%.2f N" : "%.0f µs", (double)last);
	viewer_flat_text(f, right + 10 * s, low - 12 * s, SIZE * s, force ? GOOD : BLUE, text);
	snprintf(text, sizeof text, force ? "%g N" : "%g µs", (double)top);
	viewer_flat_text(f, right + 10 * s, high - 4 * s, 7.5F * s, DIM, text);
	float px = 0, py = 0;
	bool pen_down = false;
	for (int i = 0; i < VIEWER_TRAIL_BINS; i++) {
		const viewer_trail_bin *b = &bins[i];
		if (!(force ? b->has_force : b->has_tick))
			continue; // a display slower than the bins leaves gaps; the line bridges them
		const float at = left + (right - left) * (float)i / (VIEWER_TRAIL_BINS - 1);
		const float level = low + (high - low) * fminf((force ? b->force_N : b->compute_us) / top, 1);
		if (pen_down)
			viewer_flat_line(f, px, py, at, level, 1.6F * s, force ? GOOD : BLUE);
		if (!force && b->missed)
			viewer_flat_disc(f, at, high, 2.5F * s, BAD);
		px = at;
		py = level;
		pen_down = true;
	}
}

// Below the contact panel, so that the middle of the scene stays visible.
static void help_extent(const viewer_panel *p, float *out_top, float *out_bottom)
{
	const float s = p->scale, h = (56 + LINE * HELP_LINES) * s;
	const float top = MARGIN * s + panel_height(p, CONTACT_LINES) + 8 * s;
	*out_top = fmaxf(fminf(top, (float)p->height - h - 76 * s), 0);
	*out_bottom = *out_top + h;
}

bool viewer_panel_place_labels(const viewer_panel *p, float panels_bottom, float w, float h, float *x,
			       float *y)
{
	const float s = p->scale, gap = 8 * s, side = (MARGIN + WIDTH) * s;
	const float right_side = p->help ? (MARGIN + HELP_WIDTH) * s : side;
	const float plots_top = (float)p->height - (MARGIN + PLOTS_HEIGHT) * s;
	const float left = side + gap, right = (float)p->width - right_side - gap - w;
	if (p->help) {
		float top, bottom;
		help_extent(p, &top, &bottom);
		panels_bottom = fmaxf(panels_bottom, bottom);
	}
	*y = fmaxf(fminf(*y, (float)p->height - h - gap), gap);
	*x = fmaxf(fminf(*x, (float)p->width - w - gap), gap);
	// Beside a panel, the column goes between the panels or, where it is too wide for that, below them.
	if (*y < panels_bottom + gap && left <= right)
		*x = fmaxf(fminf(*x, right), left);
	else if (*y < panels_bottom + gap)
		*y = panels_bottom + gap;
	// The plots are twice as wide as a panel.
	const float plots_right = (MARGIN + 2 * WIDTH) * s + gap;
	if (*y + h > plots_top - gap && *x < plots_right) {
		if (plots_right + w + gap <= (float)p->width && !p->help)
			*x = plots_right;
		else
			*y = fmaxf(plots_top - gap - h, gap);
	}
	return (*y >= panels_bottom || (*x >= side && *x <= right)) &&
	       (*y + h <= plots_top || *x >= plots_right - gap);
}

// Names in one column to the right of their points, ordered by height, so that no name covers another and no
// lines cross.
static void draw_labels(viewer_flat *f, const viewer_panel *p)
{
	const float s = p->scale, row = 28 * s;
	const viewer_label *order[VIEWER_LABELS];
	float x = 0, y = 0, widest = 0;
	for (int i = 0; i < p->label_count; i++) {
		const viewer_label *l = &p->labels[i];
		int at = i;
		for (; at > 0 && order[at - 1]->y > l->y; at--)
			order[at] = order[at - 1];
		order[at] = l;
		x = fmaxf(x, l->x + 64 * s);
		y += (l->y - 40 * s) / (float)p->label_count;
		widest = fmaxf(widest, viewer_flat_width(SIZE * s, l->text) + 16 * s);
	}
	const int lines = loop_lines(p) > CONTACT_LINES ? loop_lines(p) : CONTACT_LINES;
	y -= 0.5F * row * (float)(p->label_count - 1);
	if (!viewer_panel_place_labels(p, MARGIN * s + panel_height(p, lines), widest,
				       row * (float)p->label_count, &x, &y))
		return;
	for (int i = 0; i < p->label_count; i++, y += row) {
		const viewer_label *l = order[i];
		const float w = viewer_flat_width(SIZE * s, l->text) + 16 * s;
		viewer_flat_line(f, l->x, l->y, x, y + 11 * s, 1.2F * s, WARN);
		viewer_flat_disc(f, l->x, l->y, 2.5F * s, WARN);
		viewer_flat_rect(f, x, y, w, 22 * s, 5 * s, 0x0b0f14c8U);
		viewer_flat_text(f, x + 8 * s, y + 6.5F * s, SIZE * s, WARN, l->text);
	}
}

float viewer_panel_bar_m(float m_per_pixel, float max_pixels, char *out_text, size_t size)
{
	const float most = m_per_pixel * max_pixels;
	const float power = powf(10, floorf(log10f(fmaxf(most, 1e-9F))));
	const float lead = most / power;
	const float length = power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
	snprintf(out_text, size,
		 length >= 0.999F           ? "%.0f m"
		 : length >= 1e-3F * 0.999F ? "%.0f mm"
					    : "%.3g µm",
		 (double)length * (length >= 0.999F           ? 1
				   : length >= 1e-3F * 0.999F ? 1e3
							      : 1e6));
	return length;
}

// At the lower right: how long something is at the distance of the camera's target.
static void draw_bar(viewer_flat *f, const viewer_panel *p)
{
	char text[32];
	const float s = p->scale;
	// Beside the plots, also in a small window.
	const float room = (float)p->width - (3 * MARGIN + 2 * WIDTH) * s;
	const float longest = fmaxf(fminf(room, 160 * s), 40 * s);
	const float pixels = viewer_panel_bar_m(p->m_per_pixel, longest, text, sizeof text) / p->m_per_pixel;
	const float right = (float)p->width - MARGIN * s, y = (float)p->height - (MARGIN + 34) * s;
	viewer_flat_line(f, right - pixels, y, right, y, 2 * s, INK);
	viewer_flat_line(f, right - pixels, y - 5 * s, right - pixels, y + 5 * s, 2 * s, INK);
	viewer_flat_line(f, right, y - 5 * s, right, y + 5 * s, 2 * s, INK);
	viewer_flat_text(f, right - 0.5F * (pixels + viewer_flat_width(SIZE * s, text)), y - 19 * s, SIZE * s,
			 INK, text);
}

void viewer_panel_draw(viewer_flat *f, const viewer_panel *p)
{
	const float s = p->scale;
	viewer_trail_bin bins[VIEWER_TRAIL_BINS];
	viewer_trail_read(p->trail, bins);
	// In a small window the help takes the place of what it would cover.
	float top, bottom;
	help_extent(p, &top, &bottom);
	const bool over_contact = p->help && top < MARGIN * s + panel_height(p, CONTACT_LINES);
	const bool over_plots = p->help && bottom > (float)p->height - (MARGIN + PLOTS_HEIGHT) * s &&
				(float)p->width < (2 * WIDTH + HELP_WIDTH + 2 * MARGIN) * s;
	draw_loop(f, p);
	if (!over_contact)
		draw_contact(f, p);
	draw_labels(f, p);
	const float foot = (float)p->height - (MARGIN + 74) * s;
	if (!over_plots) {
		draw_plot(f, p, foot - 82 * s, bins, false);
		draw_plot(f, p, foot, bins, true);
	}
	draw_bar(f, p);
	const char *hint = "? help";
	viewer_flat_text(f, (float)p->width - viewer_flat_width(SIZE * s, hint) - MARGIN * s,
			 (float)p->height - (MARGIN + 9) * s, SIZE * s, DIM, hint);
}

void viewer_panel_notice(viewer_flat *f, const viewer_panel *p)
{
	char text[96] = "";
	if (p->message)
		snprintf(text, sizeof text, "%s", p->message);
	else if (p->paused)
		snprintf(text, sizeof text, p->back ? "paused, %d snapshots back" : "paused", p->back);
	if (!*text)
		return;
	const float s = p->scale, w = viewer_flat_width(SIZE * s, text) + 28 * s;
	const float x = ((float)p->width - w) / 2, y = (MARGIN + 4) * s;
	viewer_flat_rect(f, x, y, w, 28 * s, 14 * s, PANEL);
	viewer_flat_text(f, x + 14 * s, y + 9.5F * s, SIZE * s, INK, text);
}

void viewer_panel_help(viewer_flat *f, const viewer_panel *p)
{
	static const char *const keys[HELP_LINES][2] = {
		{"left, right drag", "turn the view"},
		{"  device mouse", "left: move the device; wheel: depth"},
		{"middle drag", "move the view"},
		{"wheel", "zoom"},
		{"R", "reset the view"},
		{"C", "next camera of the scene"},
		{"space", "pause, continue"},
		{"left, right", "step back, forward while paused"},
		{"O", "show, hide panels and plots"},
		{"G", "show, hide the ghost of the device"},
		{"N", "show, hide contacts and normals"},
		{"L", "show, hide names of surfaces"},
		{"F", "show, hide the force"},
		{"S", "show, hide protected structures"},
		{"P", "write a picture to this folder"},
		{"?", "this help"},
		{"Q, Esc", "close; ends a run without --seconds"},
	};
	const float s = p->scale, w = HELP_WIDTH * s;
	const float x = fmaxf((float)p->width - w - MARGIN * s, 0);
	float y, bottom;
	help_extent(p, &y, &bottom);
	viewer_flat_rect(f, x, y, w, bottom - y, 10 * s, 0x0b0f14e6U);
	viewer_flat_text(f, x + 18 * s, y + 16 * s, 11 * s, INK, "keys and mouse");
	for (int i = 0; i < HELP_LINES; i++) {
		const float line = y + (44 + LINE * (float)i) * s;
		viewer_flat_text(f, x + 18 * s, line, SIZE * s, BLUE, keys[i][0]);
		viewer_flat_text(f, x + 174 * s, line, SIZE * s, INK, keys[i][1]);
	}
}
