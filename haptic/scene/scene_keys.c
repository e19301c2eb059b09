#include "haptic/scene/scene_keys.h"

#include "collision/assembly.h"
#include "haptic/force/coupling.h"
#include "haptic/scene.h"

#include <string.h>

#define COORDINATE_MAX 1e3  // m
#define TURN_MAX       6.3  // rad, of each component of a rotation vector
#define LENGTH_MIN     1e-6 // m

#define KEY(text, what, type, field)                                                                         \
	.name = text, .kind = TAC_KEY_##what, .offset = offsetof(type, field),                               \
	.size = sizeof(((type *)0)->field)
#define NUMBER(type, field, least, most)  KEY(#field, NUMBER, type, field), .min = least, .max = most
#define INTEGER(type, field, least, most) KEY(#field, INTEGER, type, field), .min = least, .max = most
#define VECTOR(type, field, least, most)  KEY(#field, VECTOR, type, field), .min = least, .max = most
#define TEXT(type, field)                 KEY(#field, TEXT, type, field)
#define FLAG(type, field)                 KEY(#field, FLAG, type, field)
#define CHOICE(type, field, words)        KEY(#field, CHOICE, type, field), .choices = words
#define MAP(type, field, of)              KEY(#field, MAP, type, field), .group = &of
#define LIST(type, field, count, least, most, of)                                                            \
	.name = #field, .kind = TAC_KEY_LIST, .offset = offsetof(type, field),                               \
	.size = sizeof(*((type *)0)->field), .min = least, .max = most, .group = &of,                        \
	.count_offset = offsetof(type, count)

// ---- materials ----

static const char *const textures[] = {"none", "grooves", "bumps", NULL};

static const tac_scene_key material_keys[] = {
	{TEXT(tac_material, name), .required = true},
	{NUMBER(tac_material, stiffness_N_per_m, 1, 1e6)},
	{NUMBER(tac_material, static_friction, 0, 10)},
	{NUMBER(tac_material, dynamic_friction, 0, 10)},
	{NUMBER(tac_material, friction_stiffness_N_per_m, 1, 1e6)},
	{NUMBER(tac_material, viscosity_N_s_per_m, 0, 1e3)},
	{CHOICE(tac_material, texture, textures)},
	{NUMBER(tac_material, texture_height_m, 0, 0.01)},
	{NUMBER(tac_material, texture_wavelength_m, 1e-5, 1)},
	{VECTOR(tac_material, texture_along, -1e3, 1e3)},
	{FLAG(tac_material, smooth)},
	{NUMBER(tac_material, crease_rad, 0, 3.15)},
	{NUMBER(tac_material, tip_stiffness_N_per_m, 1, 1e6)},
	{NUMBER(tac_material, tip_stiffening_N_per_m2, 0, 1e9)},
	{NUMBER(tac_material, puncture_N, 0, 1e3)},
	{NUMBER(tac_material, cutting_N, 0, 1e3)},
	{NUMBER(tac_material, shaft_friction_N_per_m, 0, 1e5)},
	{NUMBER(tac_material, shaft_stiffness_N_per_m2, 1, 1e9)},
	{NUMBER(tac_material, shaft_viscosity_N_s_per_m2, 0, 1e5)},
	{NUMBER(tac_material, lateral_stiffness_N_per_m2, 0, 1e9)},
	{NUMBER(tac_material, tip_relaxation_N_per_m, 0, 1e6)},
	{NUMBER(tac_material, tip_relaxation_s, 1e-3, 1e3)},
	{NUMBER(tac_material, needle_turning, 0, 1)},
	{NUMBER(tac_material, cutting_energy_J_per_m3, 1e3, 1e12)},
	{NUMBER(tac_material, feed_m_per_N_s, 1e-9, 10)},
	{NUMBER(tac_material, rub_N, 0, 100)},
	{NUMBER(tac_material, young_Pa, 10, 1e9)},
	{NUMBER(tac_material, poisson, 0, 0.49)},
	{NUMBER(tac_material, creep, 0, 10)},
	{NUMBER(tac_material, creep_time_s, 0.01, 1e3)},
	{0},
};

static void fill_material(void *out)
{
	*(tac_material *)out = tac_material_default();
}

static const tac_scene_group material_group = {"a material", material_keys, sizeof(tac_material),
					       fill_material};

