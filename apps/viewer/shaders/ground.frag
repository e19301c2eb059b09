#version 330 core
in vec2 plane;
in vec4 shadow_at;
uniform float radius, cell_size; // of the grid, m
uniform sampler2DShadow shadows;
uniform float shadow_texel;
out vec4 fragment;

void main()
{
	float fade = 1.0 - smoothstep(0.35, 1.0, length(plane) / radius);
	vec2 cell = plane / cell_size;
	vec2 footprint = fwidth(cell);
	vec2 pixels = abs(fract(cell - 0.5) - 0.5) / max(footprint, 1e-6);
	float line = (1.0 - min(min(pixels.x, pixels.y), 1.0)) * (1.0 - smoothstep(0.3, 0.8, max(footprint.x, footprint.y)));
	vec3 p = min(shadow_at.xyz * 0.5 + 0.5, vec3(2.0, 2.0, 1.0)); // points beyond the far plane are lit
	float sum = 9.0;
	if (fade > 0.0 && all(lessThan(abs(shadow_at.xy), vec2(1.0)))) {
		sum = 0.0;
		for (int x = -1; x <= 1; x++)
			for (int y = -1; y <= 1; y++)
				sum += texture(shadows, vec3(p.xy + 3.0 * shadow_texel * vec2(x, y), p.z - 0.002));
	}
	float dark = 0.5 * (1.0 - sum / 9.0);
	float pale = 0.09 * line;
	fragment = vec4(vec3(0.75, 0.82, 0.92) * pale * (1.0 - dark), dark + pale * (1.0 - dark)) * fade; // premultiplied
}
