// Viewer render: one picture of bodies in soft light: a light with shadows, a sky, a ground that carries the
// shadows, and ghosts that are seen through what they are in. Everything is drawn with four samples a pixel
// where the driver has them.
#ifndef TAC_APPS_VIEWER_RENDER_H
#define TAC_APPS_VIEWER_RENDER_H

#include "apps/viewer_camera.h"
#include "apps/viewer_flat.h"
#include "apps/viewer_gl.h"
#include "apps/viewer_mesh.h"
#include "base/algebra.h"
#include "base/result.h"

#include <stdbool.h>

#define VIEWER_LIT 16 // surfaces of a body that can be highlighted at once

typedef struct viewer_item {
	const viewer_mesh *mesh;
	tac_pose T_world_body;
	tac_vec3 stretch; // along the body's axes
	viewer_colour colour;
	float gloss; // 0 … 1
	float glow;  // light of its own, 0: none
	bool ghost;  // seen through, casts no shadow
	bool thin;   // a mark: casts no shadow, and is seen through what hides it
	int lit_count;
	int32_t lit[VIEWER_LIT]; // surfaces shown as touched
} viewer_item;

typedef struct viewer_picture {
	const viewer_item *items;
	int item_count;
	viewer_camera camera;
	tac_vec3 centre; // of what may cast shadows
	float radius;
	float ground; // height along the camera's up
	bool grounded;
} viewer_picture;

typedef struct viewer_render {
	GLuint body, ghost, back, ground, depth; // programs
	GLuint empty;                            // array of a draw without attributes
	viewer_gl_depth shadow;
	GLuint framebuffer, colour_buffer, depth_buffer; // with several samples
	GLuint resolved, resolved_buffer;                // the finished picture
	int width, height;
	int samples; // a pixel; 0: the driver cannot do more than one
	bool fine;   // with all of them, as far as the framebuffer is now
} viewer_render;

// TAC_ERROR_SYSTEM with a log line where the driver lacks something. Thread (all): the visual one.
tac_result viewer_render_init(viewer_render *r);
void viewer_render_fini(viewer_render *r);

// Draws the picture, then `flat` over it, and copies the result to the window's framebuffer. `fine`: with all
// samples, and it stays in `resolved`, too; else with one, which is faster without a graphics processor.
void viewer_render_draw(viewer_render *r, const viewer_picture *picture, viewer_flat *flat, int width,
			int height, bool fine);

#endif
