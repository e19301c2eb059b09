// What of the viewer needs no display: the camera, the normals of a mesh, the trail behind the plots, the
// letters.
#include "apps/viewer_camera.h"
#include "apps/viewer_font.h"
#include "apps/viewer_mesh.h"
#include "apps/viewer_trail.h"

#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void near(tac_vec3 expected, tac_vec3 found)
{
	TEST_ASSERT_TRUE(tac_vec3_length(tac_vec3_sub(expected, found)) < 1e-4F);
}

static void a_camera_is_where_it_was_put_and_comes_back_after_a_full_turn(void)
{
	tac_rng rng = tac_rng_seed(4, 0);
	for (int i = 0; i < 1000; i++) {
		const tac_vec3 target = tac_rng_unit_f32(&rng), up = tac_rng_unit_f32(&rng);
		const tac_vec3 away = tac_rng_unit_f32(&rng);
		if (fabsf(tac_vec3_dot(up, away)) > 0.99F)
			continue; // beyond the greatest elevation
		const tac_vec3 eye = tac_vec3_add_scaled(target, 0.5F, away);
		viewer_camera c = viewer_camera_make(eye, target, up, 0.7F);
		near(eye, viewer_camera_eye(&c));
		for (int k = 0; k < 8; k++)
			viewer_camera_orbit(&c, (float)M_PI / 4, 0);
		near(eye, viewer_camera_eye(&c));
		tac_vec3 right, above;
		viewer_camera_axes(&c, &right, &above);
		TEST_ASSERT_TRUE(fabsf(tac_vec3_dot(right, away)) < 1e-3F &&
				 fabsf(tac_vec3_dot(right, up)) < 1e-3F);
		TEST_ASSERT_TRUE(tac_vec3_dot(above, up) > 0);
		// A point to the right of the target is to the right in the picture, one above it higher.
		mat4 view, projection;
		viewer_camera_matrices(&c, 1.5F, view, projection);
		const tac_vec3 p = tac_vec3_add(
			target, tac_vec3_add(tac_vec3_scale(right, 0.1F), tac_vec3_scale(above, 0.05F)));
		vec4 at = {p.x, p.y, p.z, 1};
		glm_mat4_mulv(view, at, at);
		glm_mat4_mulv(projection, at, at);
		// 0.05 of a height of 2 * 0.5 tan 0.35.
		TEST_ASSERT_TRUE(fabsf(at[1] / at[3] - 0.05F / (0.5F * tanf(0.35F))) < 1e-3F);
		TEST_ASSERT_TRUE(fabsf(at[0] / at[3] - 0.1F / (0.5F * tanf(0.35F) * 1.5F)) < 1e-3F);
	}
}

static void a_camera_never_turns_over(void)
{
	viewer_camera c =
		viewer_camera_make(tac_vec3_make(0, -1, 0), tac_vec3_zero(), tac_vec3_make(0, 0, 1), 0.7F);
	viewer_camera_orbit(&c, 0, 10);
	tac_vec3 right, up;
	viewer_camera_axes(&c, &right, &up);
	near(tac_vec3_make(1, 0, 0), right);
	TEST_ASSERT_TRUE(up.z > 0);
	// Nonsense is put right.
	c = viewer_camera_make(tac_vec3_zero(), tac_vec3_zero(), tac_vec3_zero(), 0);
	TEST_ASSERT_TRUE(c.distance > 0 && tac_vec3_finite(viewer_camera_eye(&c)) && c.field_of_view > 0.1F);
}

static void a_sphere_is_round_and_a_box_has_edges(void)
{
	tac_mesh *mesh;
	viewer_vertex *vertices;
	uint32_t *indices;
	int count;
	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_mesh_build_icosphere(1, 3, &mesh));
	TEST_ASSERT_TRUE(viewer_mesh_vertices(mesh, &vertices, &indices, &count));
	TEST_ASSERT_EQUAL_INT(mesh->vertex_count, count); // no vertex is split
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_TRUE(fabsf(vertices[i].normal[k] - vertices[i].position[k]) < 0.02F);
	free(vertices);
	free(indices);
	tac_mesh_destroy(&mesh);

	TEST_ASSERT_EQUAL_INT(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 2, 3), 2, &mesh));
	TEST_ASSERT_TRUE(viewer_mesh_vertices(mesh, &vertices, &indices, &count));
	TEST_ASSERT_EQUAL_INT(6 * 9, count); // each face has its own
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const viewer_vertex *v = &vertices[indices[3 * t + k]];
			const tac_vec3 p = mesh->vertices[mesh->triangles[t].vertex[k]];
			TEST_ASSERT_TRUE(p.x == v->position[0] && p.y == v->position[1] &&
					 p.z == v->position[2]);
			TEST_ASSERT_EQUAL_INT(mesh->triangle_surface[t], v->surface);
			const float longest =
				fmaxf(fabsf(v->normal[0]), fmaxf(fabsf(v->normal[1]), fabsf(v->normal[2])));
			TEST_ASSERT_TRUE(longest > 0.9999F);
		}
	}
	free(vertices);
	free(indices);
	tac_mesh_destroy(&mesh);
}

