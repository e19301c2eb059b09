#include "apps/commands/render_chai3d.h"

#include "devices/chai3d_interface.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chai3d_scene {
	const tac_chai3d_api *api;
	const tac_world *world;
	tac_chai3d_world *chai3d;
	tac_chai3d_object *objects[TAC_SCENE_OBJECTS];
	tac_chai3d_tool *tool;
	tac_dvec3 centre_m; // of the sphere, in the tool's frame
	bool started;
};

static bool refuse(const char *expected, const char *found)
{
	fprintf(stderr, "tactus render: --renderer chai3d: expected %s, found: %s\n", expected, found);
	return false;
}

static bool place_object(const chai3d_scene *s, int32_t i, int64_t time_ns)
{
	const tac_dpose T = tac_world_object_pose(s->world, i, time_ns);
	const tac_dmat3 rotation = tac_dmat3_from_quat(T.rotation);
	double position[3], rows[9];
	tac_dvec3_store(position, T.position);
	memcpy(rows, rotation.m, sizeof rows);
	return s->api->object_pose(s->objects[i], position, rows) == TAC_OK ||
	       refuse("CHAI3D to place an object", s->api->message());
}

static bool add_object(chai3d_scene *s, int32_t i, double radius_m)
{
	const tac_mesh *mesh = s->world->objects[i].mesh;
	const size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
	double *positions = malloc(3 * vertices * sizeof *positions);
	uint32_t *indices = malloc(3 * triangles * sizeof *indices);
	bool good = positions && indices;
	for (size_t k = 0; good && k < vertices; k++)
		tac_dvec3_store(positions + 3 * k, tac_dvec3_from_vec3(mesh->vertices[k]));
	for (size_t k = 0; good && k < triangles; k++)
		for (int corner = 0; corner < 3; corner++)
			indices[3 * k + (size_t)corner] = (uint32_t)mesh->triangles[k].vertex[corner];
	const tac_material *material = tac_world_material(s->world, i, 0);
	const tac_chai3d_material converted = {
		.stiffness_N_per_m = material->stiffness_N_per_m,
		.static_friction = material->static_friction,
		.dynamic_friction = material->dynamic_friction,
		.viscosity_N_s_per_m = material->viscosity_N_s_per_m,
		.shading = material->smooth,
	};
	good = good &&
	       s->api->mesh_create(s->chai3d, positions, vertices, indices, triangles, radius_m,
				   &s->objects[i]) == TAC_OK &&
	       s->api->object_material(s->objects[i], &converted) == TAC_OK;
	free(positions);
	free(indices);
	return good ? place_object(s, i, 0)
		    : refuse("CHAI3D to accept the scene's objects", s->api->message());
}

static bool build_scene(chai3d_scene *s)
{
	const tac_scene *scene = s->world->scene;
	const tac_world_body *tool = &s->world->tools[0];
	const tac_round round = tool->round;
	if (!tool->is_round || tac_dvec3_length(tac_dvec3_sub(round.a, round.b)) > 0)
		return refuse("a tool that is one sphere, as CHAI3D's is", tool->name);
	bool moving = false;
	for (int32_t i = 0; i < scene->object_count; i++)
		moving |= scene->objects[i].path_count > 0;
	s->centre_m = round.a;
	if (s->api->world_create(&s->chai3d) != TAC_OK)
		return refuse("a world of CHAI3D", s->api->message());
	for (int32_t i = 0; i < scene->object_count; i++) {
		if (!add_object(s, i, round.radius))
			return false;
	}
	return s->api->tool_create(s->chai3d, round.radius, moving, &s->tool) == TAC_OK ||
	       refuse("a tool of CHAI3D", s->api->message());
}

bool chai3d_scene_create(const tac_world *world, chai3d_scene **out_scene)
{
	char reason[256];
	const tac_chai3d_api *api;
	*out_scene = NULL;
	if (tac_chai3d_load(&api, reason, sizeof reason) != TAC_OK) {
		fprintf(stderr, "tactus render: --renderer chai3d: %s\n", reason);
		return false;
	}
	chai3d_scene *s = calloc(1, sizeof *s);
	if (!s)
		return refuse("memory", "none");
	s->api = api;
	s->world = world;
	if (!build_scene(s))
		chai3d_scene_destroy(&s);
	*out_scene = s;
	return s != NULL;
}

void chai3d_scene_destroy(chai3d_scene **scene)
{
	if (!*scene)
		return;
	(*scene)->api->world_destroy(&(*scene)->chai3d);
	free(*scene);
	*scene = NULL;
}

bool chai3d_scene_step(chai3d_scene *s, int64_t time_ns, tac_dpose T_world_tool, tac_dvec3 velocity_m_per_s,
		       chai3d_result *out_result)
{
	double position[3], velocity[3];
	tac_chai3d_contact contact;
	tac_dvec3_store(position, tac_dpose_apply_point(T_world_tool, s->centre_m));
	tac_dvec3_store(velocity, velocity_m_per_s);
	for (int32_t i = 0; i < s->world->scene->object_count; i++) {
		if (s->world->scene->objects[i].path_count > 0 && !place_object(s, i, time_ns))
			return false;
	}
	if (!s->started && s->api->tool_place(s->tool, position) != TAC_OK)
		return refuse("CHAI3D to place the tool", s->api->message());
	s->started = true;
	const int64_t begin_ns = tac_clock_now_ns();
	if (s->api->tool_step(s->tool, position, velocity, &contact) != TAC_OK)
		return refuse("a force from CHAI3D", s->api->message());
	const tac_dvec3 offset_m = tac_dpose_apply_vector(T_world_tool, s->centre_m);
	*out_result = (chai3d_result){
		.proxy_m = tac_dvec3_sub(tac_dvec3_load(contact.proxy_m), offset_m),
		.force_N = tac_dvec3_load(contact.force_N),
		.contacts = contact.contacts,
		.ns = tac_clock_now_ns() - begin_ns,
	};
	return true;
}
