#version 330 core
in vec2 at;
out vec4 fragment;

void main()
{
	vec3 c = mix(vec3(0.075, 0.088, 0.108), vec3(0.205, 0.235, 0.275), smoothstep(-1.0, 1.0, at.y));
	c *= 1.0 - 0.22 * dot(at, at) * 0.5;
	float grain = fract(52.983 * fract(dot(gl_FragCoord.xy, vec2(0.06711, 0.00584)))) - 0.5;
	fragment = vec4(c + grain / 255.0, 1.0); // dithering hides the steps of the gradient
}
