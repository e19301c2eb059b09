// The parts of the viewer that need no display: camera, normals of a mesh, history of snapshots, trail of the
// plots, letters.
#include "apps/viewer/camera.h"
#include "apps/viewer/chips.h"
#include "apps/viewer/font.h"
#include "apps/viewer/history.h"
#include "apps/viewer/mesh.h"
#include "apps/viewer/panel.h"
#include "apps/viewer/trail.h"

#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "haptic/limit.h"
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

static void assert_close(tac_vec3 expected, tac_vec3 found)
{
	TEST_ASSERT_TRUE(tac_vec3_length(tac_vec3_sub(expected, found)) < 1e-4F);
}

static void camera_is_at_its_eye_and_returns_there_after_a_full_turn(void)
{
	tac_rng rng = tac_rng_seed(4, 0);
	for (int i = 0; i < 1000; i++) {
		const tac_vec3 target = tac_rng_unit_f32(&rng), up = tac_rng_unit_f32(&rng);
		const tac_vec3 away = tac_rng_unit_f32(&rng);
		if (fabsf(tac_vec3_dot(up, away)) > 0.99F)
			continue; // above the limit of the elevation
		const tac_vec3 eye = tac_vec3_add_scaled(target, 0.5F, away);
		viewer_camera c = viewer_camera_make(eye, target, up, 0.7F);
		assert_close(eye, viewer_camera_eye(&c));
		for (int k = 0; k < 8; k++)
			viewer_camera_orbit(&c, (float)M_PI / 4, 0);
		assert_close(eye, viewer_camera_eye(&c));
		tac_vec3 right, above;
		viewer_camera_axes(&c, &right, &above);
		TEST_ASSERT_TRUE(fabsf(tac_vec3_dot(right, away)) < 1e-3F &&
				 fabsf(tac_vec3_dot(right, up)) < 1e-3F);
		TEST_ASSERT_TRUE(tac_vec3_dot(above, up) > 0);
		// A point to the right of and above the target is so in the picture.
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

static void camera_never_turns_over_the_pole(void)
{
	viewer_camera c =
		viewer_camera_make(tac_vec3_make(0, -1, 0), tac_vec3_zero(), tac_vec3_make(0, 0, 1), 0.7F);
	viewer_camera_orbit(&c, 0, 10);
	tac_vec3 right, up;
	viewer_camera_axes(&c, &right, &up);
	assert_close(tac_vec3_make(1, 0, 0), right);
	TEST_ASSERT_TRUE(up.z > 0);
	// Degenerate values are replaced by defaults.
	c = viewer_camera_make(tac_vec3_zero(), tac_vec3_zero(), tac_vec3_zero(), 0);
	TEST_ASSERT_TRUE(c.distance > 0 && tac_vec3_finite(viewer_camera_eye(&c)) && c.field_of_view > 0.1F);
}

static void sphere_has_smooth_normals_and_box_has_sharp_edges(void)
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
	TEST_ASSERT_EQUAL_INT(6 * 9, count); // every face has its own vertices
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

static void history_interpolates_between_the_last_two_snapshots_and_never_beyond(void)
{
	viewer_history history;
	static tac_snapshot snapshot;
	TEST_ASSERT_EQUAL_INT(TAC_OK, viewer_history_init(&history));
	TEST_ASSERT_NULL(viewer_history_at(&history, 0));
	TEST_ASSERT_FALSE(viewer_history_add(&history, NULL));
	for (int i = 0; i < 2 * VIEWER_HISTORY_SNAPSHOTS; i++) {
		snapshot = (tac_snapshot){.tick = i, .time_ns = 1000 * (int64_t)i};
		snapshot.T_world_sco = tac_dpose_make(tac_dvec3_make(i, 0, 0), tac_dquat_identity());
		snapshot.T_world_device = snapshot.T_world_sco;
		TEST_ASSERT_TRUE(viewer_history_add(&history, &snapshot));
		TEST_ASSERT_FALSE(viewer_history_add(&history, &snapshot)); // the same tick again
		TEST_ASSERT_EQUAL_INT(i < VIEWER_HISTORY_SNAPSHOTS ? i : VIEWER_HISTORY_SNAPSHOTS - 1,
				      viewer_history_depth(&history));
	}
	const int last = 2 * VIEWER_HISTORY_SNAPSHOTS - 1;
	static const double offsets[] = {-7, -1, -0.75, 0, 0.25}, expected[] = {-1, -1, -0.75, 0, 0};
	for (int i = 0; i < 5; i++) {
		const tac_snapshot *s =
			viewer_history_at(&history, (int64_t)(1000 * ((double)last + offsets[i])));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, (double)last + expected[i], s->T_world_sco.position.x);
	}
	TEST_ASSERT_EQUAL_INT(last - 3, viewer_history_back(&history, 3)->tick);
	viewer_history_fini(&history);
}

// Objects have other numbers in another world, so nothing moves from the one to the other.
static void history_does_not_interpolate_between_worlds(void)
{
	viewer_history history;
	static tac_snapshot snapshot;
	TEST_ASSERT_EQUAL_INT(TAC_OK, viewer_history_init(&history));
	for (int i = 0; i < 2; i++) {
		snapshot = (tac_snapshot){.tick = i, .time_ns = 1000 * (int64_t)i, .object_count = 1};
		snapshot.live.world = i;
		snapshot.T_world_objects[0] = tac_dpose_make(tac_dvec3_make(i, 0, 0), tac_dquat_identity());
		TEST_ASSERT_TRUE(viewer_history_add(&history, &snapshot));
	}
	TEST_ASSERT_EQUAL_DOUBLE(1, viewer_history_at(&history, 500)->T_world_objects[0].position.x);
	viewer_history_fini(&history);
}

static void trail_keeps_the_last_seconds(void)
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
		TEST_ASSERT_TRUE(bins[i].has_tick && bins[i].compute_us == 19);
		TEST_ASSERT_EQUAL(bins[i].number % 2 == 0, bins[i].has_force);
		TEST_ASSERT_EQUAL(i == VIEWER_TRAIL_BINS - 1, bins[i].missed);
	}
	viewer_trail_fini(&trail);
}

