#version 330 core
layout(location = 0) in vec3 position;
uniform mat4 T_clip_body;

void main()
{
	gl_Position = T_clip_body * vec4(position, 1.0);
}
