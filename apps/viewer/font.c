#include "apps/viewer/font.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// Strokes are separated by '|'. A point is an x from 0 to 4 and a y from 0 to 8; the base line is at 2, small
// letters end at 6, capitals at 8. '~' rounds the corners of the stroke.
static const char *const letters[] = {
	"",                                      // space
	"28 24|22 22",                           // !
	"18 16|38 36",                           // "
	"13 17|33 37|04 44|06 46",               // #
	"~47 38 18 07 05 45 43 32 12 03|29 21",  // $
	"48 02|~08 18 17 07 08|~43 33 32 42 43", // %
	"~42 17 18 38 37 04 02 22 44",           // &
	"28 26",                                 // '
	"~38 16 14 32",                          // (
	"~18 36 34 12",                          // )
	"27 23|06 44|04 46",                     // *
	"27 23|05 45",                           // +
	"22 11",                                 // ,
	"05 45",                                 // -
	"22 22",                                 // .
	"02 48",                                 // /
	"~02 08 48 42 02",                       // 0
	"07 28 22|02 42",                        // 1
	"~06 08 48 45 02|02 42",                 // 2
	"~07 08 48 45 25|~25 45 42 02 03",       // 3
	"38 04 44|38 32",                        // 4
	"48 08 05|~05 16 46 42 02 03",           // 5
	"~47 48 08 02 42 45 05",                 // 6
	"08 48 12",                              // 7
	"~05 08 48 45 05|~05 02 42 45 05",       // 8
	"~03 02 42 48 08 05 45",                 // 9
	"26 26|22 22",                           // :
	"26 26|22 11",                           // ;
	"47 05 43",                              // <
	"06 46|04 44",                           // =
	"07 45 03",                              // >
	"~07 08 48 45 25 24|22 22",              // ?
	"~33 36 16 13 43 48 08 02 42",           // @
	"02 28 42|04 44",                        // A
	"02 08|~08 48 45 05|~05 45 42 02",       // B
	"~47 48 08 02 42 43",                    // C
	"02 08|~08 48 42 02",                    // D
	"48 08 02 42|05 35",                     // E
	"48 08 02|05 35",                        // F
	"~47 48 08 02 42 45|45 25",              // G
	"02 08|42 48|05 45",                     // H
	"28 22|18 38|12 32",                     // I
	"~38 32 02 04",                          // J
	"02 08|48 05 42",                        // K
	"08 02 42",                              // L
	"02 08 25 48 42",                        // M
	"02 08 42 48",                           // N
	"~02 08 48 42 02",                       // O
	"02 08|~08 48 44 04",                    // P
	"~02 08 48 42 02|24 41",                 // Q
	"02 08|~08 48 45 05|25 42",              // R
	"~47 48 08 05 45 42 02 03",              // S
	"08 48|28 22",                           // T
	"~08 02 42 48",                          // U
	"08 22 48",                              // V
	"08 12 26 32 48",                        // W
	"08 42|02 48",                           // X
	"08 25 48|25 22",                        // Y
	"08 48 02 42",                           // Z
	"38 18 12 32",                           // [
	"08 42",                                 // backslash
	"18 38 32 12",                           // ]
	"06 28 46",                              // ^
	"01 41",                                 // _
	"18 27",                                 // `
	"46 42|~46 06 02 42",                    // a
	"08 02|~06 46 42 02",                    // b
	"~45 46 06 02 42 43",                    // c
	"48 42|~46 06 02 42",                    // d
	"04 44|~44 46 06 02 42 43",              // e
	"~38 18 12|06 36",                       // f
	"~46 40 00 01|~46 06 02 42",             // g
	"08 02|~06 46 42",                       // h
	"26 22|28 28",                           // i
	"~36 30 10|38 38",                       // j
	"08 02|36 04 42",                        // k
	"~18 12 32",                             // l
	"06 02|~06 26 22|~26 46 42",             // m
	"06 02|~06 46 42",                       // n
	"~02 06 46 42 02",                       // o
	"06 00|~06 46 42 02",                    // p
	"46 40|~46 06 02 42",                    // q
	"06 02|~03 06 36",                       // r
	"~45 46 06 04 44 42 02 03",              // s
	"~18 12 32|06 36",                       // t
	"~06 02 42 46|46 42",                    // u
	"06 22 46",                              // v
	"06 12 25 32 46",                        // w
	"06 42|02 46",                           // x
	"06 22|46 22 10",                        // y
	"06 46 02 42",                           // z
	"38 28 26 15 24 22 32",                  // {
	"28 21",                                 // |
	"18 28 26 35 24 22 12",                  // }
	"~04 16 34 46",                          // ~
	"06 00|~06 02 42 46|46 42",              // µ, after the last of ASCII
};
#define MICRO (('~' - ' ') + 1)

