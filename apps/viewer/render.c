#include "apps/viewer/render.h"

#include "apps/viewer/shaders/back.frag.h"
#include "apps/viewer/shaders/back.vert.h"
#include "apps/viewer/shaders/body.frag.h"
#include "apps/viewer/shaders/body.vert.h"
#include "apps/viewer/shaders/depth.frag.h"
#include "apps/viewer/shaders/depth.vert.h"
#include "apps/viewer/shaders/ghost.frag.h"
#include "apps/viewer/shaders/ground.frag.h"
#include "apps/viewer/shaders/ground.vert.h"
#include "base/log.h"

#include <math.h>

#define SHADOW_SIZE    1536
#define SAMPLES        4
#define LIT_COLOUR     0xffcf5affU
#define TOUCHED_RADIUS 0.05F // of the camera's distance: the surroundings of a contact that are lit

// Uniforms common to all programs of one picture.
typedef struct scene_light {
	mat4 T_clip_world, T_shadow_world;
	tac_vec3 eye, to_light;
} scene_light;

tac_result viewer_render_init(viewer_render *r)
{
	*r = (viewer_render){0};
	r->body = VIEWER_GL_PROGRAM(body_vert, body_frag);
	r->ghost = VIEWER_GL_PROGRAM(body_vert, ghost_frag);
	r->back = VIEWER_GL_PROGRAM(back_vert, back_frag);
	r->ground = VIEWER_GL_PROGRAM(ground_vert, ground_frag);
	r->depth = VIEWER_GL_PROGRAM(depth_vert, depth_frag);
	if (!r->body || !r->ghost || !r->back || !r->ground || !r->depth ||
	    !viewer_gl_depth_init(&r->shadow, SHADOW_SIZE, true))
		return TAC_ERROR_SYSTEM;
	glGenVertexArrays(1, &r->empty);
	glGenFramebuffers(1, &r->framebuffer);
	glGenRenderbuffers(1, &r->colour_buffer);
	glGenRenderbuffers(1, &r->depth_buffer);
	glGenFramebuffers(1, &r->resolved);
	glGenRenderbuffers(1, &r->resolved_buffer);
	GLint max_samples = 0;
	glGetIntegerv(GL_MAX_SAMPLES, &max_samples);
	r->samples = max_samples < SAMPLES ? max_samples : SAMPLES;
	return TAC_OK;
}

void viewer_render_fini(viewer_render *r)
{
	const GLuint programs[] = {r->body, r->ghost, r->back, r->ground, r->depth};
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
		glDeleteProgram(programs[i]);
	glDeleteVertexArrays(1, &r->empty);
	glDeleteFramebuffers(1, &r->framebuffer);
	glDeleteRenderbuffers(1, &r->colour_buffer);
	glDeleteRenderbuffers(1, &r->depth_buffer);
	glDeleteFramebuffers(1, &r->resolved);
	glDeleteRenderbuffers(1, &r->resolved_buffer);
	viewer_gl_depth_fini(&r->shadow);
	*r = (viewer_render){0};
}

static void fit_framebuffer(viewer_render *r, int width, int height, bool fine)
{
	const int samples = fine ? r->samples : 0;
	if (r->width == width && r->height == height && r->fine == fine)
		return;
	glBindRenderbuffer(GL_RENDERBUFFER, r->colour_buffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
	glBindRenderbuffer(GL_RENDERBUFFER, r->depth_buffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
	glBindFramebuffer(GL_FRAMEBUFFER, r->framebuffer);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, r->colour_buffer);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, r->depth_buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, r->resolved_buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
	glBindFramebuffer(GL_FRAMEBUFFER, r->resolved);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, r->resolved_buffer);
	r->fine = fine;
	r->width = width;
	r->height = height;
}

static void copy_picture(GLuint from, GLuint to, int width, int height)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

// ---- uniforms ----

static GLint location(GLuint program, const char *name)
{
	return glGetUniformLocation(program, name);
}

static void set_vector(GLuint program, const char *name, tac_vec3 v)
{
	glUniform3f(location(program, name), v.x, v.y, v.z);
}

static void set_matrix(GLuint program, const char *name, mat4 m)
{
	glUniformMatrix4fv(location(program, name), 1, GL_FALSE, m[0]);
}

static tac_vec3 rgb(viewer_colour c)
{
	return tac_vec3_make((float)(c >> 24) / 255, (float)(c >> 16 & 255) / 255,
			     (float)(c >> 8 & 255) / 255);
}

