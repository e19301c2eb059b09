// Picture: the bodies of a station's scene as JSON, for a browser. They come from the network and are
// checked.
#ifndef TAC_SHARE_CONSOLE_PICTURE_H
#define TAC_SHARE_CONSOLE_PICTURE_H

#include "share/console/text.h"

#include <idl/tactus.h>

// Writes the bodies that are valid.
void picture_write(const tactus_Scene *scene, text *t);

#endif
