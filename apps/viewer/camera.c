#include "apps/viewer/camera.h"

#include <math.h>

#define ELEVATION_MAX 1.55F // rad; at a pole the right direction is undefined
#define DISTANCE_MIN  1e-3F
#define DISTANCE_MAX  1e3F

viewer_camera viewer_camera_make(tac_vec3 eye, tac_vec3 target, tac_vec3 up, float field_of_view)
{
	viewer_camera c = {.target = target, .field_of_view = field_of_view};
	if (!(field_of_view > 0.05F && field_of_view < 2.8F))
		c.field_of_view = 0.7F;
	c.up = tac_vec3_length(up) > 0 ? tac_vec3_normalize(up) : tac_vec3_make(0, 0, 1);
	tac_vec3 away = tac_vec3_sub(eye, target);
	c.distance = tac_vec3_length(away);
	if (!(c.distance > DISTANCE_MIN)) {
		c.distance = 0.3F;
		away = tac_vec3_perpendicular(c.up);
	}
	away = tac_vec3_normalize(away);
	const float height = tac_vec3_dot(away, c.up);
	const tac_vec3 level = tac_vec3_sub(away, tac_vec3_scale(c.up, height));
	c.front = tac_vec3_length(level) > 1e-3F ? tac_vec3_normalize(level) : tac_vec3_perpendicular(c.up);
	viewer_camera_orbit(&c, 0, asinf(fminf(fmaxf(height, -1), 1)));
	return c;
}

// From the target to the eye, unit.
static tac_vec3 outwards(const viewer_camera *c)
{
	const tac_vec3 side = tac_vec3_cross(c->up, c->front);
	const tac_vec3 level = tac_vec3_add(tac_vec3_scale(c->front, cosf(c->azimuth)),
					    tac_vec3_scale(side, sinf(c->azimuth)));
	return tac_vec3_add(tac_vec3_scale(level, cosf(c->elevation)),
			    tac_vec3_scale(c->up, sinf(c->elevation)));
}

tac_vec3 viewer_camera_eye(const viewer_camera *c)
{
	return tac_vec3_add(c->target, tac_vec3_scale(outwards(c), c->distance));
}

void viewer_camera_axes(const viewer_camera *c, tac_vec3 *out_right, tac_vec3 *out_up)
{
	const tac_vec3 out = outwards(c);
	*out_right = tac_vec3_normalize(tac_vec3_cross(c->up, out));
	*out_up = tac_vec3_cross(out, *out_right);
}

void viewer_camera_orbit(viewer_camera *c, float azimuth, float elevation)
{
	c->azimuth = remainderf(c->azimuth + azimuth, 2 * (float)M_PI);
	c->elevation = fminf(fmaxf(c->elevation + elevation, -ELEVATION_MAX), ELEVATION_MAX);
}

float viewer_camera_height(const viewer_camera *c)
{
	return 2 * c->distance * tanf(c->field_of_view / 2);
}

void viewer_camera_pan(viewer_camera *c, float right, float up)
{
	tac_vec3 x, y;
	viewer_camera_axes(c, &x, &y);
	const float height = viewer_camera_height(c);
	c->target = tac_vec3_add(c->target, tac_vec3_scale(x, right * height));
	c->target = tac_vec3_add(c->target, tac_vec3_scale(y, up * height));
}

void viewer_camera_zoom(viewer_camera *c, float factor)
{
	c->distance = fminf(fmaxf(c->distance * factor, DISTANCE_MIN), DISTANCE_MAX);
}

void viewer_camera_matrices(const viewer_camera *c, float aspect, mat4 out_view, mat4 out_projection)
{
	const tac_vec3 eye = viewer_camera_eye(c);
	glm_lookat((vec3){eye.x, eye.y, eye.z}, (vec3){c->target.x, c->target.y, c->target.z},
		   (vec3){c->up.x, c->up.y, c->up.z}, out_view);
	glm_perspective(c->field_of_view, aspect, c->distance / 50, c->distance * 50, out_projection);
}