// ---- shapes ----

static const char *const shape_kinds[] = {
	[TAC_SCENE_MESH] = "mesh",     [TAC_SCENE_SOLIDS] = "solids",     [TAC_SCENE_BOX] = "box",
	[TAC_SCENE_SPHERE] = "sphere", [TAC_SCENE_TORUS] = "torus",       [TAC_SCENE_CYLINDER] = "cylinder",
	[TAC_SCENE_CONE] = "cone",     [TAC_SCENE_CAPSULE] = "capsule",   [TAC_SCENE_PEG] = "peg",
	[TAC_SCENE_BLOCK] = "block",   [TAC_SCENE_GROOVE] = "groove",     [TAC_SCENE_BODY] = "body",
	[TAC_SCENE_TOOTH] = "tooth",   [TAC_SCENE_ASSEMBLY] = "assembly", [TAC_SCENE_MEMORY] = "memory",
	[TAC_SCENE_SHAPE_KINDS] = NULL};

static const char *const machines[] = {
	[TAC_ASSEMBLY_DIGGER] = "digger",
	[TAC_ASSEMBLY_BOX] = "box",
	[TAC_ASSEMBLY_PLANT] = "plant",
	[TAC_ASSEMBLY_KINDS] = NULL,
};

#define OF(kind) (1u << TAC_SCENE_##kind)
#define ROUND    (OF(TORUS) | OF(CYLINDER) | OF(CONE) | OF(CAPSULE))
#define FIT      (OF(PEG) | OF(BLOCK))

static const tac_scene_key shape_keys[] = {
	{CHOICE(tac_scene_shape, kind, shape_kinds), .required = true},
	{TEXT(tac_scene_shape, file), .kinds = OF(MESH) | OF(MEMORY), .required = true},
	{NUMBER(tac_scene_shape, scale, 1e-6, 1e6), .kinds = OF(MESH) | OF(MEMORY)},
	{TEXT(tac_scene_shape, solids), .kinds = OF(SOLIDS), .required = true},
	{VECTOR(tac_scene_shape, size_m, LENGTH_MIN, COORDINATE_MAX),
	 .kinds = OF(BOX) | OF(BLOCK) | OF(GROOVE)},
	{NUMBER(tac_scene_shape, radius_m, LENGTH_MIN, COORDINATE_MAX),
	 .kinds = ROUND | FIT | OF(SPHERE) | OF(BODY) | OF(TOOTH)},
	{NUMBER(tac_scene_shape, minor_radius_m, LENGTH_MIN, COORDINATE_MAX), .kinds = OF(TORUS)},
	{NUMBER(tac_scene_shape, height_m, LENGTH_MIN, COORDINATE_MAX),
	 .kinds = OF(CYLINDER) | OF(CONE) | OF(CAPSULE) | OF(PEG) | OF(GROOVE)},
	{NUMBER(tac_scene_shape, chamfer_m, 0, COORDINATE_MAX), .kinds = OF(PEG)},
	{NUMBER(tac_scene_shape, clearance_m, LENGTH_MIN, COORDINATE_MAX), .kinds = OF(BLOCK)},
	{NUMBER(tac_scene_shape, bump_m, 0, COORDINATE_MAX), .kinds = OF(BODY) | OF(TOOTH)},
	{INTEGER(tac_scene_shape, segments, 1, 1024), .kinds = ROUND | FIT | OF(SOLIDS) | OF(BOX)},
	{INTEGER(tac_scene_shape, rings, 1, 1024), .kinds = ROUND | FIT},
	{INTEGER(tac_scene_shape, subdivisions, 0, 7), .kinds = OF(SPHERE) | OF(BODY) | OF(TOOTH)},
	{INTEGER(tac_scene_shape, seed, 0, 1e9), .kinds = OF(BODY)},
	{CHOICE(tac_scene_shape, machine, machines), .kinds = OF(ASSEMBLY)},
	{INTEGER(tac_scene_shape, part, 0, TAC_ASSEMBLY_PARTS - 1), .kinds = OF(ASSEMBLY)},
	{VECTOR(tac_scene_shape, position_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_shape, rotation_rad, -TURN_MAX, TURN_MAX)},
	{0},
};

