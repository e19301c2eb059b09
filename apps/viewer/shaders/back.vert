#version 330 core
out vec2 at;

void main()
{
	at = vec2(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1); // one triangle covers the picture
	gl_Position = vec4(at, 1.0, 1.0);
}
