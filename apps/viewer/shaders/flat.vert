#version 330 core
layout(location = 0) in vec2 position; // pixels, y down
layout(location = 1) in vec2 texel;    // negative: a plain fill instead of a letter
layout(location = 2) in vec4 colour;
uniform vec2 size; // of the window, pixels
centroid out vec2 at;
out vec4 paint;

void main()
{
	at = texel;
	paint = colour;
	gl_Position = vec4(2.0 * position.x / size.x - 1.0, 1.0 - 2.0 * position.y / size.y, 0.0, 1.0);
}