static void fill_shape(void *out)
{
	*(tac_scene_shape *)out = (tac_scene_shape){
		.scale = 1,
		.size_m = {0.1, 0.1, 0.1},
		.radius_m = 0.01,
		.minor_radius_m = 0.003,
		.height_m = 0.02,
		.clearance_m = 1e-4,
		.bump_m = 0.002,
		.segments = 32,
		.rings = 4,
		.subdivisions = 3,
	};
}

static const tac_scene_group shape_group = {"a shape", shape_keys, sizeof(tac_scene_shape), fill_shape};

// ---- paths ----

static void fill_point(void *out)
{
	*(tac_scene_point *)out = (tac_scene_point){0};
}

static const tac_scene_key path_keys[] = {
	{NUMBER(tac_scene_point, time_s, 0, 1e6), .required = true},
	{VECTOR(tac_scene_point, position_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_point, rotation_rad, -TURN_MAX, TURN_MAX)},
	{0},
};

static const tac_scene_key hand_keys[] = {
	{NUMBER(tac_scene_point, time_s, 0, 1e6), .required = true},
	{VECTOR(tac_scene_point, position_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_point, rotation_rad, -TURN_MAX, TURN_MAX)},
	{INTEGER(tac_scene_point, buttons, 0, 4294967295.0)},
	{NUMBER(tac_scene_point, gripper_m, 0, 1)},
	{0},
};

static const tac_scene_group path_group = {"a point of a path", path_keys, sizeof(tac_scene_point),
					   fill_point};
static const tac_scene_group hand_group = {"a point of a hand", hand_keys, sizeof(tac_scene_point),
					   fill_point};

// ---- objects ----

static const tac_scene_key surface_keys[] = {
	{TEXT(tac_scene_surface, name), .required = true},
	{TEXT(tac_scene_surface, material), .required = true},
	{0},
};

static void fill_surface(void *out)
{
	*(tac_scene_surface *)out = (tac_scene_surface){0};
}

static const tac_scene_group surface_group = {"a surface", surface_keys, sizeof(tac_scene_surface),
					      fill_surface};

static const tac_scene_key layer_keys[] = {
	{TEXT(tac_scene_layer, material), .required = true},
	{NUMBER(tac_scene_layer, thickness_m, 1e-5, 1), .required = true},
	{0},
};

static void fill_layer(void *out)
{
	*(tac_scene_layer *)out = (tac_scene_layer){0};
}

static const tac_scene_group layer_group = {"a layer", layer_keys, sizeof(tac_scene_layer), fill_layer};

static const tac_scene_key layers_keys[] = {
	{VECTOR(tac_scene_layers, normal, -1e3, 1e3)},
	{LIST(tac_scene_layers, list, list_count, 0, TAC_SCENE_LAYERS, layer_group)},
	{0},
};

static void fill_layers(void *out)
{
	tac_scene_layers *layers = out;
	memset(layers, 0, sizeof *layers); // with the padding, which the writer compares
	layers->normal = tac_dvec3_make(0, 0, 1);
}

static const tac_scene_group layers_group = {"layers", layers_keys, sizeof(tac_scene_layers), fill_layers};

static const tac_scene_key structure_keys[] = {
	{TEXT(tac_scene_structure, name), .required = true},
	{TEXT(tac_scene_structure, solids)},
	{LIST(tac_scene_structure, shapes, shape_count, 0, TAC_SCENE_STRUCTURE_SHAPES, shape_group)},
	{NUMBER(tac_scene_structure, warn_m, 0, 1)},
	{0},
};

static void fill_structure(void *out)
{
	memset(out, 0, sizeof(tac_scene_structure));
}

static const tac_scene_group structure_group = {"a protected structure", structure_keys,
						sizeof(tac_scene_structure), fill_structure};

static const tac_scene_key inside_keys[] = {
	{TEXT(tac_scene_inside, material), .required = true},
	{NUMBER(tac_scene_inside, depth_m, 0, COORDINATE_MAX)},
	{TEXT(tac_scene_inside, solids)},
	{FLAG(tac_scene_inside, target)},
	{0},
};

static void fill_inside(void *out)
{
	memset(out, 0, sizeof(tac_scene_inside));
}

static const tac_scene_group inside_group = {"a material inside", inside_keys, sizeof(tac_scene_inside),
					     fill_inside};

