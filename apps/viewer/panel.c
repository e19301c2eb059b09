#include "apps/viewer/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INK    0xe8edf4ffU
#define DIM    0x93a0b1ffU
#define GOOD   0x5fd39affU
#define WARN   0xffb347ffU
#define BAD    0xff6b81ffU
#define BLUE   0x6cb6ffffU
#define PANEL  0x0b0f14d8U
#define GRID   0xffffff1cU
#define MARGIN 16.0F
#define SIZE   9.0F   // height of the capitals
#define LINE   19.0F  // line spacing
#define WIDTH  340.0F // of a panel

// Where the next line of a panel goes.
typedef struct cursor {
	viewer_flat *f;
	float s; // scale
	float x, y;
} cursor;

static void name_value(cursor *c, const char *name, viewer_colour colour, const char *value)
{
	viewer_flat_text(c->f, c->x, c->y, SIZE * c->s, DIM, name);
	viewer_flat_text(c->f, c->x + 92 * c->s, c->y, SIZE * c->s, colour, value);
	c->y += LINE * c->s;
}

static cursor begin_panel(viewer_flat *f, const viewer_panel *p, float x, float y, float w, int lines,
			  bool headed)
{
	const float s = p->scale;
	const float h = (LINE * (float)lines + (headed ? 32.0F : 8.0F) + 8) * s;
	viewer_flat_rect(f, x, y, w * s, h, 8 * s, PANEL);
	return (cursor){f, s, x + 14 * s, y + 14 * s};
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

static void draw_loop(viewer_flat *f, const viewer_panel *p)
{
	static const viewer_colour colours[TAC_SERVO_STATE_COUNT] = {WARN, GOOD, BLUE, BAD};
	const tac_monitor_stats *s = p->frame->stats;
	int lines = s ? 4 : 2;
	for (int i = TAC_CAUSE_NONE + 1; s && i < TAC_CAUSE_COUNT; i++)
		lines += s->misses_by_cause[i] > 0;
	cursor c = begin_panel(f, p, MARGIN * p->scale, MARGIN * p->scale, WIDTH, lines, true);
	const tac_servo_state state = p->shown ? p->shown->state : TAC_SERVO_WAITING;
	heading(&c, p->def->world->scene->name, p->paused ? "paused" : tac_servo_state_name(state),
		p->paused ? BLUE : colours[state]);
	char text[96], a[32], b[32];
	name_value(&c, "device", INK, p->frame->device ? p->frame->device : "none");
	snprintf(text, sizeof text, "%.0f Hz, %.0f frames/s", (double)p->rate_Hz, (double)p->frames_per_s);
	name_value(&c, "rate", INK, text);
	if (!s)
		return;
	snprintf(text, sizeof text, "p50 %s  p99 %s",
		 short_us((double)tac_histogram_percentile(&s->compute, 50), a, sizeof a),
		 short_us((double)tac_histogram_percentile(&s->compute, 99), b, sizeof b));
	name_value(&c, "tick", INK, text);
	snprintf(text, sizeof text, "%lld of %lld", (long long)s->totals.misses, (long long)s->totals.ticks);
	name_value(&c, "missed", s->totals.misses ? WARN : GOOD, text);
	for (int i = TAC_CAUSE_NONE + 1; i < TAC_CAUSE_COUNT; i++) {
		if (s->misses_by_cause[i] == 0)
			continue;
		snprintf(text, sizeof text, "%lld %s", (long long)s->misses_by_cause[i],
			 tac_cause_name((tac_cause)i));
		name_value(&c, "", DIM, text);
	}
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
		begin_panel(f, p, (float)p->width - w - MARGIN * p->scale, MARGIN * p->scale, WIDTH, 6, true);
	const bool touching = s->contact_count > 0;
	heading(&c, "contact", touching ? "touching" : "free", touching ? WARN : GOOD);
	char text[96];
	snprintf(text, sizeof text, "%.2f N   %.0f mNm", tac_dvec3_length(s->sent.force_N),
		 1e3 * tac_dvec3_length(s->sent.torque_Nm));
	name_value(&c, "force", INK, text);
	snprintf(text, sizeof text, "%d", s->contact_count);
	name_value(&c, "contacts", INK, text);
	const double depth =
		tac_dvec3_length(tac_dvec3_sub(s->T_world_device.position, s->T_world_sco.position));
	snprintf(text, sizeof text, "%.2f mm", 1e3 * depth);
	name_value(&c, "depth", INK, text);
	name_value(&c, "friction", s->friction.slipping ? WARN : INK,
		   !s->friction.touching  ? "none"
		   : s->friction.slipping ? "slip"
					  : "stick");
	snprintf(text, sizeof text, "%.0f N/m%s", s->stiffness_N_per_m, s->derated ? ", derated" : "");
	name_value(&c, "stiffness", s->derated ? WARN : INK, text);
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
			viewer_flat_disc(f, at, high - 5 * s, 2.5F * s, BAD);
		px = at;
		py = level;
		pen_down = true;
	}
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
	x = fmaxf(fminf(x, (float)p->width - widest - 8 * s), 8 * s);
	y = fmaxf(y - 0.5F * row * (float)(p->label_count - 1), 8 * s);
	for (int i = 0; i < p->label_count; i++, y += row) {
		const viewer_label *l = order[i];
		const float w = viewer_flat_width(SIZE * s, l->text) + 16 * s;
		viewer_flat_line(f, l->x, l->y, x, y + 11 * s, 1.2F * s, WARN);
		viewer_flat_disc(f, l->x, l->y, 2.5F * s, WARN);
		viewer_flat_rect(f, x, y, w, 22 * s, 5 * s, 0x0b0f14c8U);
		viewer_flat_text(f, x + 8 * s, y + 6.5F * s, SIZE * s, WARN, l->text);
	}
}

void viewer_panel_draw(viewer_flat *f, const viewer_panel *p)
{
	const float s = p->scale;
	viewer_trail_bin bins[VIEWER_TRAIL_BINS];
	viewer_trail_read(p->trail, bins);
	draw_labels(f, p);
	draw_loop(f, p);
	draw_contact(f, p);
	const float foot = (float)p->height - (MARGIN + 74) * s;
	draw_plot(f, p, foot - 82 * s, bins, false);
	draw_plot(f, p, foot, bins, true);
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
	static const char *const keys[][2] = {
		{"left drag", "turn the view"},
		{"  device mouse", "move the device; wheel: in depth"},
		{"right drag", "turn the view"},
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
		{"P", "write a picture (PNG) to this folder"},
		{"?", "this help"},
		{"Q, Esc", "close the window; the run continues"},
	};
	enum { KEYS = sizeof keys / sizeof keys[0] };
	const float s = p->scale, w = 560 * s, h = (70 + LINE * KEYS) * s;
	const float x = ((float)p->width - w) / 2, y = ((float)p->height - h) / 2;
	viewer_flat_rect(f, x, y, w, h, 10 * s, 0x0b0f14e6U);
	viewer_flat_text(f, x + 26 * s, y + 24 * s, 12 * s, INK, "keys and mouse");
	for (int i = 0; i < KEYS; i++) {
		const float line = y + (58 + LINE * (float)i) * s;
		viewer_flat_text(f, x + 26 * s, line, SIZE * s, BLUE, keys[i][0]);
		viewer_flat_text(f, x + 216 * s, line, SIZE * s, INK, keys[i][1]);
	}
}
