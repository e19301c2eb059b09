#include "apps/commands/run_csv.h"

#include "base/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ROWS 16384 // 16 s at 1 kHz with one tool; a power of two

typedef struct row {
	int64_t time_ns, tick;
	int32_t tool, contacts;
	tac_dpose T_world_device, T_world_sco;
	tac_wrench sent;
	tac_dvec3 effects_N;
	uint32_t limits, buttons, sco_flags;
	tac_servo_state state;
	tac_device_status status;
	int64_t wake_ns, compute_ns;
	double gripper_m, gripper_N;
	double needle_depth_m, needle_front_m, needle_tip_N, needle_shaft_N;
	int32_t needle_layer, needle_opened;
	tac_sco_outcome sco_outcome, sco_refused;
	double tissue_load_N, tissue_depth_m, tissue_area_m2;
	int32_t tissue_rows, tissue_level;
	uint32_t tissue_flags;
} row;

static bool fail(const run_csv *csv, int error)
{
	fprintf(stderr, "tactus run: %s: cannot write: %s\n", csv->path, strerror(error));
	return false;
}

bool run_csv_open(const char *path, run_csv *out_csv)
{
	*out_csv = (run_csv){.path = path};
	if (!path)
		return true;
	if (tac_ring_create(ROWS, sizeof(row), &out_csv->ring) != TAC_OK)
		return false;
	const int fd = tac_output_open_stream(path);
	if (fd >= 0)
		out_csv->file = fdopen(fd, "w");
	if (!out_csv->file) {
		const int error = errno;
		if (fd >= 0)
			close(fd);
		return fail(out_csv, error);
	}
	fprintf(out_csv->file,
		"t_s,tick,tool,device_x,device_y,device_z,device_qx,device_qy,device_qz,device_qw,"
		"sco_x,sco_y,sco_z,sco_qx,sco_qy,sco_qz,sco_qw,fx,fy,fz,tx,ty,tz,contacts,state,"
		"status,buttons,limits,sco_flags,wake_us,compute_us,gripper_m,gripper_N,"
		"effects_x,effects_y,effects_z,"
		"needle_depth_m,needle_front_m,needle_tip_N,needle_shaft_N,needle_layer,needle_opened,"
		"sco_outcome,sco_refused,"
		"tissue_load_N,tissue_depth_m,tissue_area_m2,tissue_rows,tissue_level,tissue_flags\n");
	return fflush(out_csv->file) == 0 || fail(out_csv, errno);
}

void run_csv_add(run_csv *csv, const tac_snapshot *s, const tac_tick *tick)
{
	if (!csv->ring)
		return;
	const row r = {
		.time_ns = s->time_ns,
		.tick = tick->index,
		.tool = s->tool,
		.contacts = s->contact_count,
		.T_world_device = s->T_world_device,
		.T_world_sco = s->T_world_sco,
		.sent = s->sent,
		.effects_N = s->effects.wrench.force_N,
		.limits = s->limits,
		.buttons = s->buttons,
		.sco_flags = s->sco_flags,
		.state = s->state,
		.status = s->status,
		.wake_ns = tac_tick_wake_ns(tick),
		.compute_ns = s->compute_ns,
		.gripper_m = s->gripper_m,
		.gripper_N = s->gripper_N,
		.needle_depth_m = s->needle.state.depth_m,
		.needle_front_m = s->needle.state.front_m,
		.needle_tip_N = s->needle.state.tip_N,
		.needle_shaft_N = s->needle.state.shaft_N,
		.needle_layer = s->needle.present ? s->needle.state.layer : -1,
		.needle_opened = s->needle.state.opened,
		.sco_outcome = s->sco_outcome,
		.sco_refused = s->sco_refused,
		.tissue_load_N = s->tissue.state.load_N,
		.tissue_depth_m = s->tissue.state.depth_m,
		.tissue_area_m2 = s->tissue.state.area_m2,
		.tissue_rows = s->tissue.state.rows,
		.tissue_level = s->tissue.state.level,
		.tissue_flags = s->tissue.state.flags,
	};
	tac_ring_push(csv->ring, &r); // a refusal is counted by the ring
}

static void write_pose(FILE *file, tac_dpose T)
{
	fprintf(file, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", T.position.x, T.position.y, T.position.z,
		T.rotation.x, T.rotation.y, T.rotation.z, T.rotation.w);
}

static void write_row(run_csv *csv, const row *r)
{
	FILE *file = csv->file;
	if (csv->begin_ns == 0)
		csv->begin_ns = r->time_ns;
	fprintf(file, "%.6f,%lld,%d", (double)(r->time_ns - csv->begin_ns) / 1e9, (long long)r->tick,
		(int)r->tool);
	write_pose(file, r->T_world_device);
	write_pose(file, r->T_world_sco);
	fprintf(file, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%d,%s,%s,%u,%u,%u,%.3f,%.3f,%.9g,%.6g,%.6g,%.6g,%.6g",
		r->sent.force_N.x, r->sent.force_N.y, r->sent.force_N.z, r->sent.torque_Nm.x,
		r->sent.torque_Nm.y, r->sent.torque_Nm.z, (int)r->contacts, tac_servo_state_name(r->state),
		tac_device_status_name(r->status), r->buttons, r->limits, r->sco_flags,
		(double)r->wake_ns / 1e3, (double)r->compute_ns / 1e3, r->gripper_m, r->gripper_N,
		r->effects_N.x, r->effects_N.y, r->effects_N.z);
	fprintf(file, ",%.9g,%.9g,%.6g,%.6g,%d,%d,%s,%s", r->needle_depth_m, r->needle_front_m,
		r->needle_tip_N, r->needle_shaft_N, (int)r->needle_layer, (int)r->needle_opened,
		tac_sco_outcome_name(r->sco_outcome), tac_sco_outcome_name(r->sco_refused));
	fprintf(file, ",%.6g,%.6g,%.6g,%d,%d,%u\n", r->tissue_load_N, r->tissue_depth_m, r->tissue_area_m2,
		(int)r->tissue_rows, (int)r->tissue_level, r->tissue_flags);
}

void run_csv_drain(run_csv *csv)
{
	row r;
	if (!csv->ring || !csv->file)
		return;
	errno = 0;
	while (tac_ring_pop(csv->ring, &r))
		write_row(csv, &r);
	// Whoever follows the file sees whole rows. The first error is reported at the end.
	if ((fflush(csv->file) != 0 || ferror(csv->file)) && csv->error == 0)
		csv->error = errno ? errno : EIO;
}

bool run_csv_close(run_csv *csv)
{
	bool good = true;
	if (csv->file) {
		run_csv_drain(csv);
		if (fclose(csv->file) != 0 && csv->error == 0)
			csv->error = errno;
		if (csv->error != 0)
			good = fail(csv, csv->error);
		const unsigned long long lost = (unsigned long long)tac_ring_refused(csv->ring);
		if (lost > 0) {
			fprintf(stderr, "tactus run: %s: %llu rows are missing: the disk was too slow\n",
				csv->path, lost);
			good = false;
		}
	}
	tac_ring_destroy(&csv->ring);
	csv->file = NULL;
	return good;
}
