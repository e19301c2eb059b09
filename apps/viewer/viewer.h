// Viewer: a window on a running or replayed scene. It lives on the visual thread (the one that called
// viewer_open, which on some systems must be the process's first), takes snapshots from its caller and shows
// the scene at the display's rate: the tool (SCO), a ghost of the device where the two differ, contacts with
// their normals, the force, the names of the surfaces in contact, and the loop's timing.
//
// Poses are interpolated between the last two snapshots, one frame late, and never extrapolated. The viewer
// does not touch the loop: a snapshot is a copy, read wait-free from a triple buffer.
#ifndef TAC_APPS_VIEWER_VIEWER_H
#define TAC_APPS_VIEWER_VIEWER_H

#include "base/result.h"
#include "haptic/companion.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"
#include "rt/monitor.h"
#include "tissue/surface.h"

#include <stdbool.h>

typedef struct viewer viewer;

typedef struct viewer_def {
	const tac_world *world; // outlives the viewer
	// Those that take its place (tac_snapshot_live.world counts them from 1); they outlive the viewer.
	tac_world *const *later_worlds;
	int32_t later_count;
	tac_surface *surface;        // of the world's body that is drilled; NULL: it is shown as at the start
	const char *title;           // of the window
	const char *screenshot_path; // PNG of the last picture, written by viewer_close; NULL: none
	int width, height;           // of the window
	int64_t period_ns;           // of the loop
	// If not 0, dragging with the left button writes mouse events (linux/input.h) to this pipe, which
	// the device `mouse` reads, instead of turning the view.
	int mouse_fd;
} viewer_def;

// The content of one picture. The pointers stay valid until the next picture or viewer_close.
typedef struct viewer_frame {
	const tac_snapshot *snapshots[TAC_SCENE_TOOLS]; // NULL: the tool has none yet
	const tac_surroundings *surroundings;           // of the first tool; NULL: not known
	const tac_monitor_stats *stats;                 // NULL: none
	const char *device;                             // its name
	int64_t now_ns;                                 // on the snapshots' clock
} viewer_frame;

// Opens the window and uploads the scene. On failure *out_viewer is NULL after one log line:
// TAC_ERROR_UNSUPPORTED (built without the viewer, or no display), TAC_ERROR_SYSTEM (the graphics driver),
// TAC_ERROR_MEMORY. Thread (all, unless stated otherwise): the visual one.
tac_result viewer_open(const viewer_def *def, viewer **out_viewer);

// Draws one picture and waits for the display. False: the window has been closed.
bool viewer_show(viewer *v, const viewer_frame *frame);

// For a replay: -1 while it plays; while it is paused, the number of single steps to do now.
int viewer_steps(viewer *v);

// Adds a tick to the plots. Has the purpose of tac_monitor_def.on_tick. Thread: the monitor's.
void viewer_tick(viewer *v, const tac_tick *tick);

// Writes the screenshot if the def has a path for it, and frees the viewer. TAC_ERROR_IO with a log line:
// the screenshot could not be written. Nulls the pointer, which may be NULL already.
tac_result viewer_close(viewer **v);

#endif
