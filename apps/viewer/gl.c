#include "apps/viewer/gl.h"

#include "base/log.h"

static GLuint compile(GLenum kind, const char *text, size_t bytes)
{
	const GLuint shader = glCreateShader(kind);
	const GLint length = (GLint)bytes;
	glShaderSource(shader, 1, &text, &length);
	glCompileShader(shader);
	GLint compiled = 0;
	glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
	if (!compiled) {
		char message[512] = "";
		glGetShaderInfoLog(shader, sizeof message, NULL, message);
		tac_log(TAC_LOG_ERROR, "viewer: expected the driver to compile a shader, found: %s", message);
		glDeleteShader(shader);
		return 0;
	}
	return shader;
}

GLuint viewer_gl_program(const char *vertex, size_t vertex_bytes, const char *fragment, size_t fragment_bytes)
{
	const GLuint shaders[2] = {compile(GL_VERTEX_SHADER, vertex, vertex_bytes),
				   compile(GL_FRAGMENT_SHADER, fragment, fragment_bytes)};
	GLuint program = 0;
	if (shaders[0] && shaders[1]) {
		program = glCreateProgram();
		for (int i = 0; i < 2; i++)
			glAttachShader(program, shaders[i]);
		glLinkProgram(program);
		GLint linked = 0;
		glGetProgramiv(program, GL_LINK_STATUS, &linked);
		if (!linked) {
			tac_log(TAC_LOG_ERROR,
				"viewer: expected the driver to link a program, found an error");
			glDeleteProgram(program);
			program = 0;
		}
	}
	for (int i = 0; i < 2; i++)
		glDeleteShader(shaders[i]);
	return program;
}

void viewer_gl_attribute(GLuint index, int components, GLenum type, GLboolean normalised, GLsizei stride,
			 size_t offset)
{
	const void *at = (const char *)NULL + offset;
	if (type == GL_INT)
		glVertexAttribIPointer(index, components, type, stride, at);
	else
		glVertexAttribPointer(index, components, type, normalised, stride, at);
	glEnableVertexAttribArray(index);
}

bool viewer_gl_depth_init(viewer_gl_depth *d, int size, bool compare)
{
	*d = (viewer_gl_depth){.size = size};
	glGenTextures(1, &d->texture);
	glBindTexture(GL_TEXTURE_2D, d->texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, size, size, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
		     NULL);
	const GLint filter = compare ? GL_LINEAR : GL_NEAREST;
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
	const float far[4] = {1, 1, 1, 1};
	glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, far);
	if (compare) {
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
	}
	glGenFramebuffers(1, &d->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, d->framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, d->texture, 0);
	glDrawBuffer(GL_NONE);
	glReadBuffer(GL_NONE);
	const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	if (!complete)
		tac_log(TAC_LOG_ERROR,
			"viewer: expected a depth texture of %d x %d, found that the driver cannot make one",
			size, size);
	return complete;
}

void viewer_gl_depth_fini(viewer_gl_depth *d)
{
	glDeleteFramebuffers(1, &d->framebuffer);
	glDeleteTextures(1, &d->texture);
	*d = (viewer_gl_depth){0};
}