static const tac_scene_key drillable_keys[] = {
	{NUMBER(tac_scene_drillable, voxel_m, LENGTH_MIN, 1), .required = true},
	{TEXT(tac_scene_drillable, material)},
	{LIST(tac_scene_drillable, inside, inside_count, 0, TAC_SCENE_INSIDE, inside_group)},
	{0},
};

static void fill_drillable(void *out)
{
	memset(out, 0, sizeof(tac_scene_drillable));
}

static const tac_scene_group drillable_group = {"a body that is drilled", drillable_keys,
						sizeof(tac_scene_drillable), fill_drillable};

static const tac_scene_key fixed_keys[] = {
	{NUMBER(tac_scene_fixed, below_z_m, -COORDINATE_MAX, COORDINATE_MAX), .required = true},
	{0},
};

static void fill_fixed(void *out)
{
	*(tac_scene_fixed *)out = (tac_scene_fixed){0};
}

static const tac_scene_group fixed_group = {"where tissue is held", fixed_keys, sizeof(tac_scene_fixed),
					    fill_fixed};

static const tac_scene_key enclosed_keys[] = {
	{TEXT(tac_scene_enclosed, name), .required = true},
	{TEXT(tac_scene_enclosed, solids), .required = true},
	{TEXT(tac_scene_enclosed, material), .required = true},
	{0},
};

static void fill_enclosed(void *out)
{
	memset(out, 0, sizeof(tac_scene_enclosed));
}

static const tac_scene_group enclosed_group = {"what is inside of tissue", enclosed_keys,
					       sizeof(tac_scene_enclosed), fill_enclosed};

static const tac_scene_key tissue_keys[] = {
	{NUMBER(tac_scene_tissue, spacing_m, 1e-4, 1), .required = true},
	{LIST(tac_scene_tissue, fixed, fixed_count, 0, TAC_SCENE_FIXED, fixed_group), .required = true},
	{LIST(tac_scene_tissue, inside, inside_count, 0, TAC_SCENE_INSIDE, enclosed_group)},
	{0},
};

static void fill_tissue(void *out)
{
	memset(out, 0, sizeof(tac_scene_tissue));
}

static const tac_scene_group tissue_group = {"tissue", tissue_keys, sizeof(tac_scene_tissue), fill_tissue};

static const tac_scene_key object_keys[] = {
	{TEXT(tac_scene_object, name), .required = true},
	{LIST(tac_scene_object, shapes, shape_count, 1, TAC_SCENE_SHAPES, shape_group), .required = true},
	{VECTOR(tac_scene_object, position_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_object, rotation_rad, -TURN_MAX, TURN_MAX)},
	{TEXT(tac_scene_object, material)},
	{LIST(tac_scene_object, surfaces, surface_count, 0, TAC_SCENE_SURFACES, surface_group)},
	{LIST(tac_scene_object, path, path_count, 0, TAC_SCENE_PATH, path_group)},
	{MAP(tac_scene_object, layers, layers_group)},
	{LIST(tac_scene_object, protect, protect_count, 0, TAC_SCENE_PROTECTED, structure_group)},
	{MAP(tac_scene_object, drillable, drillable_group)},
	{MAP(tac_scene_object, tissue, tissue_group)},
	{FLAG(tac_scene_object, hidden)},
	{0},
};

static void fill_object(void *out)
{
	tac_scene_object *object = out;
	memset(object, 0, sizeof *object);
	fill_layers(&object->layers);
}

static const tac_scene_group object_group = {"an object", object_keys, sizeof(tac_scene_object), fill_object};

// ---- tools ----

static const tac_scene_key mapping_keys[] = {
	{NUMBER(tac_scene_mapping, workspace_scale, 1e-3, 1e3)},
	{VECTOR(tac_scene_mapping, position_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_mapping, rotation_rad, -TURN_MAX, TURN_MAX)},
	{INTEGER(tac_scene_mapping, clutch_button, -1, 31)},
	{0},
};

static void fill_mapping(void *out)
{
	*(tac_scene_mapping *)out = (tac_scene_mapping){.workspace_scale = 1, .clutch_button = -1};
}

static const tac_scene_group mapping_group = {"a mapping", mapping_keys, sizeof(tac_scene_mapping),
					      fill_mapping};

// 0 stands for the device's own limit, but would read as no force at all: in a file the key is left out
// instead.
#define LIMIT_MIN 1e-6

