#version 330 core
in vec3 at, world_normal;
in vec4 shadow_at;
in float sky;
flat in int surface_id;
uniform vec3 eye, colour;
uniform float strength;
out vec4 fragment;

void main()
{
	float edge = 1.0 - abs(dot(normalize(world_normal), normalize(eye - at)));
	fragment = vec4(sqrt(colour), strength * (0.12 + 0.75 * edge * edge));
}
