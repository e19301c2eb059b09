// Viewer GL: helpers for OpenGL 3.3 core, through libepoxy.
#ifndef TAC_APPS_VIEWER_GL_H
#define TAC_APPS_VIEWER_GL_H

#include <epoxy/gl.h>
#include <stdbool.h>
#include <stddef.h>

// Builds a program from a vertex and a fragment shader. 0 after a log line with the driver's message.
GLuint viewer_gl_program(const char *vertex, size_t vertex_bytes, const char *fragment,
			 size_t fragment_bytes);
#define VIEWER_GL_PROGRAM(vertex, fragment)                                                                  \
	viewer_gl_program((const char *)(vertex), sizeof(vertex), (const char *)(fragment), sizeof(fragment))

// Sets vertex attribute `index` of the bound buffer. GL_INT stays an integer in the shader.
void viewer_gl_attribute(GLuint index, int components, GLenum type, GLboolean normalised, GLsizei stride,
			 size_t offset);

// A framebuffer with only a depth texture, for comparison (shadows) or for reading.
typedef struct viewer_gl_depth {
	GLuint framebuffer, texture;
	int size;
} viewer_gl_depth;

bool viewer_gl_depth_init(viewer_gl_depth *d, int size, bool compare);
void viewer_gl_depth_fini(viewer_gl_depth *d);

#endif
