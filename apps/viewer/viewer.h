// Viewer: a window on a running or replayed scene. It lives on the visual thread (the one that called
// viewer_open, which on some systems must be the process's first), takes snapshots from whoever has them,
// and shows the scene at the display's rate: the tool (SCO) solid, the device's ghost where it is held back,
// contacts with their normals, the force, the names of the surfaces that touch, and how the loop fares.
//
// Poses are interpolated between the last two snapshots for the instant of the display, one frame back, and
// never extrapolated: the picture must not show a penetration that never was. Nothing here touches the loop:
// a snapshot is a copy, read wait-free from a triple buffer.
#ifndef TAC_APPS_VIEWER_H
#define TAC_APPS_VIEWER_H

#include "base/result.h"
#include "haptic/snapshot.h"
#include "haptic/world.h"
#include "rt/monitor.h"

#include <stdbool.h>

typedef struct viewer viewer;

typedef struct viewer_def {
	const tac_world *world;      // outlives the viewer
	const char *title;           // of the window
	const char *screenshot_path; // PNG of the last picture, written by viewer_close; NULL: none
	int width, height;           // of the window
	int64_t period_ns;           // of the loop
	// Dragging with the left button writes the mouse's events (linux/input.h) to this pipe, for the
	// device `mouse` to read, instead of turning the view. 0: there is none.
	int mouse_fd;
} viewer_def;

// What one picture shows. The pointers stay valid until the next picture or viewer_close.
typedef struct viewer_frame {
	const tac_snapshot *snapshots[TAC_SCENE_TOOLS]; // NULL: the tool has none yet
	const tac_monitor_stats *stats;                 // NULL: none
	const char *device;                             // its name
	int64_t now_ns;                                 // on the snapshots' clock
} viewer_frame;

// Opens the window and uploads the scene. One log line, and *out_viewer NULL, where that cannot be:
// TAC_ERROR_UNSUPPORTED (built without, or no display), TAC_ERROR_SYSTEM (the driver), TAC_ERROR_MEMORY.
// Thread (all of these): the visual one, unless said otherwise.
tac_result viewer_open(const viewer_def *def, viewer **out_viewer);

// Draws one picture and waits for the display. False: the window has been closed.
bool viewer_show(viewer *v, const viewer_frame *frame);

// Ticks a replay is to advance by itself: -1: it plays; else it is paused, and is to do so many single steps
// now.
int viewer_steps(viewer *v);

// For the plots: each tick, as tac_monitor_def.on_tick gives it. Thread: the monitor's.
void viewer_tick(viewer *v, const tac_tick *tick);

// Writes the screenshot, if one is asked for. TAC_ERROR_IO with a log line where that fails. Nulls the
// pointer; NULL in it is allowed.
tac_result viewer_close(viewer **v);

#endif