static const tac_scene_key limits_keys[] = {
	{NUMBER(tac_scene_limits, max_force_N, LIMIT_MIN, 1e3)},
	{NUMBER(tac_scene_limits, max_torque_Nm, LIMIT_MIN, 1e3)},
	{NUMBER(tac_scene_limits, max_speed_m_per_s, LIMIT_MIN, 1e3)},
	{NUMBER(tac_scene_limits, max_stiffness_N_per_m, LIMIT_MIN, 1e6)},
	{NUMBER(tac_scene_limits, slew_m_per_s, LIMIT_MIN, 1e3)},
	{NUMBER(tac_scene_limits, engage_s, 0, 60)},
	{INTEGER(tac_scene_limits, deadman_button, -1, 31)},
	{0},
};

static void fill_limits(void *out)
{
	*(tac_scene_limits *)out = (tac_scene_limits){.deadman_button = -1};
}

static const tac_scene_group limits_group = {"limits", limits_keys, sizeof(tac_scene_limits), fill_limits};

static const tac_scene_key gripper_keys[] = {
	{NUMBER(tac_scene_gripper, rest_m, 0, 1), .required = true},
	{NUMBER(tac_scene_gripper, stiffness_N_per_m, 0, 5e3), .required = true},
	{NUMBER(tac_scene_gripper, damping_N_s_per_m, 0, 100)},
	{0},
};

static void fill_gripper(void *out)
{
	*(tac_scene_gripper *)out = (tac_scene_gripper){0};
}

static const tac_scene_group gripper_group = {"a gripper", gripper_keys, sizeof(tac_scene_gripper),
					      fill_gripper};

static const tac_scene_key needle_keys[] = {
	{NUMBER(tac_scene_needle, radius_m, 1e-5, 0.01), .required = true},
	{NUMBER(tac_scene_needle, length_m, 1e-3, 1), .required = true},
	{NUMBER(tac_scene_needle, bending_stiffness_Nm2, 0, 1e3)},
	{NUMBER(tac_scene_needle, curvature_per_m, -100, 100)},
	{NUMBER(tac_scene_needle, stiffness_N_per_m, 1, 1e6)},
	{0},
};

static void fill_needle(void *out)
{
	*(tac_scene_needle *)out = (tac_scene_needle){.stiffness_N_per_m = 1500};
}

static const tac_scene_group needle_group = {"a needle", needle_keys, sizeof(tac_scene_needle), fill_needle};

static const tac_scene_key drill_keys[] = {
	{NUMBER(tac_scene_drill, radius_m, LENGTH_MIN, 1), .required = true},
	{NUMBER(tac_scene_drill, length_m, LENGTH_MIN, 1)},
	{NUMBER(tac_scene_drill, speed_rpm, 1, 1e6)},
	{NUMBER(tac_scene_drill, power_W, 1e-3, 1e4)},
	{NUMBER(tac_scene_drill, thrust_ratio, 0.01, 100)},
	{NUMBER(tac_scene_drill, vibration_N, 0, 1)},
	{INTEGER(tac_scene_drill, button, -1, 31)},
	{0},
};

static void fill_drill(void *out)
{
	*(tac_scene_drill *)out = (tac_scene_drill){
		.speed_rpm = 60000, .power_W = 8, .thrust_ratio = 3, .vibration_N = 0.1, .button = -1};
}

static const tac_scene_group drill_group = {"a drill", drill_keys, sizeof(tac_scene_drill), fill_drill};

static const char *const laws[] = {
	[TAC_COUPLING_FULL] = "full", [TAC_COUPLING_CONSTRAINT] = "constraint", NULL};

static const tac_scene_key tool_keys[] = {
	{TEXT(tac_scene_tool, name), .required = true},
	{LIST(tac_scene_tool, shapes, shape_count, 0, TAC_SCENE_SHAPES, shape_group)}, // see check_tools
	{MAP(tac_scene_tool, needle, needle_group)},
	{TEXT(tac_scene_tool, device)},
	{MAP(tac_scene_tool, mapping, mapping_group)},
	{INTEGER(tac_scene_tool, axes, 3, 6)},
	{NUMBER(tac_scene_tool, turn_arm_m, 1e-4, 10)},
	{NUMBER(tac_scene_tool, damping_N_s_per_m, 0, 1e3)},
	{CHOICE(tac_scene_tool, law, laws)},
	{MAP(tac_scene_tool, limits, limits_group)},
	{MAP(tac_scene_tool, gripper, gripper_group)},
	{MAP(tac_scene_tool, drill, drill_group)},
	{TEXT(tac_scene_tool, grip)},
	{LIST(tac_scene_tool, hand, hand_count, 0, TAC_SCENE_PATH, hand_group)},
	{0},
};

