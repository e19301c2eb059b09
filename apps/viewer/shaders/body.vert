#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float open;
layout(location = 3) in int surface;
uniform mat4 T_world_body, T_clip_world, T_shadow_world;
uniform mat3 N_world_body; // for normals of stretched bodies
uniform vec3 colour, surface_colours[8]; // colours are linear
uniform int surface_colour_count;        // 0: `colour` for all
out vec3 at, world_normal, paint;
out vec4 shadow_at;
out float sky;
flat out int surface_id;

void main()
{
	vec4 world = T_world_body * vec4(position, 1.0);
	at = world.xyz;
	world_normal = N_world_body * normal;
	sky = open;
	surface_id = surface;
	paint = surface_colour_count > 0 ? surface_colours[clamp(surface, 0, surface_colour_count - 1)] : colour;
	shadow_at = T_shadow_world * world;
	gl_Position = T_clip_world * world;
}
