// Scene files: what is read, what is refused with which message, and that a written scene reads back the
// same.
#include "haptic/scene.h"
#include "haptic/scene/scene_keys.h"
#include "haptic/scene_builder.h"
#include "haptic/world.h"
#include "tests/support/logged.h"
#include "tests/support/scene_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged[0] = 0;
	logged_lines = 0;
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_scene *parse(const char *text)
{
	tac_scene *scene;
	tac_scene_parse(text, strlen(text), "x.yaml", &scene);
	return scene;
}

static void expect_refusal(const char *text, const char *message)
{
	logged_lines = 0;
	tac_scene *scene = parse(text);
	TEST_ASSERT_NULL_MESSAGE(scene, text);
	TEST_ASSERT_EQUAL_INT_MESSAGE(1, logged_lines, text);
	TEST_ASSERT_EQUAL_STRING(message, logged);
}

// Byte by byte: every field, and the padding, which the reader leaves zero.
static void expect_round_trip(const tac_scene *scene)
{
	char *text = scene_text(scene);
	tac_scene *again = parse(text);
	TEST_ASSERT_NOT_NULL_MESSAGE(again, logged);
	TEST_ASSERT_EQUAL_STRING("", again->folder);
	TEST_ASSERT_EQUAL_INT(0, memcmp(scene, again, sizeof *scene));
	char *second = scene_text(again);
	TEST_ASSERT_EQUAL_STRING(text, second);
	free(second);
	free(text);
	tac_scene_destroy(&again);
}

#define TOOL "tools: [{name: t, shapes: [{kind: sphere}]}]\n"

static void every_built_in_scene_reads_back_as_written(void)
{
	int count = 0;
	for (; tac_scene_builtin_name(count); count++) {
		tac_scene *scene;
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(tac_scene_builtin_name(count), &scene));
		expect_round_trip(scene);
		tac_scene_destroy(&scene);
	}
	TEST_ASSERT_EQUAL_INT(11, count);
}

static void every_built_in_scene_builds_closed_meshes(void)
{
	for (int i = 0; tac_scene_builtin_name(i); i++) {
		tac_scene *scene;
		tac_world *world;
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(tac_scene_builtin_name(i), &scene));
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
		for (int32_t k = 0; k < scene->tool_count; k++)
			TEST_ASSERT_TRUE(tac_mesh_is_watertight(world->tools[k].mesh));
		for (int32_t k = 0; k < scene->object_count; k++) {
			TEST_ASSERT_TRUE(tac_mesh_is_watertight(world->objects[k].mesh));
			TEST_ASSERT_TRUE(tac_mesh_volume(world->objects[k].mesh) > 0);
		}
		tac_world_destroy(&world);
		tac_scene_destroy(&scene);
	}
}

static void numbers_with_all_digits_and_unusual_names_read_back(void)
{
	tac_scene *scene = parse("scene: x\n" TOOL);
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	scene->tools[0].turn_arm_m = 0.1 + 0.2;
	scene->tools[0].damping_N_s_per_m = 1.0 / 3;
	strcpy(scene->tools[0].name, "a \"b\"\\ #: é\t'");
	scene->tools[0].mapping.position_m = tac_dvec3_make(-1e-300, 5e-7, -0.0);
	scene->tools[0].shapes[0].subdivisions = 7;
	expect_round_trip(scene);
	tac_scene_destroy(&scene);
}

static void numbers_of_ordinary_size_are_written_without_an_exponent(void)
{
	tac_scene *scene =
		parse("scene: x\nmaterials: [{name: m, stiffness_N_per_m: 800}, "
		      "{name: n, stiffness_N_per_m: 123456, texture_wavelength_m: 0.00025}]\n" TOOL);
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	char *text = scene_text(scene);
	TEST_ASSERT_NOT_NULL(strstr(text, "stiffness_N_per_m: 800\n"));
	TEST_ASSERT_NOT_NULL(strstr(text, "stiffness_N_per_m: 123456\n"));
	TEST_ASSERT_NOT_NULL(strstr(text, "texture_wavelength_m: 0.00025\n"));
	free(text);
	tac_scene_destroy(&scene);
}

