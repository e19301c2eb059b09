// ROS: a station as topics of ROS 2, on the wire and without ROS: rt/STATION/tool_pose, wrench and
// joint_states (of a gripper), and rt/STATION/external_wrench as input. Names, types and qualities are those
// that ROS 2's middlewares use; docs/share.md lists them.
#ifndef TAC_SHARE_BRIDGE_ROS_H
#define TAC_SHARE_BRIDGE_ROS_H

#include "share/bridge/wire.h"
#include "share/seam.h"

// The topics of one tool. The second tool's are called rt/STATION/tool2/….
typedef struct ros_tool {
	dds_entity_t pose, wrench, joints, external;
	char joint[80];
} ros_tool;

// False after one line. `gripper`: the tool's device has one.
bool ros_open(wire *w, const char *station, int32_t tool, bool gripper, ros_tool *out_tool);
void ros_close(ros_tool *tool);

// Publishes a tick; `time_ns` is CLOCK_REALTIME.
void ros_publish(const ros_tool *tool, const tac_seam_tick *tick, int64_t time_ns);

// Takes the newest external wrench. False: there is none.
bool ros_take(const ros_tool *tool, tac_wrench *out_wrench);

#endif
