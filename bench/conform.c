// Conforming contact: faces, pegs and fins that meet in many triangles at once. A device presses the tool
// against the scene and moves it along a direction that the contact leaves free, as a hand does, then holds
// still. Each row is run with the triangles of the meshes and with flat faces triangulated anew. Times are
// CPU times of the thread, the least of several replays of each tick.
//
//   bench_conform [ROW]     the rows whose names begin so
#include "base/denormal.h"
#include "collision/body.h"
#include "collision/mesh_shapes.h"
#include "haptic/sco.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPLAYS   3
#define TICKS_MAX 4000
#define SETTLE    50 // ticks at rest before the lag at rest is taken
#define PRESS     100
// The limits of the servo at 1 kHz (haptic/servo/setup.c).
#define WORK_UNITS        540
#define WORK_UNITS_COARSE 2000
#define COARSE_TRIANGLES  20000

typedef struct row {
	const char *name;
	tac_mesh *tool, *scene;
	tac_dvec3 start, pressed, end; // of the device, m
	double speed;                  // m/s
	tac_dvec3 turn;                // along the way, rad
	double arm;                    // at which the turn lags, m; 0: it is not what the row is about
} row;

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static tac_body *body_of(const tac_mesh *mesh, double flat_m)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.solid = tac_mesh_is_watertight(mesh);
	def.flat_m = flat_m;
	tac_body *body;
	if (tac_body_build(&def, &body) != TAC_OK)
		exit(1);
	return body;
}

static tac_dpose device_at(const row *r, int tick, int slide)
{
	if (tick < PRESS)
		return tac_dpose_make(tac_dvec3_lerp(r->start, r->pressed, (double)tick / PRESS),
				      tac_dquat_identity());
	const double s = fmin(1, (double)(tick - PRESS) / slide);
	return tac_dpose_make(tac_dvec3_lerp(r->pressed, r->end, s),
			      tac_dquat_exp(tac_dvec3_scale(r->turn, s)));
}

static double us[TICKS_MAX], work[TICKS_MAX];