static void effects_read_back_as_written(void)
{
	tac_scene *scene =
		parse("scene: x\n" TOOL "effects:\n"
		      "- {kind: constant, name: a, tool: t, force_N: [1, 2, 0.1], torque_Nm: [0, 0, 1]}\n"
		      "- {kind: gravity, name: b, mass_kg: 0.3, region: ball, radius_m: 0.02}\n"
		      "- {kind: point, name: c, side: inside, radius_m: 0.1, max_force_N: 2}\n"
		      "- {kind: line, name: d, direction: [1, 1, 0], range_m: 0.05, enabled: false}\n"
		      "- {kind: plane, name: e, stiffness_N_per_m: 333.25, damping_N_s_per_m: 1}\n"
		      "- {kind: viscous, name: f, region: half_space, border_m: 0.001}\n"
		      "- {kind: magnet, name: g, peak_force_N: 2, core_m: 0.004}\n"
		      "- {kind: vibration, name: h, amplitude_N: 0.2, frequency_Hz: 80, attack_s: 0.1,\n"
		      "   hold_s: 1, release_s: 0.2, tool_point_m: [0, 0, 0.1]}\n");
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	TEST_ASSERT_EQUAL_INT(8, scene->effect_count);
	for (int32_t i = 0; i < 8; i++) {
		TEST_ASSERT_EQUAL_INT(i, scene->effects[i].kind);
		TEST_ASSERT_EQUAL_INT(i != 3, scene->effects[i].enabled);
	}
	TEST_ASSERT_EQUAL_DOUBLE(333.25, scene->effects[4].stiffness_N_per_m);
	expect_round_trip(scene);
	tac_scene_destroy(&scene);
}

static void effects_from_code_equal_those_of_a_file(void)
{
	tac_scene *file = parse("scene: x\n" TOOL "effects:\n- {kind: line, name: guide, range_m: 0.02}\n"
				"- {kind: magnet, name: snap, enabled: false}\n");
	TEST_ASSERT_NOT_NULL_MESSAGE(file, logged);
	tac_scene *code = parse("scene: x\n" TOOL);
	tac_scene_add_effect(code, TAC_EFFECT_LINE, "guide")->range_m = 0.02;
	tac_scene_add_effect(code, TAC_EFFECT_MAGNET, "snap")->enabled = false;
	TEST_ASSERT_EQUAL_INT(0, memcmp(file, code, sizeof *file));
	TEST_ASSERT_NULL(tac_scene_add_effect(code, TAC_EFFECT_KIND_COUNT, "none"));
	TEST_ASSERT_NULL(tac_scene_add_effect(code, TAC_EFFECT_LINE, ""));
	TEST_ASSERT_NULL(
		tac_scene_add_effect(code, TAC_EFFECT_LINE, "a name that is longer than thirty-one bytes"));
	TEST_ASSERT_EQUAL_INT(2, code->effect_count);
	tac_scene_add_effect(code, TAC_EFFECT_PLANE, "snap");
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_scene_check(code));
	TEST_ASSERT_EQUAL_STRING("scene 'x': effects[2].name: expected another name, found 'snap' again",
				 logged);
	while (tac_scene_add_effect(code, TAC_EFFECT_POINT, "more")) {
	}
	TEST_ASSERT_EQUAL_INT(TAC_EFFECT_COUNT, code->effect_count);
	tac_scene_destroy(&file);
	tac_scene_destroy(&code);
}

// ---- docs/scene.md ----

static char *read_page(void)
{
	static char text[65536];
	FILE *file = fopen(TACTUS_SCENE_PAGE, "r");
	TEST_ASSERT_NOT_NULL(file);
	const size_t bytes = fread(text, 1, sizeof text - 1, file);
	TEST_ASSERT_TRUE(bytes > 1000 && bytes < sizeof text - 1);
	text[bytes] = 0;
	fclose(file);
	return text;
}

static bool has_word(const char *text, const char *word)
{
	char quoted[96];
	snprintf(quoted, sizeof quoted, "`%s`", word);
	return strstr(text, quoted) != NULL;
}

