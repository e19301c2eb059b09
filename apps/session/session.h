// Session: a scene, its world, a device and a servo for each tool, as the command line asks for them: what
// `tactus run`, `tactus render` and the viewer have in common.
#ifndef TAC_APPS_SESSION_H
#define TAC_APPS_SESSION_H

#include "devices/device.h"
#include "devices/recorder.h"
#include "haptic/servo.h"

#include <stdbool.h>

typedef struct session_def {
	const char *scene; // a built-in scene, a scene file or a mesh file; NULL: the first built-in one
	const char *devices[TAC_SCENE_TOOLS]; // NULL: the scene's
	const char *collider;                 // NULL: wide
	int mover;                            // a tac_sco_mover
	double seconds;                       // that a scripted hand has to last
	int32_t readers;                      // of snapshots
	int64_t period_ns;                    // of the loop; 0: 1 kHz
	int64_t budget_ns;                    // of all tools together, as tac_servo_def
	const char *firmware;                 // of a Falcon; NULL: where the driver looks for it
	const char *record; // file to record the first tool's device to, the second's to FILE.2; NULL: none
} session_def;

typedef struct session {
	tac_scene *scene;
	tac_world *world;
	int32_t count; // tools
	tac_device *devices[TAC_SCENE_TOOLS];
	tac_servo *servos[TAC_SCENE_TOOLS];
	tac_recorder *recorders[TAC_SCENE_TOOLS];
} session;

// The scene that `name` means. An exit code: 0, or 2 after one line.
int session_scene(const char *name, tac_scene **out_scene);

// The engine of that name, NULL means wide. NULL after one line that lists those there are.
const tac_collider *session_collider(const char *command, const char *name);

// Scene and world; devices and servos as well unless `bare`. An exit code: 0, 1, or 2 after one line. What
// was opened is in *out_session either way.
int session_open(const session_def *def, const char *command, bool bare, session *out_session);
// False: a recording is not complete, which was said.
bool session_close(session *s);

// One tick of all tools. `tick` may be NULL.
// Thread: RT.
void session_step(session *s, int64_t now_ns, tac_tick *tick);

#endif