static void measure(const row *r, const char *how, double flat_m)
{
	tac_body *tool = body_of(r->tool, flat_m), *scene = body_of(r->scene, flat_m);
	const tac_dvec3 way = tac_dvec3_sub(r->end, r->pressed);
	const double length = fmax(tac_dvec3_length(way), tac_dvec3_length(r->turn) * r->arm);
	const int slide = (int)(length / r->speed * 1000), ticks = PRESS + slide + 2 * SETTLE;
	const tac_dvec3 along = tac_dvec3_normalize(way);
	const tac_sco_object object = {.body = scene, .T_world_object = tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.tool = tool;
	def.objects = &object;
	def.object_count = 1;
	def.work_units =
		tac_body_mesh(tool)->triangle_count + tac_body_mesh(scene)->triangle_count < COARSE_TRIANGLES
			? WORK_UNITS_COARSE
			: WORK_UNITS;
	double lag = 0, rest = 0, most = 0, sum = 0;
	int spent = 0;
	for (int i = 0; i < TICKS_MAX; i++)
		us[i] = HUGE_VAL;
	for (int replay = 0; replay < REPLAYS; replay++) {
		tac_sco *sco;
		tac_sco_report report;
		if (tac_sco_create(&def, &sco) != TAC_OK)
			exit(1);
		if (!tac_sco_reset(sco, device_at(r, 0, slide), NULL))
			printf("%s: starts in contact\n", r->name);
		spent = 0;
		for (int k = 0; k < ticks; k++) {
			const tac_dpose device = device_at(r, k, slide);
			const int64_t from = cpu_ns();
			tac_sco_step(sco, device, NULL, &report);
			us[k] = fmin(us[k], (double)(cpu_ns() - from) * 1e-3);
			work[k] = (double)report.work_units;
			spent += (report.flags & TAC_SCO_BUDGET_SPENT) != 0;
			const tac_dpose off = tac_dpose_relative(report.T_world_sco, device);
			const double behind =
				fmax(fabs(tac_dvec3_dot(along, tac_dvec3_sub(report.T_world_sco.position,
									     device.position))),
				     r->arm * tac_dquat_angle(off.rotation));
			lag = k >= PRESS ? fmax(lag, behind) : lag;
			rest = behind;
		}
		tac_sco_destroy(&sco);
	}
	for (int k = 0; k < ticks; k++) {
		sum += work[k] / ticks;
		most = fmax(most, work[k]);
	}
	double mean = 0;
	for (int k = 0; k < ticks; k++)
		mean += us[k] / ticks;
	qsort(us, (size_t)ticks, sizeof *us, by_size);
	printf("%-32s %-6s %7d %7d %8.1f %8.1f %8.1f %7.0f %7.0f %6.1f%% %10.4f %10.4f\n", r->name, how,
	       tac_body_mesh(tool)->triangle_count, tac_body_mesh(scene)->triangle_count, mean,
	       us[(int)(0.999 * ticks)], us[ticks - 1], sum, most, 100.0 * spent / ticks, lag * 1e3,
	       rest * 1e3);
	tac_body_destroy(&tool);
	tac_body_destroy(&scene);
}

static const char *only;

static void run(row r)
{
	if (!only || strncmp(r.name, only, strlen(only)) == 0) {
		measure(&r, "exact", 0);
		measure(&r, "flat", TAC_BODY_FLAT);
	}
	tac_mesh_destroy(&r.tool);
	tac_mesh_destroy(&r.scene);
}

// The mesh, turned and shifted, with its orientation reversed on request; the original is freed.
static tac_mesh *placed(tac_mesh *mesh, tac_dpose T, double below_z)
{
	tac_vec3 *v = malloc((size_t)mesh->vertex_count * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)mesh->triangle_count * sizeof *t);
	tac_mesh_def def = tac_mesh_def_default();
	if (!v || !t)
		exit(1);
	const bool hollow = below_z < HUGE_VAL;
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		v[i] = tac_vec3_from_dvec3(tac_dpose_apply_point(T, tac_dvec3_from_vec3(mesh->vertices[i])));
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const int32_t *c = mesh->triangles[i].vertex;
		const float top = fmaxf(v[c[0]].z, fmaxf(v[c[1]].z, v[c[2]].z));
		if ((double)top <= below_z)
			t[def.triangle_count++] =
				(tac_mesh_triangle){{c[0], c[hollow ? 2 : 1], c[hollow ? 1 : 2]}};
	}
	def.vertices = v;
	def.vertex_count = mesh->vertex_count;
	def.triangles = t;
	tac_mesh *out;
	if (tac_mesh_build(&def, &out) != TAC_OK)
		exit(1);
	free(v);
	free(t);
	tac_mesh_destroy(&mesh);
	return out;
}

static tac_mesh *box(double x, double y, double z, int segments)
{
	tac_mesh *mesh;
	if (tac_mesh_build_box(tac_vec3_make((float)x, (float)y, (float)z), segments, &mesh) != TAC_OK)
		exit(1);
	return mesh;
}

static tac_mesh *plate(double turn)
{
	return placed(box(0.2, 0.2, 0.02, 64),
		      tac_dpose_make(tac_dvec3_make(0, 0, -0.01), tac_dquat_exp(tac_dvec3_make(0, 0, turn))),
		      HUGE_VAL);
}

static void run_boxes(double speed)
{
	static const int segments[] = {16, 8, 4};
	for (int i = 0; i < 3; i++) {
		char name[64];
		snprintf(name, sizeof name, "box %d on plate, %.1f m/s", 12 * segments[i] * segments[i],
			 speed);
		run((row){name, box(0.01, 0.01, 0.01, segments[i]), plate(0),
			  tac_dvec3_make(-0.06, 0.0013, 0.0051), tac_dvec3_make(-0.06, 0.0013, 0.003),
			  tac_dvec3_make(0.06, 0.0013, 0.003), speed, tac_dvec3_zero(), 0});
	}
	tac_mesh *disc;
	if (tac_mesh_build_cylinder(0.02f, 0.005f, 96, 24, &disc) != TAC_OK)
		exit(1);
	run((row){"disc on turned plate", placed(disc, tac_dpose_identity(), HUGE_VAL), plate(0.3),
		  tac_dvec3_make(-0.06, 0, 0.0026), tac_dvec3_make(-0.06, 0, 0.0005),
		  tac_dvec3_make(0.06, 0, 0.0005), speed, tac_dvec3_make(0, 0, 1), 0});
}