static void fill_tool(void *out)
{
	tac_scene_tool *tool = out;
	memset(tool, 0, sizeof *tool);
	memcpy(tool->device, "sim:six", 8);
	memcpy(tool->grip, "stylus", 7);
	tool->axes = 6;
	tool->turn_arm_m = 0.03;
	tool->law = TAC_COUPLING_CONSTRAINT;
	fill_mapping(&tool->mapping);
	fill_limits(&tool->limits);
	fill_needle(&tool->needle);
	fill_drill(&tool->drill);
}

static const tac_scene_group tool_group = {"a tool", tool_keys, sizeof(tac_scene_tool), fill_tool};

// ---- effects ----

static const char *const effect_kinds[] = {
	[TAC_EFFECT_CONSTANT] = "constant", [TAC_EFFECT_GRAVITY] = "gravity",
	[TAC_EFFECT_POINT] = "point",       [TAC_EFFECT_LINE] = "line",
	[TAC_EFFECT_PLANE] = "plane",       [TAC_EFFECT_VISCOUS] = "viscous",
	[TAC_EFFECT_MAGNET] = "magnet",     [TAC_EFFECT_VIBRATION] = "vibration",
	[TAC_EFFECT_KIND_COUNT] = NULL};
static const char *const effect_sides[] = {
	[TAC_EFFECT_BOTH] = "both", [TAC_EFFECT_INSIDE] = "inside", [TAC_EFFECT_OUTSIDE] = "outside", NULL};
static const char *const effect_regions[] = {[TAC_EFFECT_EVERYWHERE] = "everywhere",
					     [TAC_EFFECT_BALL] = "ball",
					     [TAC_EFFECT_HALF_SPACE] = "half_space",
					     NULL};

#define EFFECT(kind)  (1u << TAC_EFFECT_##kind)
#define SPRINGS       (EFFECT(POINT) | EFFECT(LINE) | EFFECT(PLANE))
#define REGIONS       (EFFECT(CONSTANT) | EFFECT(GRAVITY) | EFFECT(VISCOUS) | EFFECT(VIBRATION))
#define FORCE_MAX     1e3
#define STIFFNESS_MAX 1e6
#define TIME_MIN      1e-3

static const tac_scene_key effect_keys[] = {
	{CHOICE(tac_effect, kind, effect_kinds), .required = true},
	{TEXT(tac_effect, name), .required = true},
	{TEXT(tac_effect, tool)},
	{FLAG(tac_effect, enabled)},
	{VECTOR(tac_effect, tool_point_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_effect, position_m, -COORDINATE_MAX, COORDINATE_MAX),
	 .kinds = SPRINGS | REGIONS | EFFECT(MAGNET)},
	{VECTOR(tac_effect, direction, -COORDINATE_MAX, COORDINATE_MAX),
	 .kinds = REGIONS | EFFECT(LINE) | EFFECT(PLANE)},
	{VECTOR(tac_effect, force_N, -FORCE_MAX, FORCE_MAX), .kinds = EFFECT(CONSTANT)},
	{VECTOR(tac_effect, torque_Nm, -FORCE_MAX, FORCE_MAX), .kinds = EFFECT(CONSTANT)},
	{NUMBER(tac_effect, mass_kg, 0, 100), .kinds = EFFECT(GRAVITY)},
	{VECTOR(tac_effect, gravity_m_per_s2, -100, 100), .kinds = EFFECT(GRAVITY)},
	{NUMBER(tac_effect, stiffness_N_per_m, 0, STIFFNESS_MAX), .kinds = SPRINGS},
	{NUMBER(tac_effect, damping_N_s_per_m, 0, 1e3), .kinds = SPRINGS | EFFECT(VISCOUS)},
	{CHOICE(tac_effect, side, effect_sides), .kinds = SPRINGS},
	{NUMBER(tac_effect, radius_m, 0, COORDINATE_MAX), .kinds = REGIONS | EFFECT(POINT) | EFFECT(LINE)},
	{NUMBER(tac_effect, range_m, 0, COORDINATE_MAX), .kinds = SPRINGS},
	{NUMBER(tac_effect, max_force_N, 0, FORCE_MAX), .kinds = SPRINGS},
	{NUMBER(tac_effect, peak_force_N, 0, FORCE_MAX), .kinds = EFFECT(MAGNET)},
	{NUMBER(tac_effect, core_m, 1e-4, COORDINATE_MAX), .kinds = EFFECT(MAGNET)},
	{CHOICE(tac_effect, region, effect_regions), .kinds = REGIONS},
	{NUMBER(tac_effect, border_m, 1e-4, COORDINATE_MAX), .kinds = REGIONS},
	{NUMBER(tac_effect, amplitude_N, 0, FORCE_MAX), .kinds = EFFECT(VIBRATION)},
	{NUMBER(tac_effect, frequency_Hz, 0, 1e4), .kinds = EFFECT(VIBRATION)},
	{NUMBER(tac_effect, attack_s, TIME_MIN, 60), .kinds = EFFECT(VIBRATION)},
	{NUMBER(tac_effect, hold_s, 0, 3600), .kinds = EFFECT(VIBRATION)},
	{NUMBER(tac_effect, release_s, TIME_MIN, 60), .kinds = EFFECT(VIBRATION)},
	{0},
};

