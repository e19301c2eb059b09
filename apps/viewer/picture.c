#include "apps/viewer/picture.h"

#include "base/log.h"
#include "base/output.h"

#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// Encodes the pixels of the framebuffer `from`. False after a log line.
static bool encode(GLuint from, int width, int height, FILE *file)
{
	uint8_t *pixels = malloc((size_t)width * (size_t)height * 3 + 1);
	if (!pixels) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for a picture of %d x %d, found none", width,
			height);
		return false;
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
	const bool encoded = png_image_write_to_stdio(&image, file, 0, pixels, -3 * width, NULL);
	free(pixels);
	if (!encoded)
		tac_log(TAC_LOG_ERROR, "viewer: expected to encode a picture, found: %s", image.message);
	return encoded;
}

tac_result viewer_picture_write(const char *path, GLuint from, int width, int height)
{
	// In memory first, so that the errors of the file are those of the file alone.
	char *bytes = NULL;
	size_t count = 0;
	FILE *memory = open_memstream(&bytes, &count);
	const bool encoded = memory && encode(from, width, height, memory);
	tac_result result = TAC_ERROR_MEMORY;
	tac_output *output = NULL;
	const bool closed =
		memory && fclose(memory) == 0 && bytes; // without memory, closing can leave nothing
	if (!memory || (encoded && !closed))
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for a picture, found none");
	if (encoded && closed)
		result = tac_output_create(path, "viewer", &output);
	if (result >= TAC_OK) {
		fwrite(bytes, 1, count, tac_output_file(output));
		result = tac_output_commit(&output);
	}
	free(bytes);
	return result;
}
