// Scenes from code: the same as from a file with the same keys, to the bit of what is felt; bodies from
// memory; values that a file could not have are refused.
#include "collision/mesh_shapes.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"
#include "tests/support/logged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
	logged[0] = 0;
	logged_lines = 0;
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

// The caller frees the text.
static char *text_of(const tac_scene *scene)
{
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_write(scene, file));
	fclose(file);
	return text;
}

static void expect_equal(const tac_scene *expected, const tac_scene *found)
{
	char *a = text_of(expected), *b = text_of(found);
	TEST_ASSERT_EQUAL_STRING(a, b);
	free(a);
	free(b);
}

static const char yaml[] =
	"scene: a ball on a table\n"
	"materials:\n"
	"- {name: wood, stiffness_N_per_m: 800, static_friction: 0.4, dynamic_friction: 0.3}\n"
	"- {name: cloth, stiffness_N_per_m: 300, viscosity_N_s_per_m: 2, texture: grooves,\n"
	"   texture_height_m: 0.0002, texture_along: [0, 1, 0]}\n"
	"tools:\n"
	"- name: ball\n"
	"  shapes: [{kind: solids, solids: \"sphere:r=0.005\"}, {kind: capsule, radius_m: 0.003,\n"
	"    height_m: 0.03, segments: 12, position_m: [0, 0, 0.02]}]\n"
	"  device: sim:omega7\n"
	"  mapping: {workspace_scale: 1.5, position_m: [0, 0, 0.01]}\n"
	"  limits: {max_force_N: 6, engage_s: 0.1}\n"
	"  hand: [{time_s: 0, position_m: [0, 0, 0.03]}, {time_s: 0.2, position_m: [0.01, 0, -0.004],\n"
	"    rotation_rad: [0, 0.1, 0]}, {time_s: 0.4, position_m: [0, 0, 0.03], buttons: 1}]\n"
	"objects:\n"
	"- name: table\n"
	"  material: wood\n"
	"  position_m: [0, 0, -0.01]\n"
	"  surfaces: [{name: +z, material: cloth}]\n"
	"  shapes: [{kind: box, size_m: [0.2, 0.2, 0.02], segments: 8}]\n"
	"- name: bar\n"
	"  rotation_rad: [0, 0, 0.3]\n"
	"  shapes: [{kind: box, size_m: [0.01, 0.01, 0.01], segments: 1}]\n"
	"  path: [{time_s: 0}, {time_s: 1, position_m: [0.05, 0, 0]}]\n"
	"  hidden: true\n"
	"cameras: [{name: front, eye_m: [0, -0.4, 0.1], field_of_view_rad: 0.5}]\n";

static void add_materials(tac_scene *scene)
{
	tac_material *wood = tac_scene_add_material(scene, "wood");
	wood->stiffness_N_per_m = 800;
	wood->static_friction = 0.4;
	wood->dynamic_friction = 0.3;
	tac_material *cloth = tac_scene_add_material(scene, "cloth");
	cloth->stiffness_N_per_m = 300;
	cloth->viscosity_N_s_per_m = 2;
	cloth->texture = TAC_TEXTURE_GROOVES;
	cloth->texture_height_m = 0.0002;
	cloth->texture_along = tac_dvec3_make(0, 1, 0);
}

static void add_tool(tac_scene *scene)
{
	tac_scene_tool *tool = tac_scene_add_tool(scene, "ball");
	TAC_SCENE_SET(tac_scene_tool_add_shape(tool, TAC_SCENE_SOLIDS)->solids, "sphere:r=0.005");
	tac_scene_shape *shaft = tac_scene_tool_add_shape(tool, TAC_SCENE_CAPSULE);
	shaft->radius_m = 0.003;
	shaft->height_m = 0.03;
	shaft->segments = 12;
	shaft->position_m.z = 0.02;
	TAC_SCENE_SET(tool->device, "sim:omega7");
	tool->mapping.workspace_scale = 1.5;
	tool->mapping.position_m.z = 0.01;
	tool->limits.max_force_N = 6;
	tool->limits.engage_s = 0.1;
	TEST_ASSERT_TRUE(tac_scene_tool_add_point(tool, (tac_scene_point){.position_m = {0, 0, 0.03}}));
	TEST_ASSERT_TRUE(tac_scene_tool_add_point(tool, (tac_scene_point){.time_s = 0.2,
									  .position_m = {0.01, 0, -0.004},
									  .rotation_rad = {0, 0.1, 0}}));
	TEST_ASSERT_TRUE(tac_scene_tool_add_point(
		tool, (tac_scene_point){.time_s = 0.4, .position_m = {0, 0, 0.03}, .buttons = 1}));
}

