// Viewer font: letters with strokes of constant width, defined on a small grid and converted to a texture of
// signed distances, from which a shader draws them sharp at any size.
#ifndef TAC_APPS_VIEWER_FONT_H
#define TAC_APPS_VIEWER_FONT_H

#include <stdint.h>

#define VIEWER_FONT_CELL_W  40 // texels of a letter
#define VIEWER_FONT_CELL_H  64
#define VIEWER_FONT_COLUMNS 16
#define VIEWER_FONT_ROWS    6
#define VIEWER_FONT_WIDTH   (VIEWER_FONT_CELL_W * VIEWER_FONT_COLUMNS)
#define VIEWER_FONT_HEIGHT  (VIEWER_FONT_CELL_H * VIEWER_FONT_ROWS)

// Width of every letter as a fraction of the cell's height.
#define VIEWER_FONT_ADVANCE 0.5625F

// Fills the texture: 128 on the edge of a stroke, more inside, less outside. Rows begin at the top.
void viewer_font_make(uint8_t out_texels[VIEWER_FONT_HEIGHT][VIEWER_FONT_WIDTH]);

// The cell of the UTF-8 character at *text; moves *text past it. A character without a letter becomes '?'.
int viewer_font_next(const char **text);

#endif