// Whether the group, or a group in it, has `name` as a key or as a choice.
static bool in_table(const tac_scene_group *group, const char *name)
{
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		if (strcmp(key->name, name) == 0 || (key->group && in_table(key->group, name)))
			return true;
		for (int i = 0; key->choices && key->choices[i]; i++) {
			if (strcmp(key->choices[i], name) == 0)
				return true;
		}
	}
	return false;
}

static void expect_keys_on_page(const char *text, const tac_scene_group *group)
{
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		TEST_ASSERT_TRUE_MESSAGE(has_word(text, key->name), key->name);
		if (key->group)
			expect_keys_on_page(text, key->group);
		for (int i = 0; key->choices && key->choices[i]; i++)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, key->choices[i]), key->choices[i]);
	}
}

static void the_page_has_every_key_and_no_other(void)
{
	char *text = read_page();
	expect_keys_on_page(text, tac_scene_root());
	// The first column of a table holds keys and kinds.
	int count = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, "| `", 3) != 0)
			continue;
		*strchr(line + 2, '|') = 0;
		for (char *from = strchr(line, '`'), *to; from; from = strchr(to + 1, '`')) {
			to = strchr(from + 1, '`');
			*to = 0;
			TEST_ASSERT_TRUE_MESSAGE(in_table(tac_scene_root(), from + 1), from + 1);
			count++;
		}
	}
	TEST_ASSERT_TRUE(count > 40);
}

// Texts for which libyaml needs quadratic time. They are refused at the first excess, whatever follows.
static void depth_and_anchors_have_limits(void)
{
	static char text[200000];
	const struct {
		const char *piece, *message;
	} cases[] = {
		{"[", "x.yaml:1:17: expected at most 16 levels of nesting, found more"},
		{"{a: ", "x.yaml:1:65: expected at most 16 levels of nesting, found more"},
		{"? - ", "expected at most 16 levels of nesting, found more"},
		{"- &a x\n", "x.yaml:257:3: expected at most 256 anchors, found more"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const size_t length = strlen(cases[i].piece);
		size_t used = 0;
		for (; used + length < sizeof text; used += length)
			memcpy(text + used, cases[i].piece, length);
		tac_scene *scene;
		logged_lines = 0;
		TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_scene_parse(text, used, "x.yaml", &scene));
		TEST_ASSERT_NULL(scene);
		TEST_ASSERT_EQUAL_INT(1, logged_lines);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, cases[i].message), logged);
	}
	// Sixteen levels are read, and refused for another reason.
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT,
			  tac_scene_parse("[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]", 32, "x.yaml", &scene));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, "expected a scene, found a list"), logged);
}

static void the_size_of_a_scene_is_known_before_it_is_built(void)
{
	tac_scene *scene = parse("scene: x\n" TOOL "objects: [{name: o, shapes: [{kind: sphere, "
				 "subdivisions: 6}, {kind: box, segments: 10}]}]\n");
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	const int64_t told = tac_scene_triangles(scene);
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	TEST_ASSERT_INT64_WITHIN((uint64_t)world->triangles / 20, world->triangles, told);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

static void a_mesh_with_holes_or_inside_out_is_reported(void)
{
	static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
	static const char *const faces[] = {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
					    "f 1 3 2\nf 1 2 4\nf 1 4 3\n",
					    "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n"};
	static const char *const warnings[] = {NULL, "found 3 open edges", "faces inwards"};
	for (int i = 0; i < 3; i++) {
		char path[] = "/tmp/tactus-scene-XXXXXX.obj", text[256];
		const int handle = mkstemps(path, 4);
		TEST_ASSERT_TRUE(handle >= 0);
		FILE *file = fdopen(handle, "w");
		fprintf(file, "%s%s", tetrahedron, faces[i]);
		fclose(file);
		snprintf(text, sizeof text,
			 "scene: x\n" TOOL "objects: [{name: o, shapes: [{kind: mesh, file: %s}]}]\n", path);
		tac_scene *scene = parse(text);
		TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
		logged_lines = 0;
		tac_world *world;
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
		TEST_ASSERT_EQUAL_INT(warnings[i] ? 1 : 0, logged_lines);
		if (warnings[i])
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(logged, warnings[i]), logged);
		tac_world_destroy(&world);
		tac_scene_destroy(&scene);
		unlink(path);
	}
}

