#version 330 core
in vec3 at, world_normal, paint;
in vec4 shadow_at;
in float sky;
flat in int surface_id;
uniform vec3 eye, to_light, up, glow; // colours are linear
uniform float gloss; // 0 (matt) … 1
uniform int lit[16]; // highlighted surfaces
uniform int lit_count;
uniform vec3 lit_colour;
uniform vec3 touched[4]; // points whose surroundings are highlighted
uniform int touched_count;
uniform float touched_radius;
uniform sampler2DShadow shadows;
uniform float shadow_texel;
out vec4 fragment;

float sunlight(vec3 n)
{
	vec3 p = min(shadow_at.xyz * 0.5 + 0.5, vec3(2.0, 2.0, 1.0)); // points beyond the far plane are lit
	p.z -= 0.0016 + 0.003 * (1.0 - max(dot(n, to_light), 0.0));
	float sum = 0.0;
	for (int x = -1; x <= 1; x++)
		for (int y = -1; y <= 1; y++)
			sum += texture(shadows, vec3(p.xy + 1.6 * shadow_texel * vec2(x, y), p.z));
	return sum / 9.0;
}

void main()
{
	vec3 n = normalize(gl_FrontFacing ? world_normal : -world_normal);
	vec3 v = normalize(eye - at);
	vec3 base = paint;
	for (int i = 0; i < lit_count; i++)
		if (lit[i] == surface_id)
			base = mix(base, lit_colour, 0.6);
	float nearest = touched_radius;
	for (int i = 0; i < touched_count; i++)
		nearest = min(nearest, distance(touched[i], at));
	base = mix(lit_colour, base, mix(0.2, 1.0, nearest / touched_radius));

	float facing = max(dot(n, to_light), 0.0);
	float sun = facing > 0.0 ? sunlight(n) : 0.0;
	float open = mix(0.25, 1.0, sky * sky);
	vec3 dome = mix(vec3(0.22, 0.19, 0.18), vec3(0.46, 0.53, 0.64), 0.5 + 0.5 * dot(n, up));
	vec3 light = open * dome + vec3(1.75, 1.64, 1.48) * facing * sun;
	light += open * vec3(0.16, 0.20, 0.26) * max(dot(n, v), 0.0);

	// Powers by squaring: in software rendering, pow() would cost as much as everything else.
	float shine = max(dot(n, normalize(to_light + v)), 0.0);
	shine *= shine, shine *= shine, shine *= shine, shine *= shine; // 16
	float sharp = shine * shine;
	shine = mix(0.08 * shine, 0.75 * sharp * sharp, gloss) * sun;
	float rim = 1.0 - max(dot(n, v), 0.0);
	rim *= rim * rim * mix(0.10, 0.30, gloss) * open;
	vec3 c = base * light + vec3(shine) + rim * vec3(0.60, 0.72, 0.90) + glow * base;
	c *= 0.52;
	c /= 1.0 + 0.3 * c;           // compresses highlights instead of clipping them
	fragment = vec4(sqrt(c), 1.0); // approximates the display's gamma
}
