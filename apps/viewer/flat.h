// Viewer flat: the overlay of panels, lines and text, collected during a frame and drawn at once.
// Lengths are pixels from the upper left corner of the frame, y down.
#ifndef TAC_APPS_VIEWER_FLAT_H
#define TAC_APPS_VIEWER_FLAT_H

#include "base/result.h"

#include <stdint.h>

#define VIEWER_FLAT_VERTICES 65536 // of a frame; further ones are dropped

// Red, green, blue, opacity: 0xrrggbbaa.
typedef uint32_t viewer_colour;

typedef struct viewer_flat_vertex {
	float x, y, u, v;
	uint8_t colour[4];
} viewer_flat_vertex;

typedef struct viewer_flat {
	uint32_t program, texture, array, buffer;
	int count;
	viewer_flat_vertex *vertices;
} viewer_flat;

// TAC_ERROR_MEMORY or TAC_ERROR_SYSTEM (the graphics driver) with a log line. Thread (all): the visual one.
tac_result viewer_flat_init(viewer_flat *f);
void viewer_flat_fini(viewer_flat *f);

void viewer_flat_rect(viewer_flat *f, float x, float y, float w, float h, float radius, viewer_colour colour);
void viewer_flat_line(viewer_flat *f, float x0, float y0, float x1, float y1, float width,
		      viewer_colour colour);
void viewer_flat_disc(viewer_flat *f, float x, float y, float radius, viewer_colour colour);

// `y` is the top of the capitals, `size` their height. Returns the x at which the text ends.
float viewer_flat_text(viewer_flat *f, float x, float y, float size, viewer_colour colour, const char *text);
float viewer_flat_width(float size, const char *text);

// Draws the overlay and clears it.
void viewer_flat_draw(viewer_flat *f, int width, int height);

#endif