static void each_shape_of_a_body_has_a_probe_on_it(void)
{
	tac_scene *scene =
		parse("scene: x\n" TOOL "objects:\n"
		      "- {name: two, shapes: [{kind: sphere, radius_m: 0.05, subdivisions: 4}, "
		      "{kind: box, size_m: [0.1, 0.1, 0.1], segments: 4, position_m: [0.04, 0, 0]}]}\n");
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	const tac_world_body *body = &world->objects[0];
	TEST_ASSERT_EQUAL_INT32(2, body->probe_count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.05, tac_dvec3_length(body->probes[0]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.05, fabs(body->probes[1].x - 0.04));
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

static void defaults_are_those_of_the_table(void)
{
	tac_scene *scene = parse("scene: x\nmaterials: [{name: m}]\n" TOOL);
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	TEST_ASSERT_EQUAL_DOUBLE(1000, scene->materials[0].stiffness_N_per_m);
	TEST_ASSERT_EQUAL_STRING("sim:six", scene->tools[0].device);
	TEST_ASSERT_EQUAL_INT(6, scene->tools[0].axes);
	TEST_ASSERT_EQUAL_DOUBLE(1, scene->tools[0].mapping.workspace_scale);
	TEST_ASSERT_EQUAL_INT(-1, scene->tools[0].limits.deadman_button);
	TEST_ASSERT_EQUAL_INT(0, scene->object_count);
	tac_scene_destroy(&scene);
}

static void errors_name_their_position_and_the_expected_value(void)
{
	expect_refusal("", "x.yaml:1:1: expected a scene, found nothing");
	expect_refusal("- a\n", "x.yaml:1:1: expected a scene, found a list");
	expect_refusal("scene: x\ntols: []\n" TOOL,
		       "x.yaml:2:1: expected a key of a scene, found 'tols'; did you mean 'tools'?");
	expect_refusal("scene: x\n" TOOL "materials:\n- name: m\n  stiffness: 3\n",
		       "x.yaml:5:3: expected a key of a material, found 'stiffness'; "
		       "did you mean 'stiffness_N_per_m'?");
	expect_refusal("scene: x\n" TOOL "materials:\n- name: m\n  stiffness_N_per_mm: 3\n",
		       "x.yaml:5:3: expected a key of a material, found 'stiffness_N_per_mm'; "
		       "did you mean 'stiffness_N_per_m'?");
	expect_refusal("scene: x\n" TOOL "materials:\n- {name: m, stiffness_N_per_m: 0}\n",
		       "x.yaml:4:32: expected a number from 1 to 1e+06, found '0'");
	expect_refusal("scene: x\n" TOOL "materials:\n- {name: m, stiffness_N_per_m: nan}\n",
		       "x.yaml:4:32: expected a number from 1 to 1e+06, found 'nan'");
	expect_refusal("scene: x\n" TOOL "materials:\n- {name: m, stiffness_N_per_m: 0x10}\n",
		       "x.yaml:4:32: expected a number from 1 to 1e+06, found '0x10'");
	expect_refusal("scene: x\n" TOOL "scene: y\n", "x.yaml:3:1: expected 'scene' once, found it again");
	expect_refusal("scene: x\n", "x.yaml:1:1: expected 'tools' in a scene, found none");
	expect_refusal("scene: x\ntools: []\n", "x.yaml:2:8: expected a list of 1 to 2, found a list");
	expect_refusal("scene: x\ntools: [{name: t, shapes: [{kind: box, radius_m: 1}]}]\n",
		       "x.yaml:2:40: expected a key of a shape of this kind "
		       "(kind, size_m, segments, position_m, rotation_rad), found 'radius_m'");
	expect_refusal("scene: x\ntools: [{name: t, shapes: [{kind: sphere, radius: 1}]}]\n",
		       "x.yaml:2:43: expected a key of a shape, found 'radius'; did you mean 'radius_m'?");
	expect_refusal("scene: x\ntools: [{name: t, axes: 4, shapes: [{kind: sphere}]}]\n",
		       "x.yaml:2:25: expected 3 or 6, found '4'");
	expect_refusal("scene: x\ntools: [{name: t, limits: {max_force_N: 0}, shapes: [{kind: sphere}]}]\n",
		       "x.yaml:2:41: expected a number from 1e-06 to 1000, found '0'");
	expect_refusal("scene: x\n" TOOL "objects: [{name: o, shapes: [{kind: mesh, file: no/such.obj}]}]\n",
		       "x.yaml:3:49: expected a mesh file, found 'no/such.obj': No such file or directory");
	expect_refusal(
		"scene: x\ntools: [{name: t, shapes: [{kind: ball}]}]\n",
		"x.yaml:2:35: expected mesh or solids or box or sphere or torus or cylinder or cone or "
		"capsule or peg or block or groove or body or tooth or assembly or memory, found 'ball'");
	expect_refusal("scene: x\n" TOOL "objects: [{name: o, shapes: [{kind: box}], position_m: [1, 2]}]\n",
		       "x.yaml:3:56: expected a list of 3 numbers, found a list");
	expect_refusal("scene: x\n" TOOL "materials: [{name: wood}]\n"
		       "objects: [{name: o, shapes: [{kind: box}], material: wod}]\n",
		       "x.yaml:4:54: expected the name of a material, found 'wod'; did you mean 'wood'?");
	expect_refusal("scene: x\n" TOOL
		       "materials: [{name: m, static_friction: 0.1, dynamic_friction: 0.2}]\n",
		       "x.yaml:3:63: expected at most the static friction (0.1), found '0.2'");
	expect_refusal("scene: x\n" TOOL "materials: [{name: m}, {name: m}]\n",
		       "x.yaml:3:31: expected another name, found 'm' again");
	expect_refusal(
		"scene: x\ntools: [{name: t, shapes: [{kind: sphere}], hand: [{time_s: 1}, {time_s: 1}]}]\n",
		"x.yaml:2:74: expected a time after the point before (1 s), found '1'");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: spring, name: a}\n",
		       "x.yaml:4:10: expected constant or gravity or point or line or plane or viscous or "
		       "magnet or vibration, found 'spring'");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: magnet, name: a, radius_m: 1}\n",
		       "x.yaml:4:27: expected a key of an effect of this kind (kind, name, tool, enabled, "
		       "tool_point_m, position_m, peak_force_N, core_m), found 'radius_m'");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: magnet, name: a, core_m: 0}\n",
		       "x.yaml:4:35: expected a number from 0.0001 to 1000, found '0'");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: line, name: a, direction: [0, 0, 0]}\n",
		       "x.yaml:4:36: expected a direction, found one of no length");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: viscous, name: a, region: ball}\n",
		       "x.yaml:4:36: expected a 'radius_m' above 0 for a ball, found none");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: magnet, name: a, tool: u}\n",
		       "x.yaml:4:33: expected the name of a tool, found 'u'; did you mean 't'?");
	expect_refusal("scene: x\n" TOOL "effects:\n- {kind: magnet, name: a}\n- {kind: line, name: a}\n",
		       "x.yaml:5:22: expected another name, found 'a' again");
	expect_refusal("scene: x\n" TOOL "---\nscene: y\n",
		       "x.yaml:4:1: expected one document, found another");
	expect_refusal("scene: [\n", "x.yaml:2:1: expected YAML, found: did not find expected node content");
	expect_refusal("scene: \"a\\0b\"\n" TOOL,
		       "x.yaml:1:8: expected a text of 1 to 63 bytes, found 'a?b'");
}

