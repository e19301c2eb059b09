#version 330 core
uniform mat4 T_clip_world, T_shadow_world;
uniform vec3 centre, right, forward;
uniform float radius;
out vec2 plane;
out vec4 shadow_at;

void main()
{
	plane = radius * vec2(gl_VertexID % 2 * 2 - 1, gl_VertexID / 2 * 2 - 1);
	vec4 world = vec4(centre + plane.x * right + plane.y * forward, 1.0);
	shadow_at = T_shadow_world * world;
	gl_Position = T_clip_world * world;
}
