// Viewer render: draws one picture of bodies: a light with soft shadows, ambient light from the sky, a ground
// that receives shadows, and ghosts that are visible through the bodies around them. A picture has four
// samples a pixel if the driver supports it.
#ifndef TAC_APPS_VIEWER_RENDER_H
#define TAC_APPS_VIEWER_RENDER_H

#include "apps/viewer/camera.h"
#include "apps/viewer/flat.h"
#include "apps/viewer/gl.h"
#include "apps/viewer/mesh.h"
#include "base/algebra.h"
#include "base/result.h"

#include <stdbool.h>

#define VIEWER_LIT      16 // surfaces of a body that can be highlighted at once
#define VIEWER_TOUCHED  4  // points of a body whose surroundings can be
#define VIEWER_SURFACES 8  // colours of a body whose surfaces have their own

typedef struct viewer_item {
	const viewer_mesh *mesh;
	tac_pose T_world_body;
	tac_vec3 stretch; // along the body's axes
	viewer_colour colour;
	float gloss; // 0 … 1
	float glow;  // emitted light, 0: none
	bool ghost;  // transparent, casts no shadow
	bool mark;   // an arrow or dot: casts no shadow and shows through bodies that hide it
	float fade;  // 0 … 1: how much of a body that is fading away is left; it casts no shadow. 0: not
		     // fading
	// One colour for each surface of the body, VIEWER_SURFACES of them; NULL: `colour` for all.
	const viewer_colour *surface_colours;
	int lit_count;
	int32_t lit[VIEWER_LIT]; // highlighted surfaces
	int touched_count;
	tac_vec3 touched[VIEWER_TOUCHED]; // points whose surroundings are highlighted
} viewer_item;

typedef struct viewer_picture {
	const viewer_item *items;
	int item_count;
	viewer_camera camera;
	tac_vec3 centre; // of everything that may cast a shadow
	float radius;
	float ground; // height along the camera's up
	bool grounded;
} viewer_picture;

typedef struct viewer_render {
	GLuint body, ghost, back, ground, depth; // programs
	GLuint empty;                            // vertex array without attributes
	viewer_gl_depth shadow;
	GLuint framebuffer, colour_buffer, depth_buffer; // multisampled
	GLuint resolved, resolved_buffer;                // the finished picture
	int width, height;
	int samples; // a pixel; 0: the driver supports only one
	bool fine;   // the framebuffer has all of them now
} viewer_render;

// TAC_ERROR_SYSTEM with a log line: the driver lacks a feature. Thread (all): the visual one.
tac_result viewer_render_init(viewer_render *r);
void viewer_render_fini(viewer_render *r);

// Draws the picture with `flat` over it and copies the result to the window's framebuffer. `fine`: with all
// samples, and the result is also kept in `resolved`. Otherwise with one sample, which is faster without a
// graphics processor.
void viewer_render_draw(viewer_render *r, const viewer_picture *picture, viewer_flat *flat, int width,
			int height, bool fine);

#endif