static void run_peg(double speed)
{
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.segments = 96;
	def.bands = 24;
	tac_mesh *peg, *block;
	if (tac_mesh_build_peg(&def, &peg) != TAC_OK || tac_mesh_build_block(&def, &block) != TAC_OK)
		exit(1);
	run((row){"peg 96 x 24 in its hole", peg, block, tac_dvec3_make(0, 0, 0.005),
		  tac_dvec3_make(0.001, 0.0005, 0.005), tac_dvec3_make(0.001, 0.0005, -0.02), speed,
		  tac_dvec3_zero(), 0});
}

static void run_filters(double speed)
{
	const tac_mesh_filter_def def = tac_mesh_filter_def_default();
	tac_mesh *a, *b;
	if (tac_mesh_build_filter(&def, &a) != TAC_OK || tac_mesh_build_filter(&def, &b) != TAC_OK)
		exit(1);
	const double pitch = (double)(def.plate_thickness + def.gap), reach = (double)def.plate_size;
	run((row){"fin filters, interleaved", a, b, tac_dvec3_make(0.7 * reach, 0, pitch / 2),
		  tac_dvec3_make(0.7 * reach, 0, 0.3 * pitch), tac_dvec3_make(0.6 * reach, 0, 0.3 * pitch),
		  speed, tac_dvec3_zero(), 0});
}

static void run_curved(double speed)
{
	tac_mesh *ball, *socket, *cylinder, *pipe;
	if (tac_mesh_build_icosphere(0.02f, 5, &ball) != TAC_OK ||
	    tac_mesh_build_icosphere(0.0202f, 5, &socket) != TAC_OK ||
	    tac_mesh_build_cylinder(0.02f, 0.06f, 200, 50, &cylinder) != TAC_OK ||
	    tac_mesh_build_cylinder(0.0202f, 0.16f, 200, 100, &pipe) != TAC_OK)
		exit(1);
	const tac_dpose lie =
		tac_dpose_make(tac_dvec3_zero(), tac_dquat_exp(tac_dvec3_make(1.5707963267948966, 0, 0)));
	// The ball cannot leave its place; it turns by 1 rad.
	run((row){"ball in socket R 1.01", ball, placed(socket, tac_dpose_identity(), 0),
		  tac_dvec3_make(0, 0, 0.0001), tac_dvec3_make(0, 0.001, -0.002),
		  tac_dvec3_make(0, 0.001, -0.002), speed, tac_dvec3_make(0.8, 0.5, 0.33), 0.02});
	run((row){"cylinder in half-pipe R 1.01", placed(cylinder, lie, HUGE_VAL), placed(pipe, lie, 0),
		  tac_dvec3_make(0, -0.03, 0.0001), tac_dvec3_make(0, -0.03, -0.002),
		  tac_dvec3_make(0, 0.03, -0.002), speed, tac_dvec3_zero(), 0});
}

int main(int argc, char **argv)
{
	tac_denormal_flush(true);
	setvbuf(stdout, NULL, _IOLBF, 0);
	only = argc > 1 ? argv[1] : NULL;
	for (int i = 0; i < 2; i++) {
		const double speed = i ? 0.5 : 0.1;
		printf("\n%.1f m/s %25s %-6s %7s %7s %8s %8s %8s %7s %7s %7s %10s %10s\n", speed, "", "body",
		       "tool", "scene", "mean us", "p99.9", "max", "work", "most", "spent", "lag mm",
		       "at rest");
		run_boxes(speed);
		run_peg(speed);
		run_filters(speed);
		run_curved(speed);
	}
	return 0;
}