static tac_scene *from_code(void)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_create("a ball on a table", &scene));
	add_materials(scene);
	add_tool(scene);
	tac_scene_object *table = tac_scene_add_object(scene, "table");
	TAC_SCENE_SET(table->material, "wood");
	table->position_m.z = -0.01;
	TEST_ASSERT_TRUE(tac_scene_object_add_surface(table, "+z", "cloth"));
	tac_scene_shape *box = tac_scene_object_add_shape(table, TAC_SCENE_BOX);
	box->size_m = tac_dvec3_make(0.2, 0.2, 0.02);
	box->segments = 8;
	tac_scene_object *bar = tac_scene_add_object(scene, "bar");
	bar->rotation_rad.z = 0.3;
	box = tac_scene_object_add_shape(bar, TAC_SCENE_BOX);
	box->size_m = tac_dvec3_make(0.01, 0.01, 0.01);
	box->segments = 1;
	tac_scene_object_add_point(bar, (tac_scene_point){.time_s = 0});
	tac_scene_object_add_point(bar, (tac_scene_point){.time_s = 1, .position_m = {0.05, 0, 0}});
	bar->hidden = true;
	tac_scene_camera *camera = tac_scene_add_camera(scene, "front");
	camera->eye_m = tac_dvec3_make(0, -0.4, 0.1);
	camera->field_of_view_rad = 0.5;
	return scene;
}

static tac_scene *from_text(const char *text)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_scene_parse(text, strlen(text), "test", &scene), logged);
	return scene;
}

#define TICKS 600

// Renders the scene along its own hand.
static void render(const tac_scene *scene, tac_render_row rows[TICKS])
{
	tac_world *world;
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world), logged);
	tac_path_sample *path = calloc(TICKS, sizeof *path);
	for (int i = 0; i < TICKS; i++)
		path[i].time_ns = i * INT64_C(1000000);
	tac_path_from_hand(&scene->tools[0], path, TICKS, path);
	tac_render_def def = tac_render_def_default();
	def.world = world;
	def.paths[0] = path;
	def.count = TICKS;
	tac_render *r;
	TEST_ASSERT_EQUAL(TAC_OK, tac_render_create(&def, &r));
	tac_render_row both[TAC_SCENE_TOOLS];
	for (int i = 0; tac_render_step(r, both); i++) {
		both[0].ns = 0;
		memset(&rows[i], 0, sizeof rows[i]);
		rows[i] = both[0];
	}
	tac_render_destroy(&r);
	free(path);
	tac_world_destroy(&world);
}

static void expect_same_render(const tac_scene *a, const tac_scene *b)
{
	static tac_render_row expected[TICKS], found[TICKS];
	int touched = 0;
	render(a, expected);
	render(b, found);
	for (int i = 0; i < TICKS; i++) {
		TEST_ASSERT_EQUAL_MEMORY(&expected[i].T_world_sco, &found[i].T_world_sco,
					 sizeof expected[i].T_world_sco);
		TEST_ASSERT_EQUAL_MEMORY(&expected[i].sent, &found[i].sent, sizeof expected[i].sent);
		TEST_ASSERT_EQUAL(expected[i].contacts, found[i].contacts);
		TEST_ASSERT_EQUAL(expected[i].flags, found[i].flags);
		touched += found[i].contacts > 0;
	}
	TEST_ASSERT_GREATER_THAN(TICKS / 20, touched);
}

static void a_scene_from_code_equals_that_of_a_file(void)
{
	tac_scene *code = from_code(), *file = from_text(yaml);
	expect_equal(file, code);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_check(code));
	char *text = text_of(code);
	tac_scene *again = from_text(text);
	expect_equal(code, again);
	expect_same_render(file, code);
	TEST_ASSERT_EQUAL(1, tac_scene_find_object(code, "bar"));
	TEST_ASSERT_EQUAL(-1, tac_scene_find_object(code, "ball"));
	TEST_ASSERT_EQUAL(0, tac_scene_find_tool(code, "ball"));
	TEST_ASSERT_EQUAL(-1, tac_scene_find_material(code, "bar"));
	for (int32_t i = 0; i < code->material_count; i++)
		TEST_ASSERT_EQUAL(i, tac_scene_find_material(code, code->materials[i].name));
	TEST_ASSERT_EQUAL(-1, tac_scene_find_effect(code, "hum"));
	TEST_ASSERT_NOT_NULL(tac_scene_add_effect(code, TAC_EFFECT_POINT, "pull"));
	TEST_ASSERT_NOT_NULL(tac_scene_add_effect(code, TAC_EFFECT_VIBRATION, "hum"));
	TEST_ASSERT_EQUAL(code->effect_count - 1, tac_scene_find_effect(code, "hum"));
	free(text);
	tac_scene_destroy(&again);
	tac_scene_destroy(&code);
	tac_scene_destroy(&file);
}

