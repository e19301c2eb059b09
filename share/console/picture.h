// Picture: the bodies of a station's scene as triangles, for a browser. They are built from the scene's text
// on a thread of their own. Scenes with mesh files have no picture: the files are the station's, and a text
// from the network must not open any here.
#ifndef TAC_SHARE_CONSOLE_PICTURE_H
#define TAC_SHARE_CONSOLE_PICTURE_H

#include <stdbool.h>

typedef struct picture picture;

// Begins to build the picture of `yaml`. NULL: there will be none.
picture *picture_begin(const char *yaml);

// The JSON text, once it is there, which the caller frees; NULL before, and if there is none.
char *picture_take(picture *p);

// Waits for the thread. NULL in the pointer is allowed.
void picture_end(picture **p);

#endif