#define POINTS_MAX 64
#define ROUNDINGS  2
#define UNIT       6.0F  // texels of a grid unit
#define LEFT       8.0F  // texels from the cell's edge to x = 0
#define BASE       6.0F  // texels from the cell's lower edge to y = 0
#define HALF_WIDTH 0.46F // of a stroke, in grid units
#define DOT        0.72F // radius of a dot
#define SLOPE      48.0F // texture values a grid unit

typedef struct point {
	float x, y;
} point;

// Cuts the corners (G. Chaikin, 1974); the ends of an open stroke stay.
static int round_corners(point *p, int count)
{
	const bool closed = p[0].x == p[count - 1].x && p[0].y == p[count - 1].y;
	point out[POINTS_MAX];
	int used = 0;
	if (!closed)
		out[used++] = p[0];
	for (int i = 0; i + 1 < count && used + 3 < POINTS_MAX; i++) {
		out[used++] =
			(point){0.75F * p[i].x + 0.25F * p[i + 1].x, 0.75F * p[i].y + 0.25F * p[i + 1].y};
		out[used++] =
			(point){0.25F * p[i].x + 0.75F * p[i + 1].x, 0.25F * p[i].y + 0.75F * p[i + 1].y};
	}
	out[used++] = closed ? out[0] : p[count - 1];
	memcpy(p, out, (size_t)used * sizeof *p);
	return used;
}

static float distance(point at, point a, point b)
{
	const float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
	float t = length2 > 0 ? ((at.x - a.x) * dx + (at.y - a.y) * dy) / length2 : 0;
	t = fminf(fmaxf(t, 0), 1);
	return hypotf(at.x - a.x - t * dx, at.y - a.y - t * dy);
}

// Reads the next stroke of a letter. Returns its count of points; 0: no further stroke.
static int next_stroke(const char **text, point *out)
{
	int count = 0;
	const bool rounded = **text == '~';
	*text += rounded;
	while (**text && **text != '|') {
		if (**text == ' ') {
			++*text;
			continue;
		}
		out[count++] = (point){(float)((*text)[0] - '0'), (float)((*text)[1] - '0')};
		*text += 2;
	}
	*text += **text == '|';
	for (int i = 0; rounded && i < ROUNDINGS; i++)
		count = round_corners(out, count);
	return count;
}

// The value of a texel at a distance from a stroke.
static float shade(point at, const point *p, int count)
{
	float nearest = HUGE_VALF;
	for (int i = 0; i < count; i++)
		nearest = fminf(nearest, distance(at, p[i], p[i + 1 < count ? i + 1 : i]));
	const bool dot = count == 2 && p[0].x == p[1].x && p[0].y == p[1].y;
	return fminf(fmaxf(128 + SLOPE * ((dot ? DOT : HALF_WIDTH) - nearest), 0), 255);
}

void viewer_font_make(uint8_t out_texels[VIEWER_FONT_HEIGHT][VIEWER_FONT_WIDTH])
{
	memset(out_texels, 0, (size_t)VIEWER_FONT_HEIGHT * VIEWER_FONT_WIDTH);
	for (int letter = 0; letter <= MICRO; letter++) {
		const int left = letter % VIEWER_FONT_COLUMNS * VIEWER_FONT_CELL_W;
		const int top = letter / VIEWER_FONT_COLUMNS * VIEWER_FONT_CELL_H;
		const char *text = letters[letter];
		point p[POINTS_MAX];
		for (int count; (count = next_stroke(&text, p)) > 0;) {
			for (int i = 0; i < VIEWER_FONT_CELL_W * VIEWER_FONT_CELL_H; i++) {
				const int column = i % VIEWER_FONT_CELL_W, row = i / VIEWER_FONT_CELL_W;
				const point at = {((float)column + 0.5F - LEFT) / UNIT,
						  ((float)(VIEWER_FONT_CELL_H - row) - 0.5F - BASE) / UNIT};
				uint8_t *texel = &out_texels[top + row][left + column];
				*texel = (uint8_t)fmaxf(*texel, shade(at, p, count));
			}
		}
	}
}

int viewer_font_next(const char **text)
{
	const unsigned char *byte = (const unsigned char *)*text;
	if (byte[0] == 0xc2 && byte[1] == 0xb5) {
		*text += 2;
		return MICRO;
	}
	++*text;
	if (byte[0] >= 0x80) // skip the rest of a character that has no letter
		while ((*(const unsigned char *)*text & 0xc0) == 0x80)
			++*text;
	return byte[0] >= ' ' && byte[0] <= '~' ? byte[0] - ' ' : '?' - ' ';
}
