#version 330 core
in vec3 at, world_normal, paint;
in vec4 shadow_at;
in float sky;
flat in int surface_id;
uniform vec3 eye;
uniform float strength;
uniform float solid; // 1: as strong in the middle as at the edge
out vec4 fragment;

void main()
{
	float edge = 1.0 - abs(dot(normalize(world_normal), normalize(eye - at)));
	fragment = vec4(sqrt(paint * (1.0 - 0.6 * solid * edge)), strength * mix(0.12 + 0.75 * edge * edge, 1.0, solid));
}
