// Viewer panel: text and plots over the picture.
#ifndef TAC_APPS_VIEWER_PANEL_H
#define TAC_APPS_VIEWER_PANEL_H

#include "apps/viewer/flat.h"
#include "apps/viewer/trail.h"
#include "apps/viewer/viewer.h"

#define VIEWER_LABELS        4
#define VIEWER_PANEL_WIDTH   340.0F // design pixels
#define VIEWER_PANEL_VALUE_X 92.0F  // of the values, from the beginning of their names

// A name beside a point of the picture, in pixels.
typedef struct viewer_label {
	float x, y;
	char text[96];
} viewer_label;

typedef struct viewer_panel {
	const viewer_def *def;
	const viewer_frame *frame;
	const tac_snapshot *shown; // of the first tool; NULL: none yet
	viewer_trail *trail;
	float scale; // frame pixels per design pixel
	int width, height;
	float rate_Hz;      // of the loop, measured; 0: not yet
	float frames_per_s; // of the display; 0: not measured yet
	float m_per_pixel;  // at the camera's target
	float size_m;       // largest extent of the objects
	bool help, paused;
	int back;            // snapshots before the newest, while paused
	const char *message; // NULL: none
	viewer_label labels[VIEWER_LABELS];
	int label_count;
} viewer_panel;

void viewer_panel_draw(viewer_flat *f, const viewer_panel *p);

// The height of the capitals with which a value fits beside its name, in design pixels.
float viewer_panel_value_size(const char *value);

// "not free yet" (it began inside an object), "touching", "in tissue" (a needle without contacts) or "free".
const char *viewer_panel_touch(const tac_snapshot *snapshot);

// Why the user feels no force in this snapshot; NULL: there is one, or at least a contact that gives one.
const char *viewer_panel_no_force(const tac_snapshot *snapshot);

// The length of the scale bar, m: the largest of 1, 2 and 5 times a power of ten that is at most
// `max_pixels` long. Its text, such as "20 mm", goes into `out_text`.
float viewer_panel_bar_m(float m_per_pixel, float max_pixels, char *out_text, size_t size);

// Where the labels go: the upper left corner of a column of that size, as near to (x, y) as possible, in a
// window with panels of the given height at both upper corners, plots at the lower left one and, if it is
// open, the help on the right. False: there is no room beside them.
bool viewer_panel_place_labels(const viewer_panel *p, float panels_bottom, float w, float h, float *x,
			       float *y);

// The message, or the state of a paused picture.
void viewer_panel_notice(viewer_flat *f, const viewer_panel *p);

void viewer_panel_help(viewer_flat *f, const viewer_panel *p);

#endif
