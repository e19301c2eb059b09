// A drill on a block without a servo, for the benchmark and the tests: the mover, a spring to the hand, the
// drill. The block's top is z = 0.
#ifndef TAC_BENCH_DRILL_RIG_H
#define TAC_BENCH_DRILL_RIG_H

#include "collision/mesh_shapes.h"
#include "haptic/sco.h"
#include "tissue/drill.h"

#include <math.h>
#include <stdlib.h>

typedef struct drill_rig {
	tac_field *field;
	tac_sco *sco;
	tac_drill drill;
	tac_sco_report report;
	double stiffness_N_per_m, period_s;
	tac_dpose T_world_block; // where the next step moves the block
	tac_dvec3 force_N;       // on the burr, in the block's frame
	int32_t label;
} drill_rig;

typedef struct drill_rig_def {
	double size_m, depth_m; // of the block, width and height
	double voxel_m, radius_m;
	double length_m; // of a cylinder; 0: a ball
	bool turns;      // the tool rotates
	double period_s, stiffness_N_per_m;
	double energy_J_per_m3, rub_N, power_W;
	tac_dvec3 shift_voxels; // of the block against the grid
	int32_t max_bricks;     // of the field's pool; 0: as many as it needs
	int64_t work_units;     // of the mover in a tick
} drill_rig_def;

static inline drill_rig_def drill_rig_def_default(void)
{
	return (drill_rig_def){
		.size_m = 0.012,
		.depth_m = 0.008,
		.voxel_m = 1e-4,
		.radius_m = 1e-3,
		.period_s = 1e-3,
		.stiffness_N_per_m = 1000,
		.energy_J_per_m3 = 60e6,
		.rub_N = 0.05,
		.power_W = 8,
		.shift_voxels = {0.37, 0.61, 0.17},
		.work_units = 1500,
	};
}

#define DRILL_RIG_OMEGA (60000.0 * 2 * 3.14159265358979323846 / 60)
#define DRILL_RIG_KAPPA 3.0

// The block's mesh with its top at z = 0 and a corner that is off the grid, because the grid begins at the
// mesh's box: a small cube beside it moves the box.
static inline tac_mesh *drill_rig_mesh(const drill_rig_def *def)
{
	const double s = 0.5 * def->size_m, low = -def->depth_m, h = def->voxel_m;
	const tac_dvec3 far =
		tac_dvec3_make(-s - 8 * h - def->shift_voxels.x * h, -s - 8 * h - def->shift_voxels.y * h,
			       low - def->shift_voxels.z * h);
	const tac_dvec3 lows[2] = {{-s, -s, low}, far},
			highs[2] = {{s, s, 0}, {far.x + 4 * h, far.y + 4 * h, far.z + 4 * h}};
	static const int corner[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
					  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
	tac_vec3 vertices[16];
	tac_mesh_triangle triangles[24];
	for (int b = 0; b < 2; b++) {
		for (int i = 0; i < 8; i++)
			vertices[8 * b + i] = tac_vec3_make((float)(i & 1 ? highs[b].x : lows[b].x),
							    (float)(i & 2 ? highs[b].y : lows[b].y),
							    (float)(i & 4 ? highs[b].z : lows[b].z));
		for (int i = 0; i < 12; i++)
			for (int k = 0; k < 3; k++)
				triangles[12 * b + i].vertex[k] = 8 * b + corner[i][k];
	}
	tac_mesh_def mesh = tac_mesh_def_default();
	mesh.vertices = vertices;
	mesh.vertex_count = 16;
	mesh.triangles = triangles;
	mesh.triangle_count = 24;
	tac_mesh *out;
	return tac_mesh_build(&mesh, &out) == TAC_OK ? out : NULL;
}

static inline tac_burr drill_rig_burr(const drill_rig_def *def)
{
	return (tac_burr){def->length_m > 0 ? TAC_BURR_CYLINDER : TAC_BURR_ROUND,
			  {0, 0, 0},
			  {0, 0, def->length_m},
			  def->radius_m};
}

// False: something failed, with a log line.
static inline bool drill_rig_init(drill_rig *rig, const drill_rig_def *def)
{
	*rig = (drill_rig){.stiffness_N_per_m = def->stiffness_N_per_m,
			   .period_s = def->period_s,
			   .T_world_block = tac_dpose_identity()};
	tac_mesh *mesh = drill_rig_mesh(def);
	const tac_field_def field = {
		.name = "block", .mesh = mesh, .voxel_m = def->voxel_m, .max_bricks = def->max_bricks};
	bool good = mesh && tac_field_build(&field, &rig->field) == TAC_OK;
	tac_mesh_destroy(&mesh);
	tac_drill_def drill = {.burr = drill_rig_burr(def),
			       .speed_rad_per_s = DRILL_RIG_OMEGA,
			       .power_W = def->power_W,
			       .thrust_ratio = DRILL_RIG_KAPPA,
			       .field = rig->field};
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		drill.materials[i] = (tac_drill_material){def->energy_J_per_m3, def->rub_N};
	good = good && tac_drill_init(&rig->drill, "drill", &drill) == TAC_OK;
	const tac_sco_object object = {.T_world_object = tac_dpose_identity(),
				       .field = rig->field,
				       .allowance = &rig->drill.allowance};
	tac_sco_def sco = tac_sco_def_default();
	sco.round = (tac_round){drill.burr.a, drill.burr.a, drill.burr.radius};
	sco.burr = &drill.burr;
	sco.objects = &object;
	sco.object_count = 1;
	sco.period_s = def->period_s;
	sco.metric_m = 0.02;
	sco.fixed_rotation = !def->turns;
	sco.work_units = def->work_units;
	return good && tac_sco_create(&sco, &rig->sco) == TAC_OK;
}

static inline void drill_rig_fini(drill_rig *rig)
{
	tac_sco_destroy(&rig->sco);
	tac_field_destroy(&rig->field);
}

// The force on the burr: what the loads of the contacts add up to.
static inline void drill_rig_feel(drill_rig *rig)
{
	rig->force_N = tac_dvec3_zero();
	rig->label = -1;
	for (int32_t i = 0; i < rig->report.contact_count; i++) {
		const tac_sco_contact *c = &rig->report.contacts[i];
		if (c->load_m > 0 && rig->label < 0)
			rig->label = c->object_surface;
		rig->force_N =
			tac_dvec3_add_scaled(rig->force_N, rig->stiffness_N_per_m * c->load_m, c->normal);
	}
	rig->force_N =
		tac_dpose_apply_vector(tac_dpose_inverse(tac_sco_object_pose(rig->sco, 0)), rig->force_N);
}

static inline void drill_rig_step(drill_rig *rig, tac_dpose device, bool running)
{
	tac_drill_allow(&rig->drill, running, rig->force_N, rig->label, rig->period_s);
	tac_sco_step(rig->sco, device, &rig->T_world_block, &rig->report);
	drill_rig_feel(rig);
	const tac_dpose *trail;
	const int32_t count = tac_sco_trail(rig->sco, &trail);
	tac_drill_cut(&rig->drill, trail, count, rig->report.contact_count > 0);
}

#endif
