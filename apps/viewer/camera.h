// Viewer camera: it orbits a point. Angles are about the up direction of the scene's camera.
#ifndef TAC_APPS_VIEWER_CAMERA_H
#define TAC_APPS_VIEWER_CAMERA_H

#include "base/algebra.h"

#include <cglm/cglm.h>

typedef struct viewer_camera {
	tac_vec3 target;
	tac_vec3 up, front; // unit; `front` is where azimuth 0 looks from, at right angles to `up`
	float distance;
	float azimuth, elevation; // rad
	float field_of_view;      // rad, from the lower to the upper edge
} viewer_camera;

// As given by its eye, target and up; values that make no sense are put right.
viewer_camera viewer_camera_make(tac_vec3 eye, tac_vec3 target, tac_vec3 up, float field_of_view);

tac_vec3 viewer_camera_eye(const viewer_camera *c);

// Unit vectors to the right and upwards in the picture.
void viewer_camera_axes(const viewer_camera *c, tac_vec3 *out_right, tac_vec3 *out_up);

// Turns by angles; the elevation stays short of the poles.
void viewer_camera_orbit(viewer_camera *c, float azimuth, float elevation);

// Moves the target in the picture's plane, in parts of the picture's height.
void viewer_camera_pan(viewer_camera *c, float right, float up);

// Comes closer (factor < 1) or goes away.
void viewer_camera_zoom(viewer_camera *c, float factor);

// Metres of one part of the picture's height, at the target.
float viewer_camera_height(const viewer_camera *c);

void viewer_camera_matrices(const viewer_camera *c, float aspect, mat4 out_view, mat4 out_projection);

#endif
