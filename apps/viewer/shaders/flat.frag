#version 330 core
centroid in vec2 at;
in vec4 paint;
uniform sampler2D letters;
out vec4 colour;

void main()
{
	float cover = 1.0;
	if (at.x >= 0.0) {
		float value = texture(letters, at).r;
		// Change of the distance over half a pixel, from the letter's size (SLOPE and UNIT in viewer/font.c).
		// fwidth(value) would jump at the edges of the cells.
		float width = 0.65 * fwidth(at.y) * float(textureSize(letters, 0).y) / 6.0 * 48.0 / 255.0;
		cover = smoothstep(0.502 - width, 0.502 + width, value);
	}
	colour = vec4(paint.rgb, paint.a * cover);
}
