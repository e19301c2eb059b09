#include "apps/viewer/picture.h"

#include "base/log.h"

#include <png.h>
#include <stdlib.h>

tac_result viewer_picture_write(const char *path, GLuint from, int width, int height)
{
	uint8_t *pixels = malloc((size_t)width * (size_t)height * 3 + 1);
	if (!pixels) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for a picture of %d x %d, found none", width,
			height);
		return TAC_ERROR_MEMORY;
	}
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = (png_uint_32)width,
		.height = (png_uint_32)height,
		.format = PNG_FORMAT_RGB,
	};
	// OpenGL's first row is the bottom one; a negative stride reverses the order.
	const int written = png_image_write_to_file(&image, path, 0, pixels, -3 * width, NULL);
	free(pixels);
	if (!written) {
		tac_log(TAC_LOG_ERROR, "viewer: expected to write %s, found: %s", path, image.message);
		return TAC_ERROR_IO;
	}
	return TAC_OK;
}
