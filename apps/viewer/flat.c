#include "apps/viewer/flat.h"

#include "apps/viewer/font.h"
#include "apps/viewer/gl.h"
#include "apps/viewer/shaders/flat.frag.h"
#include "apps/viewer/shaders/flat.vert.h"
#include "base/log.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

// Of the capitals' height: 6 grid units of 6 texels, in a cell of 64.
#define CELL_OF_CAPITAL (64.0F / 36.0F)
#define TOP_OF_CAPITAL  (10.0F / 36.0F) // from the cell's upper edge to the capitals'
#define LEFT_OF_LETTER  (8.0F / 36.0F)

static void make_texture(viewer_flat *f)
{
	static uint8_t texels[VIEWER_FONT_HEIGHT][VIEWER_FONT_WIDTH];
	viewer_font_make(texels);
	glGenTextures(1, &f->texture);
	glBindTexture(GL_TEXTURE_2D, f->texture);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, VIEWER_FONT_WIDTH, VIEWER_FONT_HEIGHT, 0, GL_RED,
		     GL_UNSIGNED_BYTE, texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
}

static void make_array(viewer_flat *f)
{
	glGenVertexArrays(1, &f->array);
	glBindVertexArray(f->array);
	glGenBuffers(1, &f->buffer);
	glBindBuffer(GL_ARRAY_BUFFER, f->buffer);
	const GLsizei stride = (GLsizei)sizeof(viewer_flat_vertex);
	viewer_gl_attribute(0, 2, GL_FLOAT, GL_FALSE, stride, offsetof(viewer_flat_vertex, x));
	viewer_gl_attribute(1, 2, GL_FLOAT, GL_FALSE, stride, offsetof(viewer_flat_vertex, u));
	viewer_gl_attribute(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, stride, offsetof(viewer_flat_vertex, colour));
}

tac_result viewer_flat_init(viewer_flat *f)
{
	*f = (viewer_flat){0};
	f->vertices = malloc(VIEWER_FLAT_VERTICES * sizeof *f->vertices);
	if (!f->vertices) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for the overlay, found none");
		return TAC_ERROR_MEMORY;
	}
	f->program = VIEWER_GL_PROGRAM(flat_vert, flat_frag);
	if (!f->program)
		return TAC_ERROR_SYSTEM;
	make_texture(f);
	make_array(f);
	return TAC_OK;
}

void viewer_flat_fini(viewer_flat *f)
{
	if (f->program) {
		glDeleteProgram(f->program);
		glDeleteTextures(1, &f->texture);
		glDeleteVertexArrays(1, &f->array);
		glDeleteBuffers(1, &f->buffer);
	}
	free(f->vertices);
	*f = (viewer_flat){0};
}

static void vertex(viewer_flat *f, float x, float y, float u, float v, viewer_colour c)
{
	f->vertices[f->count++] = (viewer_flat_vertex){
		x, y, u, v, {(uint8_t)(c >> 24), (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c}};
}

static void triangle(viewer_flat *f, const float a[2], const float b[2], const float c[2],
		     viewer_colour colour)
{
	if (f->count + 3 > VIEWER_FLAT_VERTICES)
		return;
	vertex(f, a[0], a[1], -1, -1, colour);
	vertex(f, b[0], b[1], -1, -1, colour);
	vertex(f, c[0], c[1], -1, -1, colour);
}

void viewer_flat_rect(viewer_flat *f, float x, float y, float w, float h, float radius, viewer_colour colour)
{
	enum { STEPS = 6 }; // of a rounded corner
	const float centre[2] = {x + w / 2, y + h / 2};
	const float corners[4][2] = {{x + w - radius, y + h - radius},
				     {x + radius, y + h - radius},
				     {x + radius, y + radius},
				     {x + w - radius, y + radius}};
	float last[2] = {x + w, y + radius}, next[2];
	for (int corner = 0; corner < 4; corner++) {
		for (int i = 0; i <= STEPS; i++) {
			const float angle = (float)M_PI_2 * ((float)corner + (float)i / STEPS);
			next[0] = corners[corner][0] + radius * cosf(angle);
			next[1] = corners[corner][1] + radius * sinf(angle);
			triangle(f, centre, last, next, colour);
			last[0] = next[0];
			last[1] = next[1];
		}
	}
	const float first[2] = {x + w, y + radius};
	triangle(f, centre, last, first, colour);
}

void viewer_flat_disc(viewer_flat *f, float x, float y, float radius, viewer_colour colour)
{
	viewer_flat_rect(f, x - radius, y - radius, 2 * radius, 2 * radius, radius, colour);
}

void viewer_flat_line(viewer_flat *f, float x0, float y0, float x1, float y1, float width,
		      viewer_colour colour)
{
	const float dx = x1 - x0, dy = y1 - y0, length = hypotf(dx, dy);
	if (!(length > 0))
		return;
	const float nx = -dy / length * width / 2, ny = dx / length * width / 2;
	const float a[2] = {x0 + nx, y0 + ny}, b[2] = {x0 - nx, y0 - ny}, c[2] = {x1 + nx, y1 + ny},
		    d[2] = {x1 - nx, y1 - ny};
	triangle(f, a, b, c, colour);
	triangle(f, b, d, c, colour);
}

float viewer_flat_text(viewer_flat *f, float x, float y, float size, viewer_colour colour, const char *text)
{
	const float height = size * CELL_OF_CAPITAL, width = height * VIEWER_FONT_CELL_W / VIEWER_FONT_CELL_H;
	while (*text) {
		const int cell = viewer_font_next(&text);
		if (cell != 0 && f->count + 6 <= VIEWER_FLAT_VERTICES) {
			const float u0 = (float)(cell % VIEWER_FONT_COLUMNS) / VIEWER_FONT_COLUMNS;
			const float v0 = (float)(cell / VIEWER_FONT_COLUMNS) / VIEWER_FONT_ROWS;
			const float u1 = u0 + 1.0F / VIEWER_FONT_COLUMNS, v1 = v0 + 1.0F / VIEWER_FONT_ROWS;
			const float left = x - size * LEFT_OF_LETTER, top = y - size * TOP_OF_CAPITAL;
			vertex(f, left, top, u0, v0, colour);
			vertex(f, left, top + height, u0, v1, colour);
			vertex(f, left + width, top, u1, v0, colour);
			vertex(f, left, top + height, u0, v1, colour);
			vertex(f, left + width, top + height, u1, v1, colour);
			vertex(f, left + width, top, u1, v0, colour);
		}
		x += height * VIEWER_FONT_ADVANCE;
	}
	return x;
}

float viewer_flat_width(float size, const char *text)
{
	float width = 0;
	while (*text) {
		viewer_font_next(&text);
		width += size * CELL_OF_CAPITAL * VIEWER_FONT_ADVANCE;
	}
	return width;
}

void viewer_flat_draw(viewer_flat *f, int width, int height)
{
	glDisable(GL_DEPTH_TEST);
	glDisable(GL_CULL_FACE);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glUseProgram(f->program);
	glUniform2f(glGetUniformLocation(f->program, "size"), (float)width, (float)height);
	glUniform1i(glGetUniformLocation(f->program, "letters"), 0);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(GL_TEXTURE_2D, f->texture);
	glBindVertexArray(f->array);
	glBindBuffer(GL_ARRAY_BUFFER, f->buffer);
	glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)f->count * sizeof *f->vertices), f->vertices,
		     GL_STREAM_DRAW);
	glDrawArrays(GL_TRIANGLES, 0, f->count);
	glDisable(GL_BLEND);
	f->count = 0;
}