static void fill_effect(void *out)
{
	memset(out, 0, sizeof(tac_effect));
	tac_effect *e = out;
	e->enabled = true;
	e->direction = tac_dvec3_make(0, 0, 1);
	e->mass_kg = 0.1;
	e->gravity_m_per_s2 = tac_dvec3_make(0, 0, -9.81);
	e->stiffness_N_per_m = 500;
	e->peak_force_N = 1;
	e->core_m = 0.01;
	e->border_m = 0.005;
	e->amplitude_N = 0.5;
	e->frequency_Hz = 100;
	e->attack_s = e->release_s = 0.01;
}

static const tac_scene_group effect_group = {"an effect", effect_keys, sizeof(tac_effect), fill_effect};

const tac_scene_group *tac_scene_effect_group(void)
{
	return &effect_group;
}

tac_effect tac_effect_default(tac_effect_kind kind)
{
	tac_effect effect;
	fill_effect(&effect);
	effect.kind = (int)kind;
	return effect;
}

const char *tac_effect_kind_name(tac_effect_kind kind)
{
	return kind >= 0 && kind < TAC_EFFECT_KIND_COUNT ? effect_kinds[kind] : "unknown kind";
}

// ---- task ----

static const tac_scene_key task_limits_keys[] = {
	{NUMBER(tac_scene_task_limits, max_force_N, LIMIT_MIN, 1e3)},
	{NUMBER(tac_scene_task_limits, time_s, LIMIT_MIN, 1e6)},
	{NUMBER(tac_scene_task_limits, path_m, LIMIT_MIN, 1e6)},
	{0},
};

static void fill_task_limits(void *out)
{
	*(tac_scene_task_limits *)out = (tac_scene_task_limits){0};
}

static const tac_scene_group task_limits_group = {"limits", task_limits_keys, sizeof(tac_scene_task_limits),
						  fill_task_limits};

static const tac_scene_key task_keys[] = {
	{MAP(tac_scene_task, limits, task_limits_group)},
	{TEXT(tac_scene_task, target)},
	{TEXT(tac_scene_task, target_layer)},
	{NUMBER(tac_scene_task, removed, LIMIT_MIN, 1)},
	{VECTOR(tac_scene_task, plan, -1e3, 1e3)},
	{0},
};

static void fill_task(void *out)
{
	*(tac_scene_task *)out = (tac_scene_task){0};
}

static const tac_scene_group task_group = {"a task", task_keys, sizeof(tac_scene_task), fill_task};

// ---- cameras, scene ----

static const tac_scene_key camera_keys[] = {
	{TEXT(tac_scene_camera, name), .required = true},
	{VECTOR(tac_scene_camera, eye_m, -COORDINATE_MAX, COORDINATE_MAX), .required = true},
	{VECTOR(tac_scene_camera, target_m, -COORDINATE_MAX, COORDINATE_MAX)},
	{VECTOR(tac_scene_camera, up, -1, 1)},
	{NUMBER(tac_scene_camera, field_of_view_rad, 0.01, 3)},
	{0},
};