static void every_letter_has_ink_inside_its_cell_and_differs_from_the_others(void)
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
					TEST_ASSERT_TRUE(value <
							 128); // letters do not touch their neighbours
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
			      viewer_font_next(&foreign)); // one letter for the whole character
	TEST_ASSERT_EQUAL_STRING("!", foreign);
}

// ---- panels ----

static void the_bar_has_a_round_length_that_fits(void)
{
	char text[32];
	const struct {
		float m_per_pixel, length_m;
		const char *text;
	} cases[] = {{1e-3F, 0.1F, "100 mm"},   {1e-4F, 0.01F, "10 mm"}, {4e-4F, 0.05F, "50 mm"},
		     {1.3e-4F, 0.02F, "20 mm"}, {1, 100, "100 m"},       {0.01F, 1, "1 m"},
		     {1e-6F, 1e-4F, "100 µm"},  {1e-5F, 1e-3F, "1 mm"}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const float length = viewer_panel_bar_m(cases[i].m_per_pixel, 160, text, sizeof text);
		TEST_ASSERT_FLOAT_WITHIN(1e-4F * length, cases[i].length_m, length);
		TEST_ASSERT_EQUAL_STRING(cases[i].text, text);
		TEST_ASSERT_TRUE(length / cases[i].m_per_pixel <= 160.1F);
		TEST_ASSERT_TRUE(length / cases[i].m_per_pixel > 60);
	}
}