static void a_missing_or_oversized_file_is_refused(void)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_scene_load("/nowhere/x.yaml", &scene));
	TEST_ASSERT_EQUAL_STRING("/nowhere/x.yaml: expected a scene file: No such file or directory", logged);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_scene_load("/", &scene));
	char *text = malloc(TAC_SCENE_FILE_MAX + 1);
	memset(text, ' ', TAC_SCENE_FILE_MAX + 1);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_scene_parse(text, TAC_SCENE_FILE_MAX + 1, "x", &scene));
	TEST_ASSERT_NULL(scene);
	free(text);
}

static void an_unknown_surface_is_refused(void)
{
	tac_scene *scene =
		parse("scene: x\n" TOOL "materials: [{name: m}]\n"
		      "objects: [{name: o, shapes: [{kind: box}], surfaces: [{name: lid, material: m}]}]\n");
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(scene, tac_collider_find("wide"), &world));
	TEST_ASSERT_EQUAL_STRING(
		"o: expected the name of a surface of its mesh (the first is '-x'), found 'lid'", logged);
	tac_scene_destroy(&scene);
}

static void shapes_are_merged_in_place_and_keep_their_materials(void)
{
	tac_scene *scene = parse("scene: x\n" TOOL
				 "materials: [{name: a}, {name: b}]\nobjects:\n- name: o\n  material: a\n"
				 "  shapes:\n  - {kind: box, size_m: [1, 1, 1], segments: 1}\n"
				 "  - {kind: sphere, radius_m: 1, position_m: [5, 0, 0]}\n"
				 "  surfaces: [{name: sphere, material: b}]\n");
	tac_world *world;
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	const tac_mesh *mesh = world->objects[0].mesh;
	TEST_ASSERT_EQUAL_INT(7, mesh->surface_count);
	TEST_ASSERT_EQUAL_FLOAT(6, mesh->bounds_max.x);
	TEST_ASSERT_EQUAL_FLOAT(-0.5F, mesh->bounds_min.x);
	TEST_ASSERT_EQUAL_STRING("a", tac_world_material(world, 0, 0)->name);
	TEST_ASSERT_EQUAL_STRING("b", tac_world_material(world, 0, 6)->name);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

static void a_moving_object_follows_its_path_and_repeats_it(void)
{
	tac_scene *scene = parse("scene: x\n" TOOL "objects:\n- name: o\n  shapes: [{kind: box}]\n"
				 "  position_m: [0, 0, 1]\n  rotation_rad: [0, 0, 1.5707963267948966]\n"
				 "  path: [{time_s: 0}, {time_s: 2, position_m: [4, 0, 0]}, {time_s: 3}]\n");
	tac_world *world;
	TEST_ASSERT_NOT_NULL_MESSAGE(scene, logged);
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	const struct {
		double t, y;
	} cases[] = {{0, 0}, {1, 2}, {2, 4}, {2.5, 2}, {3, 0}, {4, 2}, {7.5, 3}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const tac_dpose T = tac_world_object_pose(world, 0, (int64_t)(cases[i].t * 1e9));
		// The path's x is the world's y.
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, cases[i].y, T.position.y);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, T.position.z);
	}
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_built_in_scene_reads_back_as_written);
	RUN_TEST(every_built_in_scene_builds_closed_meshes);
	RUN_TEST(numbers_with_all_digits_and_unusual_names_read_back);
	RUN_TEST(numbers_of_ordinary_size_are_written_without_an_exponent);
	RUN_TEST(effects_read_back_as_written);
	RUN_TEST(effects_from_code_equal_those_of_a_file);
	RUN_TEST(the_page_has_every_key_and_no_other);
	RUN_TEST(depth_and_anchors_have_limits);
	RUN_TEST(the_size_of_a_scene_is_known_before_it_is_built);
	RUN_TEST(a_mesh_with_holes_or_inside_out_is_reported);
	RUN_TEST(each_shape_of_a_body_has_a_probe_on_it);
	RUN_TEST(defaults_are_those_of_the_table);
	RUN_TEST(errors_name_their_position_and_the_expected_value);
	RUN_TEST(a_missing_or_oversized_file_is_refused);
	RUN_TEST(an_unknown_surface_is_refused);
	RUN_TEST(shapes_are_merged_in_place_and_keep_their_materials);
	RUN_TEST(a_moving_object_follows_its_path_and_repeats_it);
	return UNITY_END();
}