static void the_trail_keeps_the_last_seconds(void)
{
	static viewer_trail trail;
	static viewer_trail_bin bins[VIEWER_TRAIL_BINS];
	viewer_trail_init(&trail);
	for (int64_t ms = 0; ms < 60000; ms++) {
		viewer_trail_tick(&trail, ms * 1000000, (float)(ms % 20), ms == 59990);
		if (ms % 40 == 0)
			viewer_trail_force(&trail, ms * 1000000, (float)ms);
	}
	viewer_trail_read(&trail, bins);
	TEST_ASSERT_EQUAL_INT(59999 / 20, bins[VIEWER_TRAIL_BINS - 1].number);
	for (int i = 0; i < VIEWER_TRAIL_BINS; i++) {
		TEST_ASSERT_EQUAL_INT(59999 / 20 - VIEWER_TRAIL_BINS + 1 + i, bins[i].number);
		TEST_ASSERT_TRUE(bins[i].ticked && bins[i].compute_us == 19);
		TEST_ASSERT_EQUAL(bins[i].number % 2 == 0, bins[i].forced);
		TEST_ASSERT_EQUAL(i == VIEWER_TRAIL_BINS - 1, bins[i].missed);
	}
	viewer_trail_fini(&trail);
}

static void every_letter_has_ink_within_its_cell_and_no_two_are_the_same(void)
{
	static uint8_t texels[VIEWER_FONT_HEIGHT][VIEWER_FONT_WIDTH];
	static uint8_t cells[128][VIEWER_FONT_CELL_H][VIEWER_FONT_CELL_W];
	viewer_font_make(texels);
	const char *text =
		"!\"#$%&'()*+,-./"
		"0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~µ";
	int count = 0;
	for (const char *at = text; *at; count++) {
		const int cell = viewer_font_next(&at);
		int ink = 0;
		for (int y = 0; y < VIEWER_FONT_CELL_H; y++) {
			for (int x = 0; x < VIEWER_FONT_CELL_W; x++) {
				const uint8_t value =
					texels[cell / VIEWER_FONT_COLUMNS * VIEWER_FONT_CELL_H + y]
					      [cell % VIEWER_FONT_COLUMNS * VIEWER_FONT_CELL_W + x];
				cells[count][y][x] = value;
				ink += value >= 128;
				if (x == 0 || y == 0 || x == VIEWER_FONT_CELL_W - 1 ||
				    y == VIEWER_FONT_CELL_H - 1)
					TEST_ASSERT_TRUE(value < 128); // neighbours do not touch
			}
		}
		TEST_ASSERT_TRUE(ink > 15);
		for (int other = 0; other < count; other++) {
			const bool same = memcmp(cells[other], cells[count], sizeof cells[0]) == 0;
			TEST_ASSERT_TRUE(!same || (text[other] == '0' && text[count] == 'O'));
		}
	}
	TEST_ASSERT_EQUAL_INT(95, count);
	const char *foreign = "\xe2\x82\xac!";
	const char *mark = "?";
	TEST_ASSERT_EQUAL_INT(viewer_font_next(&mark),
			      viewer_font_next(&foreign)); // a whole character, one letter
	TEST_ASSERT_EQUAL_STRING("!", foreign);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_camera_is_where_it_was_put_and_comes_back_after_a_full_turn);
	RUN_TEST(a_camera_never_turns_over);
	RUN_TEST(a_sphere_is_round_and_a_box_has_edges);
	RUN_TEST(the_trail_keeps_the_last_seconds);
	RUN_TEST(every_letter_has_ink_within_its_cell_and_no_two_are_the_same);
	return UNITY_END();
}
