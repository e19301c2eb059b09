// Viewer camera: orbits a point. The azimuth is about the up direction of the scene's camera.
#ifndef TAC_APPS_VIEWER_CAMERA_H
#define TAC_APPS_VIEWER_CAMERA_H

#include "base/algebra.h"

#include <cglm/cglm.h>

typedef struct viewer_camera {
	tac_vec3 target;
	tac_vec3 up, front; // unit; `front` points from the target to the eye at azimuth and elevation 0
	float distance;
	float azimuth, elevation; // rad
	float field_of_view;      // rad, vertical
} viewer_camera;

// A camera from eye, target and up. Degenerate values are replaced by defaults.
viewer_camera viewer_camera_make(tac_vec3 eye, tac_vec3 target, tac_vec3 up, float field_of_view);

tac_vec3 viewer_camera_eye(const viewer_camera *c);

// Unit vectors to the right and upwards in the picture.
void viewer_camera_axes(const viewer_camera *c, tac_vec3 *out_right, tac_vec3 *out_up);

// Turns by angles in rad. The elevation is limited to just below the poles.
void viewer_camera_orbit(viewer_camera *c, float azimuth, float elevation);

// Moves the target in the picture's plane, as fractions of the picture's height.
void viewer_camera_pan(viewer_camera *c, float right, float up);

// Multiplies the distance by `factor`.
void viewer_camera_zoom(viewer_camera *c, float factor);

// Height of the picture at the target, in m.
float viewer_camera_height(const viewer_camera *c);

void viewer_camera_matrices(const viewer_camera *c, float aspect, mat4 out_view, mat4 out_projection);

#endif
