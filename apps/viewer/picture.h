// Viewer picture: a framebuffer as a PNG file.
#ifndef TAC_APPS_VIEWER_PICTURE_H
#define TAC_APPS_VIEWER_PICTURE_H

#include "apps/viewer/gl.h"
#include "base/result.h"

// Writes the framebuffer `from`. TAC_ERROR_IO or TAC_ERROR_MEMORY with a log line.
// Thread: the visual one.
tac_result viewer_picture_write(const char *path, GLuint from, int width, int height);

#endif
