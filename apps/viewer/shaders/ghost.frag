#version 330 core
in vec3 at, turned;
in vec4 shadow_at;
in float sky;
flat in int part;
uniform vec3 eye, colour;
uniform float strength;
out vec4 painted;

void main()
{
	float edge = 1.0 - abs(dot(normalize(turned), normalize(eye - at)));
	painted = vec4(sqrt(colour), strength * (0.12 + 0.75 * edge * edge));
}