static void fill_camera(void *out)
{
	*(tac_scene_camera *)out = (tac_scene_camera){.up = {0, 0, 1}, .field_of_view_rad = 0.7};
}

static const tac_scene_group camera_group = {"a camera", camera_keys, sizeof(tac_scene_camera), fill_camera};

static const tac_scene_key scene_keys[] = {
	{KEY("scene", TEXT, tac_scene, name), .required = true},
	{LIST(tac_scene, materials, material_count, 0, TAC_SCENE_MATERIALS, material_group)},
	{LIST(tac_scene, tools, tool_count, 1, TAC_SCENE_TOOLS, tool_group), .required = true},
	{LIST(tac_scene, objects, object_count, 0, TAC_SCENE_OBJECTS, object_group)},
	{LIST(tac_scene, effects, effect_count, 0, TAC_EFFECT_COUNT, effect_group)},
	{MAP(tac_scene, task, task_group)},
	{LIST(tac_scene, cameras, camera_count, 0, TAC_SCENE_CAMERAS, camera_group)},
	{NUMBER(tac_scene, detail_m, 0, 1e-3)},
	{0},
};

static void fill_scene(void *out)
{
	memset(out, 0, sizeof(tac_scene));
	((tac_scene *)out)->detail_m = TAC_SCENE_DETAIL_M;
}

static const tac_scene_group scene_group = {"a scene", scene_keys, sizeof(tac_scene), fill_scene};

const tac_scene_group *tac_scene_root(void)
{
	return &scene_group;
}

bool tac_scene_key_applies(const tac_scene_key *key, const void *base)
{
	// The kind is the first member of every struct that has one.
	return key->kinds == 0 || (key->kinds >> *(const int *)base & 1u);
}

const tac_scene_group *tac_scene_material_group(void)
{
	return &material_group;
}

// ---- materials and effects as numbers ----

static void pack(const tac_scene_key *keys, const void *base, double *out)
{
	for (const tac_scene_key *key = keys; key->name; key++) {
		const void *field = (const char *)base + key->offset;
		if (!tac_scene_key_applies(key, base))
			continue;
		if (key->kind == TAC_KEY_NUMBER)
			*out++ = *(const double *)field;
		else if (key->kind == TAC_KEY_INTEGER)
			*out++ = (double)*(const int64_t *)field;
		else if (key->kind == TAC_KEY_CHOICE)
			*out++ = *(const int *)field;
		else if (key->kind == TAC_KEY_FLAG)
			*out++ = *(const bool *)field;
		else if (key->kind == TAC_KEY_VECTOR) {
			tac_dvec3_store(out, *(const tac_dvec3 *)field);
			out += 3;
		}
	}
}

// The kind, which decides what follows, is the first key.
static void unpack(const tac_scene_key *keys, const double *values, void *base)
{
	for (const tac_scene_key *key = keys; key->name; key++) {
		void *field = (char *)base + key->offset;
		if (!tac_scene_key_applies(key, base))
			continue;
		if (key->kind == TAC_KEY_NUMBER)
			*(double *)field = *values++;
		else if (key->kind == TAC_KEY_INTEGER)
			*(int64_t *)field = (int64_t)*values++;
		else if (key->kind == TAC_KEY_CHOICE)
			*(int *)field = (int)*values++;
		else if (key->kind == TAC_KEY_FLAG)
			*(bool *)field = *values++ != 0;
		else if (key->kind == TAC_KEY_VECTOR) {
			*(tac_dvec3 *)field = tac_dvec3_load(values);
			values += 3;
		}
	}
}

void tac_scene_material_pack(const tac_material *material, double *out_values)
{
	pack(material_keys, material, out_values);
}

void tac_scene_material_unpack(const double *values, tac_material *out_material)
{
	unpack(material_keys, values, out_material);
}

void tac_scene_effect_pack(const tac_effect *effect, double *out_values)
{
	pack(effect_keys, effect, out_values);
}

bool tac_scene_effect_unpack(const double *values, tac_effect *out_effect)
{
	if (!(values[0] >= 0 && values[0] < TAC_EFFECT_KIND_COUNT))
		return false;
	unpack(effect_keys, values, out_effect);
	return true;
}