static void body_matrix(const viewer_item *item, mat4 out)
{
	const tac_mat3 r = tac_mat3_from_quat(item->T_world_body.rotation);
	const tac_vec3 t = item->T_world_body.position;
	glm_mat4_identity(out);
	for (int column = 0; column < 3; column++) {
		const tac_vec3 axis =
			tac_vec3_scale(tac_mat3_column(r, column), tac_vec3_get(item->stretch, column));
		tac_vec3_store(out[column], axis);
	}
	tac_vec3_store(out[3], t);
}

static void set_body(GLuint program, const viewer_item *item)
{
	mat4 T;
	body_matrix(item, T);
	set_matrix(program, "T_world_body", T);
	// The inverse transpose: axes that were multiplied by the stretch are divided by its square.
	mat3 normals;
	for (int column = 0; column < 3; column++) {
		const float stretch = tac_vec3_get(item->stretch, column);
		for (int row = 0; row < 3; row++)
			normals[column][row] = T[column][row] / (stretch * stretch);
	}
	glUniformMatrix3fv(location(program, "N_world_body"), 1, GL_FALSE, normals[0]);
	set_vector(program, "colour", rgb(item->colour));
}

static void set_surface_colours(GLuint program, const viewer_item *item)
{
	tac_vec3 colours[VIEWER_SURFACES];
	glUniform1i(location(program, "surface_colour_count"), item->surface_colours ? VIEWER_SURFACES : 0);
	for (int i = 0; item->surface_colours && i < VIEWER_SURFACES; i++)
		colours[i] = rgb(item->surface_colours[i]);
	if (item->surface_colours)
		glUniform3fv(location(program, "surface_colours"), VIEWER_SURFACES, &colours[0].x);
}

static void set_light(GLuint program, scene_light *light)
{
	glUseProgram(program);
	set_matrix(program, "T_clip_world", light->T_clip_world);
	set_matrix(program, "T_shadow_world", light->T_shadow_world);
	set_vector(program, "eye", light->eye);
	set_vector(program, "to_light", light->to_light);
	glUniform1i(location(program, "shadows"), 0);
	glUniform1f(location(program, "shadow_texel"), 1.0F / SHADOW_SIZE);
}

// The light follows the camera, from over the observer's left shoulder.
static void place_light(const viewer_picture *p, scene_light *light)
{
	tac_vec3 right, up;
	viewer_camera_axes(&p->camera, &right, &up);
	const tac_vec3 out = tac_vec3_cross(right, up);
	light->eye = viewer_camera_eye(&p->camera);
	light->to_light = tac_vec3_normalize(
		tac_vec3_add(tac_vec3_scale(p->camera.up, 1.25F),
			     tac_vec3_add(tac_vec3_scale(right, -0.75F), tac_vec3_scale(out, 0.55F))));
	const float reach = 1.05F * p->radius;
	const tac_vec3 from = tac_vec3_add_scaled(p->centre, 2 * reach, light->to_light);
	mat4 view, projection;
	glm_lookat((vec3){from.x, from.y, from.z}, (vec3){p->centre.x, p->centre.y, p->centre.z},
		   (vec3){up.x, up.y, up.z}, view);
	glm_ortho(-reach, reach, -reach, reach, 0.5F * reach, 3.5F * reach, projection);
	glm_mat4_mul(projection, view, light->T_shadow_world);
}

// ---- passes ----

static void draw_shadows(viewer_render *r, const viewer_picture *p, scene_light *light)
{
	glBindFramebuffer(GL_FRAMEBUFFER, r->shadow.framebuffer);
	glViewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LESS);
	glClear(GL_DEPTH_BUFFER_BIT);
	glUseProgram(r->depth);
	for (int i = 0; i < p->item_count; i++) {
		if (p->items[i].ghost || p->items[i].mark || p->items[i].fade > 0)
			continue;
		mat4 T;
		body_matrix(&p->items[i], T);
		glm_mat4_mul(light->T_shadow_world, T, T);
		set_matrix(r->depth, "T_clip_body", T);
		viewer_mesh_draw(p->items[i].mesh);
	}
}

