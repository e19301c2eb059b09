// Viewer panel: the text and the plots over the picture.
#ifndef TAC_APPS_VIEWER_PANEL_H
#define TAC_APPS_VIEWER_PANEL_H

#include "apps/viewer.h"
#include "apps/viewer_flat.h"
#include "apps/viewer_trail.h"

#define VIEWER_LABELS 4

// A name at a place of the picture, pixels.
typedef struct viewer_label {
	float x, y;
	char text[96];
} viewer_label;

typedef struct viewer_panel {
	const viewer_def *def;
	const viewer_frame *frame;
	const tac_snapshot *shown; // of the first tool; NULL: none yet
	viewer_trail *trail;
	float scale; // pixels of the frame in one of the design's
	int width, height;
	float rate_Hz;      // as measured
	float frames_per_s; // of the display
	bool help, paused;
	int behind;          // snapshots back in the history, while paused
	const char *message; // for a few seconds; NULL: none
	viewer_label labels[VIEWER_LABELS];
	int label_count;
} viewer_panel;

void viewer_panel_draw(viewer_flat *f, const viewer_panel *p);
// What was done just now, and how far back a paused picture is.
void viewer_panel_notice(viewer_flat *f, const viewer_panel *p);

void viewer_panel_help(viewer_flat *f, const viewer_panel *p);

#endif
