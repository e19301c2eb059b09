#include "share/bridge/ros.h"

#include <idl/ros.h>

#include <stdio.h>
#include <string.h>

#define FRAME       "world"
#define ROS_HISTORY 5

// ROS 2 from Iron on reads the type's hash (REP 2011, RIHS01) from an endpoint's user data.
#define POSE_HASH   "10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"
#define WRENCH_HASH "8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77"
#define JOINT_HASH  "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"

static dds_qos_t *qos_with_hash(const char *hash)
{
	char data[96];
	const int length = snprintf(data, sizeof data, "typehash=RIHS01_%s;", hash);
	dds_qos_t *qos = dds_create_qos();
	dds_qset_userdata(qos, data, (size_t)length);
	const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
	dds_qset_data_representation(qos, 1, &xcdr1);
	return qos;
}

static dds_entity_t open_topic(wire *w, const char *station, int32_t tool, const char *name,
			       const dds_topic_descriptor_t *type)
{
	char path[128];
	if (tool == 0)
		snprintf(path, sizeof path, "rt/%s/%s", station, name);
	else
		snprintf(path, sizeof path, "rt/%s/tool%d/%s", station, (int)tool + 1, name);
	// ROS allows no dash in a name.
	for (char *c = path; *c; c++)
		if (*c == '-')
			*c = '_';
	return wire_topic_of(w, type, path);
}

static dds_entity_t open_writer(wire *w, dds_entity_t topic, const char *hash)
{
	dds_qos_t *qos = qos_with_hash(hash);
	dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, 0);
	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, ROS_HISTORY);
	const dds_entity_t writer = topic < 0 ? topic : dds_create_writer(w->participant, topic, qos, NULL);
	dds_delete_qos(qos);
	return writer;
}

static dds_entity_t open_reader(wire *w, dds_entity_t topic, const char *hash)
{
	dds_qos_t *qos = qos_with_hash(hash);
	dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
	const dds_entity_t reader = topic < 0 ? topic : dds_create_reader(w->participant, topic, qos, NULL);
	dds_delete_qos(qos);
	return reader;
}

bool ros_open(wire *w, const char *station, int32_t tool, bool gripper, ros_tool *out_tool)
{
	const dds_topic_descriptor_t *pose = &geometry_msgs_msg_dds__PoseStamped__desc;
	const dds_topic_descriptor_t *wrench = &geometry_msgs_msg_dds__WrenchStamped__desc;
	const dds_topic_descriptor_t *joints = &sensor_msgs_msg_dds__JointState__desc;
	*out_tool = (ros_tool){0};
	out_tool->pose = open_writer(w, open_topic(w, station, tool, "tool_pose", pose), POSE_HASH);
	out_tool->wrench = open_writer(w, open_topic(w, station, tool, "wrench", wrench), WRENCH_HASH);
	if (gripper)
		out_tool->joints =
			open_writer(w, open_topic(w, station, tool, "joint_states", joints), JOINT_HASH);
	out_tool->external =
		open_reader(w, open_topic(w, station, tool, "external_wrench", wrench), WRENCH_HASH);
	snprintf(out_tool->joint, sizeof out_tool->joint, "%s_gripper", station);
	if (out_tool->pose >= 0 && out_tool->wrench >= 0 && out_tool->joints >= 0 && out_tool->external >= 0)
		return true;
	fprintf(stderr, "tactus share: expected to create the topics of ROS 2, found an error\n");
	return false;
}

void ros_close(ros_tool *tool)
{
	const dds_entity_t entities[] = {tool->pose, tool->wrench, tool->joints, tool->external};
	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
		if (entities[i] <= 0)
			continue;
		const dds_entity_t topic = dds_get_topic(entities[i]);
		dds_delete(entities[i]);
		dds_delete(topic);
	}
	*tool = (ros_tool){0};
}

// ---- messages ----

static std_msgs_msg_dds__Header_ header_at(int64_t time_ns)
{
	static char frame[] = FRAME;
	return (std_msgs_msg_dds__Header_){.stamp = {.sec = (int32_t)(time_ns / 1000000000),
						     .nanosec = (uint32_t)(time_ns % 1000000000)},
					   .frame_id = frame};
}

static geometry_msgs_msg_dds__Vector3_ vector_of(tac_dvec3 v)
{
	return (geometry_msgs_msg_dds__Vector3_){v.x, v.y, v.z};
}

void ros_publish(const ros_tool *tool, const tac_seam_tick *tick, int64_t time_ns)
{
	const tac_dpose *p = &tick->T_world_sco;
	const geometry_msgs_msg_dds__PoseStamped_ pose = {
		.header = header_at(time_ns),
		.pose = {.position = {p->position.x, p->position.y, p->position.z},
			 .orientation = {p->rotation.x, p->rotation.y, p->rotation.z, p->rotation.w}}};
	dds_write(tool->pose, &pose);
	const geometry_msgs_msg_dds__WrenchStamped_ wrench = {
		.header = header_at(time_ns),
		.wrench = {.force = vector_of(tick->sent.force_N),
			   .torque = vector_of(tick->sent.torque_Nm)}};
	dds_write(tool->wrench, &wrench);
	if (tool->joints <= 0)
		return;
	char name[sizeof tool->joint];
	memcpy(name, tool->joint, sizeof name);
	char *names[] = {name};
	double position[] = {tick->gripper_m}, effort[] = {tick->gripper_N};
	const sensor_msgs_msg_dds__JointState_ joints = {.header = header_at(time_ns),
							 .name = {1, 1, names, false},
							 .position = {1, 1, position, false},
							 .effort = {1, 1, effort, false}};
	dds_write(tool->joints, &joints);
}

bool ros_take(const ros_tool *tool, tac_wrench *out_wrench)
{
	void *sample[1] = {NULL};
	dds_sample_info_t info;
	if (tool->external <= 0 || dds_take(tool->external, sample, &info, 1, 1) <= 0)
		return false;
	const bool valid = info.valid_data;
	if (valid) {
		const geometry_msgs_msg_dds__WrenchStamped_ *m = sample[0];
		out_wrench->force_N = tac_dvec3_make(m->wrench.force.x, m->wrench.force.y, m->wrench.force.z);
		out_wrench->torque_Nm =
			tac_dvec3_make(m->wrench.torque.x, m->wrench.torque.y, m->wrench.torque.z);
	}
	dds_return_loan(tool->external, sample, 1);
	return valid;
}