static void draw_bodies(viewer_render *r, const viewer_picture *p, scene_light *light)
{
	set_light(r->body, light);
	set_vector(r->body, "up", p->camera.up);
	set_vector(r->body, "lit_colour", rgb(LIT_COLOUR));
	glUniform1f(location(r->body, "touched_radius"), TOUCHED_RADIUS * p->camera.distance);
	for (int i = 0; i < p->item_count; i++) {
		const viewer_item *item = &p->items[i];
		if (item->ghost || item->fade > 0)
			continue;
		set_body(r->body, item);
		set_surface_colours(r->body, item);
		glUniform1f(location(r->body, "gloss"), item->gloss);
		glUniform3f(location(r->body, "glow"), item->glow, item->glow, item->glow);
		glUniform1i(location(r->body, "lit_count"), item->lit_count);
		if (item->lit_count > 0)
			glUniform1iv(location(r->body, "lit"), item->lit_count, item->lit);
		glUniform1i(location(r->body, "touched_count"), item->touched_count);
		if (item->touched_count > 0)
			glUniform3fv(location(r->body, "touched"), item->touched_count, &item->touched[0].x);
		viewer_mesh_draw(item->mesh);
	}
}

// Drawn after the bodies, at the far plane.
static void draw_background(const viewer_render *r)
{
	glDepthFunc(GL_LEQUAL);
	glUseProgram(r->back);
	glBindVertexArray(r->empty);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glDepthFunc(GL_LESS);
}

static void draw_ground(viewer_render *r, const viewer_picture *p, scene_light *light)
{
	set_light(r->ground, light);
	const tac_vec3 up = p->camera.up;
	const tac_vec3 centre = tac_vec3_add_scaled(p->centre, p->ground - tac_vec3_dot(p->centre, up), up);
	set_vector(r->ground, "centre", centre);
	set_vector(r->ground, "right", p->camera.front);
	set_vector(r->ground, "forward", tac_vec3_cross(up, p->camera.front));
	const float radius = 3.2F * p->radius;
	glUniform1f(location(r->ground, "radius"), radius);
	glUniform1f(location(r->ground, "cell_size"),
		    powf(10, floorf(log10f(p->radius / 2)))); // 1 mm, 1 cm, …
	glBindVertexArray(r->empty);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
	glDepthMask(GL_FALSE);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glDepthMask(GL_TRUE);
	glDisable(GL_BLEND);
}

// Bodies that fade away, where nothing hides them.
static void draw_fading(viewer_render *r, const viewer_picture *p)
{
	glUniform1f(location(r->ghost, "solid"), 1);
	for (int i = 0; i < p->item_count; i++) {
		if (!(p->items[i].fade > 0))
			continue;
		set_body(r->ghost, &p->items[i]);
		glUniform1f(location(r->ghost, "strength"), p->items[i].fade);
		viewer_mesh_draw(p->items[i].mesh);
	}
	glUniform1f(location(r->ghost, "solid"), 0);
}

// Parts of a ghost inside a body are drawn stronger than parts outside. Marks show through everything.
static void draw_ghosts(viewer_render *r, const viewer_picture *p, scene_light *light)
{
	set_light(r->ghost, light);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glDepthMask(GL_FALSE);
	draw_fading(r, p);
	for (int i = 0; i < p->item_count; i++) {
		if (!p->items[i].ghost && !p->items[i].mark)
			continue;
		set_body(r->ghost, &p->items[i]);
		glDepthFunc(GL_GREATER);
		glUniform1f(location(r->ghost, "strength"), p->items[i].ghost ? 1.0F : 2.0F);
		viewer_mesh_draw(p->items[i].mesh);
		glDepthFunc(GL_LESS);
		if (p->items[i].mark)
			continue;
		glUniform1f(location(r->ghost, "strength"), 0.35F);
		viewer_mesh_draw(p->items[i].mesh);
	}
	glDepthMask(GL_TRUE);
	glDisable(GL_BLEND);
}

void viewer_render_draw(viewer_render *r, const viewer_picture *p, viewer_flat *flat, int width, int height,
			bool fine)
{
	scene_light light;
	mat4 view, projection;
	viewer_camera_matrices(&p->camera, (float)width / (float)height, view, projection);
	glm_mat4_mul(projection, view, light.T_clip_world);
	place_light(p, &light);
	draw_shadows(r, p, &light);

	fit_framebuffer(r, width, height, fine);
	glBindFramebuffer(GL_FRAMEBUFFER, r->framebuffer);
	glViewport(0, 0, width, height);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(GL_TEXTURE_2D, r->shadow.texture);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LESS);
	draw_bodies(r, p, &light);
	draw_background(r);
	if (p->grounded)
		draw_ground(r, p, &light);
	draw_ghosts(r, p, &light);
	viewer_flat_draw(flat, width, height);

	if (fine)
		copy_picture(r->framebuffer, r->resolved, width, height);
	copy_picture(fine ? r->resolved : r->framebuffer, 0, width, height);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
}
