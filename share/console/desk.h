// Desk: what the console knows of the stations, as channels of messages. A channel is one topic of one
// station; the server (server.h) passes its messages on to those who have subscribed to it.
#ifndef TAC_SHARE_CONSOLE_DESK_H
#define TAC_SHARE_CONSOLE_DESK_H

#include "share/bridge/wire.h"
#include "share/console/request.h"

#include <stddef.h>

typedef enum desk_kind {
	DESK_INFO,    // JSON, kept
	DESK_TOTALS,  // JSON, kept
	DESK_FIGURES, // JSON, kept: of all tools
	DESK_SCENE,   // JSON, kept: the bodies as triangles
	DESK_EVENT,   // JSON; the last ones are kept
	DESK_STATE,   // JSON, a message for each tool
	DESK_POSE,    // CDR, geometry_msgs/msg/PoseStamped: the tool
	DESK_WRENCH,  // CDR, geometry_msgs/msg/WrenchStamped: what the hand feels
	DESK_KINDS,
} desk_kind;

#define DESK_STATIONS 64
#define DESK_EVENTS   32 // kept for whoever subscribes later

typedef struct desk_channel {
	const char *topic; // "/anna/state"; valid until the next call
	const char *encoding, *schema_name, *schema, *schema_encoding;
} desk_channel;

// Called for each message. `channel` is station * DESK_KINDS + kind.
typedef void desk_message_fn(void *user, uint32_t channel, int64_t time_ns, const void *bytes, size_t size);

typedef struct desk desk;

// `store`: where a recording service (clients.h) stores files, to say which have arrived; NULL: unknown. NULL
// after one line.
desk *desk_open(const wire_def *def, const char *store, desk_message_fn *on_message, void *user);
void desk_close(desk **d);

// Takes what has arrived. Returns the number of stations, which only grows.
uint32_t desk_poll(desk *d);

// Describes a channel of a known station.
desk_channel desk_describe(desk *d, uint32_t channel);

// Repeats the kept messages of a channel.
void desk_repeat(desk *d, uint32_t channel, desk_message_fn *on_message, void *user);

// Sends a command to its station.
void desk_command(desk *d, const request *command);

#endif