// Everything that the built-in scenes contain, element by element.
static void every_built_in_scene_can_be_built_from_code(void)
{
	for (int k = 0; tac_scene_builtin_name(k); k++) {
		tac_scene *file, *code;
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(tac_scene_builtin_name(k), &file));
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_create(file->name, &code));
		for (int32_t i = 0; i < file->material_count; i++)
			*tac_scene_add_material(code, file->materials[i].name) = file->materials[i];
		for (int32_t i = 0; i < file->tool_count; i++)
			*tac_scene_add_tool(code, file->tools[i].name) = file->tools[i];
		for (int32_t i = 0; i < file->object_count; i++)
			*tac_scene_add_object(code, file->objects[i].name) = file->objects[i];
		for (int32_t i = 0; i < file->camera_count; i++)
			*tac_scene_add_camera(code, file->cameras[i].name) = file->cameras[i];
		code->task = file->task;
		TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_scene_check(code), logged);
		expect_equal(file, code);
		tac_scene_destroy(&file);
		tac_scene_destroy(&code);
	}
}

static void a_scene_from_a_file_can_be_changed(void)
{
	tac_scene *file = from_text(yaml), *code = from_code();
	file->objects[0].position_m.z = -0.012;
	tac_scene_add_object(file, "more");
	tac_scene_object_add_shape(&file->objects[2], TAC_SCENE_SPHERE);
	code->objects[0].position_m.z = -0.012;
	tac_scene_add_object(code, "more");
	tac_scene_object_add_shape(&code->objects[2], TAC_SCENE_SPHERE)->radius_m = 0.01; // the default
	expect_equal(file, code);
	expect_same_render(file, code);
	tac_scene_destroy(&file);
	tac_scene_destroy(&code);
}

// ---- bodies from memory ----

// The box of a scene, given as a mesh of the caller instead.
static void a_body_from_memory_is_felt_like_the_generated_one(void)
{
	tac_scene *generated = from_text(yaml), *given = from_text(yaml);
	tac_mesh *box, *small;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.2f, 0.2f, 0.02f), 8, &box));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 1, &small));
	given->objects[0].shape_count = given->objects[1].shape_count = 0;
	tac_scene_object_add_mesh(&given->objects[0], "box", box);
	tac_scene_object_add_mesh(&given->objects[1], "small", small)->scale = 0.01;
	expect_same_render(generated, given);

	// Its YAML has its name alone; it needs a mesh again.
	char *text = text_of(given);
	TEST_ASSERT_NOT_NULL(strstr(text, "kind: memory"));
	tac_scene *again = from_text(text);
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(again, tac_collider_find("wide"), &world));
	TEST_ASSERT_EQUAL_STRING(
		"box: expected a mesh from the application (tac_scene_shape_set_mesh), found none", logged);
	tac_scene_shape_set_mesh(&again->objects[0].shapes[0], box);
	tac_scene_shape_set_mesh(&again->objects[1].shapes[0], small);
	expect_same_render(generated, again);
	free(text);
	tac_mesh_destroy(&box);
	tac_mesh_destroy(&small);
	tac_scene_destroy(&again);
	tac_scene_destroy(&given);
	tac_scene_destroy(&generated);
}

// A tetrahedron from arrays: the world keeps a copy, so that arrays and mesh may go.
static void a_body_from_arrays_outlives_them(void)
{
	tac_vec3 vertices[4] = {{0, 0, 0}, {0.02f, 0, 0}, {0, 0.02f, 0}, {0, 0, 0.02f}};
	tac_mesh_triangle triangles[4] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = 4;
	def.triangles = triangles;
	def.triangle_count = 4;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	tac_scene *scene = from_code();
	tac_scene_object_add_mesh(tac_scene_add_object(scene, "tetrahedron"), "tetrahedron", mesh);
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	tac_mesh_destroy(&mesh);
	memset(vertices, 0, sizeof vertices);
	TEST_ASSERT_EQUAL(4, world->objects[2].mesh->triangle_count);
	TEST_ASSERT_TRUE(world->objects[2].solid);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02 * 0.02 * 0.02 / 6, tac_mesh_volume(world->objects[2].mesh));
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

// ---- refusals ----

static void expect_check(tac_scene *scene, const char *message)
{
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_scene_check(scene));
	TEST_ASSERT_EQUAL_STRING(message, logged);
	TEST_ASSERT_EQUAL(1, logged_lines);
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(scene, tac_collider_find("wide"), &world));
	TEST_ASSERT_NULL(world);
	tac_scene_destroy(&scene);
}

