// Viewer panel: text and plots over the picture.
#ifndef TAC_APPS_VIEWER_PANEL_H
#define TAC_APPS_VIEWER_PANEL_H

#include "apps/viewer/flat.h"
#include "apps/viewer/trail.h"
#include "apps/viewer/viewer.h"

#define VIEWER_LABELS 4

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
	float rate_Hz;      // of the loop, measured
	float frames_per_s; // of the display
	bool help, paused;
	int back;            // snapshots before the newest, while paused
	const char *message; // NULL: none
	viewer_label labels[VIEWER_LABELS];
	int label_count;
} viewer_panel;

void viewer_panel_draw(viewer_flat *f, const viewer_panel *p);

// The message, or the state of a paused picture.
void viewer_panel_notice(viewer_flat *f, const viewer_panel *p);

void viewer_panel_help(viewer_flat *f, const viewer_panel *p);

#endif
