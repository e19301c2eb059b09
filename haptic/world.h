// World: a scene as the servo needs it: meshes made or loaded, joined to bodies, prepared for continuous
// collision and for one engine, with a material for every surface. Read-only once built, shared by the servos
// of all tools and by the viewer.
#ifndef TAC_HAPTIC_WORLD_H
#define TAC_HAPTIC_WORLD_H

#include "collision/ccd_body.h"
#include "collision/collider.h"
#include "haptic/scene.h"
#include "haptic/sco.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_world_body {
	const char *name; // of the scene
	tac_mesh *mesh;
	tac_ccd_body *body;
	tac_shape *shape;          // of the world's collider
	int32_t *surface_material; // for each surface of the mesh an index into the world's materials
	// Normals of the corners of each triangle, smooth within a surface; NULL where no material is smooth.
	tac_vec3 *corner_normals;
	tac_dvec3 probes[TAC_SCENE_SHAPES]; // a point of each of its shapes
	int32_t probe_count;
	bool solid;    // encloses a volume: nothing may begin in it
	bool is_round; // a single sphere or capsule: `round` is it, exactly
	tac_sco_round round;
} tac_world_body;

typedef struct tac_world {
	const tac_scene *scene;
	const tac_collider *collider;
	tac_material materials[TAC_SCENE_MATERIALS + 1]; // the last is the default one
	int32_t material_count;
	tac_world_body tools[TAC_SCENE_TOOLS];
	tac_world_body objects[TAC_SCENE_OBJECTS];
	int64_t triangles; // of all bodies
} tac_world;

// Builds everything of `scene`, which outlives the world, for the engine `collider`. TAC_ERROR_IO or
// TAC_ERROR_FORMAT (a mesh file), TAC_ERROR_ARGUMENT (shapes that cannot be, a surface's name that the mesh
// does not have), TAC_ERROR_MEMORY, with one log line. Thread: setup.
tac_result tac_world_build(const tac_scene *scene, const tac_collider *collider, tac_world **out_world);

// Told before each body is built that `step` (from 1) of `steps` begins: the one called `name`.
// Thread: setup.
typedef void tac_world_progress(void *user, int32_t step, int32_t steps, const char *name);

// The same, and tells `progress`, with `user`, how far it is. Thread: setup.
tac_result tac_world_build_told(const tac_scene *scene, const tac_collider *collider,
				tac_world_progress *progress, void *user, tac_world **out_world);

// Nulls the pointer; NULL in it is allowed. Thread: setup.
void tac_world_destroy(tac_world **world);

// Where a path is `time_ns` after the start: on straight lines from point to point, and anew after the last.
// Thread: RT.
tac_dpose tac_world_path_pose(const tac_scene_point *path, int32_t count, int64_t time_ns);

// Where object `object` is `time_ns` after the start.
// Thread: RT.
tac_dpose tac_world_object_pose(const tac_world *world, int32_t object, int64_t time_ns);

// The material of a surface of an object. Thread: RT.
const tac_material *tac_world_material(const tac_world *world, int32_t object, int32_t surface);

// Adds to winding[k] how often triangles `from` … `to` - 1 of the mesh are above points[k], facing up less
// facing down. Over all triangles of a closed mesh that is how often it encloses the point; a point on the
// surface may go either way. Thread: RT.
void tac_world_wind(const tac_world_body *body, int32_t from, int32_t to, const tac_dvec3 *points,
		    int32_t count, int32_t *winding);

// A place on a body, in its frame.
typedef struct tac_world_place {
	int32_t triangle;
	tac_dvec3 flat;   // the triangle's normal
	tac_dvec3 smooth; // that of the smooth surface there; `flat` where the body has none
	double height_m;  // of the point that was asked for above the triangle's plane
} tac_world_place;

// The place of `point_m`: on triangle `triangle` or, of a smooth body, over neighbours of the same surface,
// beside it. Thread: RT.
tac_world_place tac_world_find(const tac_world_body *body, int32_t triangle, tac_dvec3 point_m);

// Makes the mesh of one shape of the scene in its body's frame. The caller owns *out_mesh. As
// tac_world_build. Thread: setup.
tac_result tac_scene_shape_mesh(const tac_scene *scene, const tac_scene_shape *shape, tac_mesh **out_mesh);

#ifdef __cplusplus
}
#endif

#endif
