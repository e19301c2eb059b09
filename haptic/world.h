// World: a scene prepared for the servo: meshes loaded or generated, joined to bodies, prepared for
// continuous collision and for one engine, with a material for every surface. Read-only once built; the
// servos of all tools and the viewer share it.
#ifndef TAC_HAPTIC_WORLD_H
#define TAC_HAPTIC_WORLD_H

#include "base/api.h"
#include "collision/body.h"
#include "collision/collider.h"
#include "collision/mesh_smooth.h"
#include "collision/round.h"
#include "haptic/scene.h"
#include "tissue/clearance.h"
#include "tissue/compliance.h"
#include "tissue/field.h"

#ifdef __cplusplus
extern "C" {
#endif

// A protected structure of an object that is given by shapes; all NULL: by solids.
typedef struct tac_world_structure {
	tac_mesh *mesh; // in the object's frame
	tac_clearance *clearance;
} tac_world_structure;

typedef struct tac_world_body {
	const char *name; // of the scene
	tac_mesh *mesh;
	tac_body *body;
	tac_body *detail;                   // the body simplified, for tools that are meshes; NULL: it is not
	tac_shape *shape;                   // of the world's collider
	int32_t *surface_material;          // index into the world's materials, for each surface of the mesh
	tac_mesh_smooth *smooth;            // NULL: no material is smooth
	tac_dvec3 probes[TAC_SCENE_SHAPES]; // a point on each of its shapes
	int32_t probe_count;
	bool solid;      // encloses a volume: no tool may begin inside
	bool is_round;   // a tool that is a single sphere or capsule, of kind sphere, capsule or solids
	tac_round round; // its exact shape
	// What is drilled, as it is at the start, and the materials of its labels; NULL: the body is not
	// drilled. Label 0 is the body's own material, 1 + i that of inside[i] of the scene.
	tac_field *field;
	int32_t field_material[TAC_FIELD_LABELS];
	tac_compliance *compliance; // of a body that yields; NULL: it is rigid
	tac_world_structure structures[TAC_SCENE_PROTECTED];
} tac_world_body;

typedef struct tac_world {
	const tac_scene *scene;
	const tac_collider *collider;
	tac_material materials[TAC_SCENE_MATERIALS + 1]; // the last is the default material
	int32_t material_count;
	tac_world_body tools[TAC_SCENE_TOOLS];
	tac_world_body objects[TAC_SCENE_OBJECTS];
	int64_t triangles; // of all bodies
	int64_t saved;     // of these, how many fewer the simplified bodies have
	double detail_m;   // how far the simplified bodies are from their meshes at most; 0: there are none
} tac_world;

// Smaller bodies are not simplified. They are fast enough as they are, and their facets may be meant.
#define TAC_WORLD_DETAIL_TRIANGLES 20000
// Nor are larger ones: it takes about 20 µs for each triangle.
#define TAC_WORLD_DETAIL_MOST 500000

// About how many triangles the generated shapes of `scene` have: building takes some µs for each. Mesh files
// do not count.
// Thread: any.
TAC_API int64_t tac_scene_triangles(const tac_scene *scene);

// Builds the world of `scene` for the engine `collider`. The scene outlives the world. TAC_ERROR_IO or
// TAC_ERROR_FORMAT (a mesh file), TAC_ERROR_ARGUMENT (no scene or collider, what tac_scene_check refuses,
// invalid parameters of a shape, unknown name of a surface, an engine without TAC_COLLIDER_TRIANGLES) or
// TAC_ERROR_MEMORY, with one log line; *out_world is NULL then. The caller owns *out_world.
// Thread: setup.
TAC_API tac_result tac_world_build(const tac_scene *scene, const tac_collider *collider,
				   tac_world **out_world);

// Called before each body is built: number `step` of `steps`, counted from 1, called `name`.
// Thread: setup.
typedef void tac_world_progress(void *user, int32_t step, int32_t steps, const char *name);

// Like tac_world_build, and reports each step to `progress`, which is called with `user`.
// Thread: setup.
TAC_API tac_result tac_world_build_with_progress(const tac_scene *scene, const tac_collider *collider,
						 tac_world_progress *progress, void *user,
						 tac_world **out_world);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
TAC_API void tac_world_destroy(tac_world **world);

// A hash of the mesh of body number `index` of those with mesh files, tools before objects before protected
// structures, and its name (may be NULL): whether a file has changed since a recording was made
// (docs/recording.md). False after the last. Thread: setup.
TAC_API bool tac_world_file_hash(const tac_world *world, uint32_t index, uint64_t *out_hash,
				 const char **out_name);

// The pose on a path `time_ns` after the start. The path is interpolated between its points and repeats after
// the last.
// Thread: RT.
TAC_API tac_dpose tac_world_path_pose(const tac_scene_point *path, int32_t count, int64_t time_ns);

// The pose of object `object` `time_ns` after the start.
// Thread: RT.
TAC_API tac_dpose tac_world_object_pose(const tac_world *world, int32_t object, int64_t time_ns);

// The material of a surface of an object; the default material for the tool of another hand. For a body that
// is drilled, `surface` is a label of its field.
// Thread: RT.
TAC_API const tac_material *tac_world_material(const tac_world *world, int32_t object, int32_t surface);

// The number of the first surface of an object with that name, behind number `after`; -1 as `after`: of all.
// Parts of a body may share a name. -1: none has it.
// Thread: any.
TAC_API int32_t tac_world_find_surface(const tac_world *world, int32_t object, const char *name,
				       int32_t after);

// Whether the mover lets a tool pass through an object: a needle through what has layers, any tool into what
// yields. What they meet there is the servo's task. Thread: any.
TAC_API bool tac_world_passes(const tac_world *world, int32_t tool, int32_t object);

#ifdef __cplusplus
}
#endif

#endif