static void wrong_values_are_refused_with_their_field(void)
{
	tac_scene *s = from_code();
	TAC_SCENE_SET(s->objects[1].material, "wod");
	expect_check(s, "scene 'a ball on a table': objects[1].material: expected the name of a material, "
			"found 'wod'; did you mean 'wood'?");
	s = from_code();
	s->objects[0].shapes[0].size_m.y = NAN;
	expect_check(s,
		     "scene 'a ball on a table': objects[0].shapes[0].size_m: expected a number from 1e-06 "
		     "to 1000, found 'nan'");
	s = from_code();
	s->tools[0].limits.max_force_N = -1;
	expect_check(s,
		     "scene 'a ball on a table': tools[0].limits.max_force_N: expected a number from 1e-06 "
		     "to 1000, found '-1'");
	s = from_code();
	s->tools[0].limits.max_force_N = 0; // the device's own
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_check(s));
	s->tools[0].hand[2].time_s = 0.1;
	expect_check(s, "scene 'a ball on a table': tools[0].hand[2].time_s: expected a time after the point "
			"before (0.2 s), found '0.1'");
	s = from_code();
	s->materials[1].texture = 7;
	expect_check(s,
		     "scene 'a ball on a table': materials[1].texture: expected a choice from 0 to 2, found "
		     "'7'");
	s = from_code();
	s->object_count = -3;
	expect_check(s, "scene 'a ball on a table': objects: expected 0 to 32 of them, found -3");
	s = from_code();
	memset(s->tools[0].name, 'x', sizeof s->tools[0].name);
	expect_check(
		s, "scene 'a ball on a table': tools[0].name: expected a text of 1 to 31 bytes, found more");
	s = from_code();
	s->tool_count = 0;
	expect_check(s, "scene 'a ball on a table': tools: expected 1 to 2 of them, found 0");
}

static void what_does_not_fit_is_refused(void)
{
	tac_scene *s = from_code();
	TEST_ASSERT_NULL(tac_scene_add_material(s, "wood"));
	TEST_ASSERT_EQUAL_STRING("scene: expected another name of a material, found 'wood' again", logged);
	TEST_ASSERT_NULL(tac_scene_add_object(s, ""));
	TEST_ASSERT_EQUAL_STRING("scene: expected a name in objects, found none", logged);
	TEST_ASSERT_NULL(tac_scene_add_tool(s, NULL));
	TEST_ASSERT_NULL(tac_scene_add_material(s, NULL));
	TEST_ASSERT_NULL(tac_scene_add_effect(s, TAC_EFFECT_POINT, NULL));
	TEST_ASSERT_FALSE(tac_scene_object_add_surface(&s->objects[0], NULL, "wood"));
	TEST_ASSERT_FALSE(TAC_SCENE_SET(s->objects[0].material, NULL));
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(s, tac_collider_find("widee"), &world));
	TEST_ASSERT_EQUAL_STRING(
		"world: expected a scene and a collider (tac_collider_find), found no collider", logged);
	TEST_ASSERT_NULL(world);
	TEST_ASSERT_NULL(tac_scene_add_object(s, "a name of more than thirty-one bytes"));
	TEST_ASSERT_NOT_NULL(tac_scene_add_tool(s, "second"));
	TEST_ASSERT_NULL(tac_scene_add_tool(s, "third"));
	TEST_ASSERT_EQUAL_STRING("scene: expected at most 2 tools, found another", logged);
	TEST_ASSERT_EQUAL(2, s->tool_count);
	for (int i = s->objects[0].shape_count; i < TAC_SCENE_SHAPES; i++)
		TEST_ASSERT_NOT_NULL(tac_scene_object_add_shape(&s->objects[0], TAC_SCENE_CONE));
	TEST_ASSERT_NULL(tac_scene_object_add_shape(&s->objects[0], TAC_SCENE_CONE));
	TEST_ASSERT_EQUAL(TAC_SCENE_SHAPES, s->objects[0].shape_count);
	TEST_ASSERT_NULL(tac_scene_object_add_shape(&s->objects[1], TAC_SCENE_SHAPE_KINDS));
	TEST_ASSERT_FALSE(
		tac_scene_object_add_surface(&s->objects[0], "-z", "a name of more than thirty-one bytes"));
	TEST_ASSERT_EQUAL(1, s->objects[0].surface_count);
	TEST_ASSERT_FALSE(TAC_SCENE_SET(s->tools[0].grip, "a name of more than thirty-one bytes"));
	TEST_ASSERT_EQUAL_STRING("stylus", s->tools[0].grip);
	tac_scene_destroy(&s);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_scene_create(NULL, &s));
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_scene_create("", &s));
	TEST_ASSERT_NULL(s);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_scene_from_code_equals_that_of_a_file);
	RUN_TEST(every_built_in_scene_can_be_built_from_code);
	RUN_TEST(a_scene_from_a_file_can_be_changed);
	RUN_TEST(a_body_from_memory_is_felt_like_the_generated_one);
	RUN_TEST(a_body_from_arrays_outlives_them);
	RUN_TEST(wrong_values_are_refused_with_their_field);
	RUN_TEST(what_does_not_fit_is_refused);
	return UNITY_END();
}
