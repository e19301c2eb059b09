// Viewer GL: OpenGL 3.3 core through libepoxy, and what every part of the viewer needs of it.
#ifndef TAC_APPS_VIEWER_GL_H
#define TAC_APPS_VIEWER_GL_H

#include <epoxy/gl.h>
#include <stdbool.h>
#include <stddef.h>

// A program of a vertex and a fragment shader; 0, after a log line with the driver's words.
GLuint viewer_gl_program(const char *vertex, size_t vertex_bytes, const char *fragment,
			 size_t fragment_bytes);
#define VIEWER_GL_PROGRAM(vertex, fragment)                                                                  \
	viewer_gl_program((const char *)(vertex), sizeof(vertex), (const char *)(fragment), sizeof(fragment))

// Vertex attribute `index` of the bound buffer. Integers that are not to be normalised stay integers.
void viewer_gl_attribute(GLuint index, int components, GLenum type, GLboolean normalised, GLsizei stride,
			 size_t offset);

// A framebuffer with a depth texture alone, for comparisons (shadows) or for reading.
typedef struct viewer_gl_depth {
	GLuint framebuffer, texture;
	int size;
} viewer_gl_depth;

bool viewer_gl_depth_init(viewer_gl_depth *d, int size, bool compare);
void viewer_gl_depth_fini(viewer_gl_depth *d);

#endif
