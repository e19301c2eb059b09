// Report section: what was drilled, as two sections through the body, in the colours of its materials: what
// remains, what was removed, and the protected structures, damaged or not.
#ifndef TAC_APPS_REPORT_REPORT_SECTION_H
#define TAC_APPS_REPORT_REPORT_SECTION_H

#include "haptic/world.h"

#include <stdio.h>

typedef struct report_section {
	const tac_field *before, *after; // of the body; NULL: nothing was drilled
	const tac_scene_object *object;  // its protected structures
	const tac_world_body *body;      // those of them that are meshes
	const char *materials[TAC_FIELD_LABELS];
} report_section;

// Writes the figures, unless nothing was drilled.
void report_section_write(FILE *file, const report_section *section);

#endif