static void a_missing_force_has_a_reason(void)
{
	const struct {
		tac_snapshot snapshot;
		const char *reason;
	} cases[] = {
		{{.state = TAC_SERVO_RUNNING, .contact_count = 1, .sent.force_N = {0, 0, 1}}, NULL},
		{{.state = TAC_SERVO_RUNNING}, "nothing is touched"},
		{{.state = TAC_SERVO_WAITING}, "inside an object: move out"},
		{{.state = TAC_SERVO_CLUTCHED}, "the clutch is held"},
		{{.state = TAC_SERVO_LOST}, "the device is lost or ended"},
		{{.state = TAC_SERVO_RUNNING, .contact_count = 1, .limits = 1u << TAC_LIMIT_DEADMAN},
		 "hold the dead-man button"},
		{{.state = TAC_SERVO_RUNNING, .contact_count = 1, .limits = 1u << TAC_LIMIT_SPEED},
		 "the device moves too fast"},
		{{.state = TAC_SERVO_RUNNING, .contact_count = 1, .limits = 1u << TAC_LIMIT_STOPPED},
		 "emergency stop"},
		{{.state = TAC_SERVO_RUNNING, .needle = {.present = true, .object = -1}},
		 "nothing is touched"},
		{{.state = TAC_SERVO_RUNNING,
		  .needle = {.present = true, .object = 0},
		  .limits = 1u << TAC_LIMIT_DEADMAN},
		 "hold the dead-man button"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *reason = viewer_panel_no_force(&cases[i].snapshot);
		if (!cases[i].reason) {
			TEST_ASSERT_NULL(reason);
			continue;
		}
		TEST_ASSERT_EQUAL_STRING(cases[i].reason, reason);
		// It is legible, and ends before the panel does.
		const float size = viewer_panel_value_size(reason);
		TEST_ASSERT_TRUE(size > 7);
		TEST_ASSERT_TRUE(VIEWER_PANEL_VALUE_X + viewer_flat_width(size, reason) <
				 VIEWER_PANEL_WIDTH - 20);
	}
}

static void a_needle_in_tissue_is_not_free(void)
{
	const struct {
		tac_snapshot snapshot;
		const char *text;
	} cases[] = {
		{{.state = TAC_SERVO_WAITING}, "not free yet"},
		{{.state = TAC_SERVO_RUNNING}, "free"}, // another tool's needle.object is 0 as well
		{{.state = TAC_SERVO_RUNNING, .contact_count = 2}, "touching"},
		{{.state = TAC_SERVO_RUNNING, .needle = {.present = true, .object = -1}}, "free"},
		{{.state = TAC_SERVO_RUNNING, .needle = {.present = true, .object = 0}}, "in tissue"},
		{{.state = TAC_SERVO_RUNNING, .contact_count = 1, .needle = {.present = true, .object = 0}},
		 "touching"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		TEST_ASSERT_EQUAL_STRING(cases[i].text, viewer_panel_touch(&cases[i].snapshot));
}

// Wherever a contact is, its names lie inside the window and neither under a panel nor under the plots.
static void labels_are_never_under_a_panel(void)
{
	const float bottom = 220; // of the panels
	const int widths[] = {1280, 1000, 2560}, heights[] = {800, 700, 1440};
	for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
		const viewer_panel p = {.scale = 1, .width = widths[k], .height = heights[k]};
		for (float w = 60; w <= 300; w += 80) {
			for (float h = 28; h <= 112; h += 28) {
				for (int at = 0; at < 400; at++) {
					float x = (float)(at % 20) / 19 * (float)p.width,
					      y = (float)(at / 20) / 19 * (float)p.height;
					TEST_ASSERT_TRUE(viewer_panel_place_labels(&p, bottom, w, h, &x, &y));
					TEST_ASSERT_TRUE(x >= 0 && x + w <= (float)p.width);
					TEST_ASSERT_TRUE(y >= 0 && y + h <= (float)p.height);
					const bool beside =
						x >= 16 + 340 && x + w <= (float)p.width - 16 - 340;
					TEST_ASSERT_TRUE(y >= bottom || beside);
					TEST_ASSERT_TRUE(y + h <= (float)p.height - 16 - 156 ||
							 x >= 16 + 680);
				}
			}
		}
	}
}

// While the help is open, the names are beside it or, where there is no room, nowhere.
static void labels_are_never_under_the_help(void)
{
	const float bottom = 220, help_bottom = 178 + 56 + 17 * 19; // of the panels and of the help
	const int widths[] = {1280, 760, 2560}, heights[] = {800, 700, 1440};
	int placed[3] = {0};
	for (int k = 0; k < 3; k++) {
		const viewer_panel p = {.scale = 1, .width = widths[k], .height = heights[k], .help = true};
		for (int at = 0; at < 400; at++) {
			float x = (float)(at % 20) / 19 * (float)p.width,
			      y = (float)(at / 20) / 19 * (float)p.height;
			if (!viewer_panel_place_labels(&p, bottom, 300, 56, &x, &y))
				continue;
			placed[k]++;
			const bool beside = x >= 16 + 340 && x + 300 <= (float)p.width - 16 - 480;
			TEST_ASSERT_TRUE(y >= help_bottom || beside);
			TEST_ASSERT_TRUE(y + 56 <= (float)p.height - 16 - 156 || x >= 16 + 680);
		}
	}
	TEST_ASSERT_EQUAL_INT(400, placed[0]);
	TEST_ASSERT_TRUE(placed[1] < 400); // the window is too small for some
	TEST_ASSERT_EQUAL_INT(400, placed[2]);
}

static void chips_follow_the_removed_volume_and_fade(void)
{
	static viewer_chips chips;
	static tac_snapshot s;
	viewer_chips_init(&chips);
	s.drill.used = true;
	s.T_world_sco = tac_dpose_identity();
	for (int i = 1; i <= 10; i++) {
		s.time_ns = i * 1000000;
		viewer_chips_add(&chips, &s, 1e-3F);
	}
	TEST_ASSERT_EQUAL_UINT32(0, chips.made); // nothing was removed
	s.time_ns = 20000000;
	s.drill.state.removed_m3[2] = 1e-9; // far more than one picture's chips
	viewer_chips_add(&chips, &s, 1e-3F);
	const uint32_t made = chips.made;
	TEST_ASSERT_TRUE(made > 0 && made < 20);
	viewer_chips_add(&chips, &s, 1e-3F); // the same snapshot
	s.time_ns = 21000000;
	viewer_chips_add(&chips, &s, 1e-3F); // nothing more was removed
	TEST_ASSERT_EQUAL_UINT32(made, chips.made);
	tac_vec3 at;
	float left = 1, last = 1, way = 0;
	TEST_ASSERT_FALSE(viewer_chips_at(&chips, 0, 19000000, &at, &left)); // not born yet
	TEST_ASSERT_FALSE(viewer_chips_at(&chips, (int)made, 21000000, &at, &left));
	int64_t ms = 20;
	for (; viewer_chips_at(&chips, 0, ms * 1000000, &at, &left); ms += 20) {
		TEST_ASSERT_TRUE(left <= last && left > 0 && tac_vec3_length(at) >= way);
		last = left;
		way = tac_vec3_length(at);
	}
	TEST_ASSERT_TRUE(last < 0.1F && ms > 100 && ms < 2000 && way < 0.1F);
	TEST_ASSERT_EQUAL_INT32(2, chips.chips[0].label);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(chips_follow_the_removed_volume_and_fade);
	RUN_TEST(camera_is_at_its_eye_and_returns_there_after_a_full_turn);
	RUN_TEST(camera_never_turns_over_the_pole);
	RUN_TEST(sphere_has_smooth_normals_and_box_has_sharp_edges);
	RUN_TEST(history_interpolates_between_the_last_two_snapshots_and_never_beyond);
	RUN_TEST(history_does_not_interpolate_between_worlds);
	RUN_TEST(trail_keeps_the_last_seconds);
	RUN_TEST(every_letter_has_ink_inside_its_cell_and_differs_from_the_others);
	RUN_TEST(the_bar_has_a_round_length_that_fits);
	RUN_TEST(a_missing_force_has_a_reason);
	RUN_TEST(a_needle_in_tissue_is_not_free);
	RUN_TEST(labels_are_never_under_a_panel);
	RUN_TEST(labels_are_never_under_the_help);
	return UNITY_END();
}
