// Session: a scene and its world, with a device and a servo for each tool, built from command-line options.
// `tactus run`, `tactus render` and `tactus view` share it.
#ifndef TAC_APPS_SESSION_SESSION_H
#define TAC_APPS_SESSION_SESSION_H

#include "apps/session/mesh_scene.h"
#include "apps/session/recorded_commands.h"
#include "devices/device.h"
#include "devices/recorder.h"
#include "haptic/companion.h"
#include "haptic/servo.h"
#include "tissue/surface.h"

#include <stdbool.h>

typedef struct session_def {
	// A built-in scene, a scene file or a mesh file; NULL: that of the recording that is played back, or
	// the first built-in one.
	const char *scene;
	const char *more_meshes[TAC_SCENE_OBJECTS - 1]; // with a mesh file: further objects
	int32_t more_count;
	const char *tool_mesh;                 // with a mesh file: the tool; NULL: a ball
	double mesh_scale;                     // with a mesh file: metres per unit; 0: its size decides
	double mesh_scales[TAC_SCENE_OBJECTS]; // the same of each of the objects; 0: mesh_scale
	double tool_scale;                     // the same of the tool
	const char *devices[TAC_SCENE_TOOLS];  // NULL: the scene's
	const char *collider;                  // NULL: wide
	int mover;                             // a tac_sco_mover
	int32_t readers;                       // of snapshots, besides the companions
	bool companions;      // start one for each tool, and a surface for a body that is drilled
	int64_t period_ns;    // of the loop; 0: 1 kHz
	const char *firmware; // of a Falcon; NULL: the driver's default
	const char *record;   // recording of the first tool's device, the second's is FILE.2; NULL: none
	uint32_t events;      // of a servo that may wait (tac_servo_def.events)
	tac_effect_callback callbacks[TAC_SCENE_TOOLS]; // a force of one's own for each tool
	bool any_scene;                                 // play back recordings of another scene or run, too
} session_def;

typedef struct session {
	tac_scene *scene;
	char note[MESH_SCENE_NOTE]; // about the scene's size and scale; empty: none
	tac_world *world;
	int32_t count; // of tools
	tac_device *devices[TAC_SCENE_TOOLS];
	tac_servo *servos[TAC_SCENE_TOOLS];
	tac_companion *companions[TAC_SCENE_TOOLS]; // NULL: not asked for
	tac_surface *surface; // of the body that is drilled; NULL: none, or not asked for
	tac_recorder *recorders[TAC_SCENE_TOOLS];
	tac_recording recorded;     // header and scene of the first recording that is played back
	const char *recorded_file;  // NULL: none
	recorded_commands commands; // of that recording
	bool incomplete;            // a recording that is played back is damaged or unfinished
} session;

// The values of --mover in the order of tac_sco_mover, ended by NULL, and its help text.
extern const char *const session_movers[];
extern const char session_mover_help[];
extern const char session_any_scene_help[]; // of --any-scene

// Loads the scene that `def` names. `out_note` as in session.note. Returns an exit code: 0, or 2 after one
// line.
int session_scene(const session_def *def, char out_note[MESH_SCENE_NOTE], tac_scene **out_scene);

// The collider of that name; a `name` of NULL means wide. Returns NULL after one line that lists the names.
const tac_collider *session_collider(const char *command, const char *name);

// Opens scene and world, then devices and servos unless `bare`. Returns an exit code: 0, or 1 or 2 after one
// line. Call session_close in either case.
int session_open(const session_def *def, const char *command, bool bare, session *out_session);

// Frees everything. False: a recording, written or played back, is incomplete; one line said so.
bool session_close(session *s);

// Whether a scene asks for figures of what was done: it has a task, a needle, a protected structure or
// something inside of tissue.
bool session_has_task(const tac_scene *scene);

// What surrounds tool i; NULL: not known.
// Thread: one.
const tac_surroundings *session_surroundings(session *s, int32_t i);

// One tick of all tools. `tick` may be NULL.
// Thread: RT.
void session_step(session *s, int64_t now_ns, tac_tick *tick);

#endif
