// T13: a finger over a nodule and beside it, against CalculiX on the same mesh. CalculiX gives the
// displacements of the touched nodes under forces on each of them; brute force over all of these nodes finds
// the loads at which none is inside the finger.
#include "collision/mesh_shapes.h"
#include "tests/support/calculix.h"
#include "tests/support/limits.h"
#include "tissue/contact.h"
#include "tissue/elastic/body.h"

#include <math.h>

#define MM       1e-3
#define FINGER   (10 * MM)
#define DEPTH    (2.5 * MM) // of the press
#define BELOW    (5 * MM)   // tissue over the nodule
#define NODULE   (6 * MM)
#define TOP      (12 * MM) // of the block
#define PLACE    (17 * MM) // of the nodule, and of the press beside it, from the middle
#define NEAR_MAX 64

static tac_mesh *block, *nodule;

void setUp(void)
{
	TEST_ASSERT_EQUAL(TAC_OK,
			  tac_mesh_build_box(tac_vec3_make(0.08f, 0.045f, (float)(2 * TOP)), 1, &block));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)NODULE, 3, &nodule));
	const tac_vec3 at = tac_vec3_make((float)-PLACE, 0, (float)(TOP - BELOW - NODULE));
	for (int32_t i = 0; i < nodule->vertex_count; i++)
		nodule->vertices[i] = tac_vec3_add(nodule->vertices[i], at);
	nodule->bounds_min = tac_vec3_add(nodule->bounds_min, at);
	nodule->bounds_max = tac_vec3_add(nodule->bounds_max, at);
}

void tearDown(void)
{
	tac_mesh_destroy(&block);
	tac_mesh_destroy(&nodule);
}

// The touched nodes in reach of a finger, and their compliance.
typedef struct patch {
	tac_dvec3 centre; // of the finger
	int32_t count;
	int32_t node[NEAR_MAX]; // of the model
	tac_dvec3 rest[NEAR_MAX];
	tac_dmat3 C[NEAR_MAX][NEAR_MAX];
} patch;

static void choose_nodes(patch *p, const elastic_body *b)
{
	p->count = 0;
	for (int32_t i = 0; i < b->node_count; i++) {
		const tac_dvec3 at = b->model.nodes[b->vertices[i]];
		if (tac_dvec3_length(tac_dvec3_sub(at, p->centre)) > FINGER + 0.2 * MM)
			continue;
		TEST_ASSERT_TRUE(p->count < NEAR_MAX);
		p->node[p->count] = b->vertices[i];
		p->rest[p->count++] = at;
	}
	TEST_ASSERT_TRUE(p->count >= 5);
}

// A step for each node and direction, with a force that is small for this material.
#define FORCE_N 1e-3
static void ask_calculix(patch *p, const elastic_model *m)
{
	calculix ccx = calculix_begin(m);
	fprintf(ccx.input, "*NSET, NSET=NEAR\n");
	for (int32_t i = 0; i < p->count; i++)
		fprintf(ccx.input, "%d,\n", p->node[i] + 1);
	for (int32_t k = 0; k < 3 * p->count; k++) {
		fprintf(ccx.input, "*STEP\n*STATIC\n*CLOAD, OP=NEW\n%d, %d, %g\n", p->node[k / 3] + 1,
			k % 3 + 1, FORCE_N);
		fprintf(ccx.input, "*NODE PRINT, NSET=NEAR\nU\n*END STEP\n");
	}
	FILE *results = calculix_run(&ccx);
	for (int32_t k = 0; k < 3 * p->count; k++) {
		for (int32_t row = 0; row < p->count; row++) {
			int32_t n, i = 0;
			tac_dvec3 u;
			TEST_ASSERT_TRUE(calculix_next(results, &n, &u));
			while (i < p->count && p->node[i] != n)
				i++;
			TEST_ASSERT_TRUE(i < p->count);
			for (int axis = 0; axis < 3; axis++)
				p->C[i][k / 3].m[axis][k % 3] = tac_dvec3_get(u, axis) / FORCE_N;
		}
	}
	fclose(results);
	calculix_end(&ccx);
}

// The force along z at which no node is inside the finger: each load in turn closes its own gap.
static double brute_force_N(const patch *p)
{
	double load[NEAR_MAX] = {0}, force = 0;
	tac_dvec3 f[NEAR_MAX] = {{0}};
	for (int round = 0; round < 4000; round++) {
		for (int32_t i = 0; i < p->count; i++) {
			tac_dvec3 at = p->rest[i];
			for (int32_t j = 0; j < p->count; j++)
				at = tac_dvec3_add(at, tac_dmat3_apply(p->C[i][j], f[j]));
			const tac_dvec3 apart = tac_dvec3_sub(at, p->centre);
			const tac_dvec3 normal = tac_dvec3_normalize(apart);
			const double own = tac_dvec3_dot(normal, tac_dmat3_apply(p->C[i][i], normal));
			load[i] = fmax(load[i] - (tac_dvec3_length(apart) - FINGER) / own, 0);
			f[i] = tac_dvec3_scale(normal, load[i]);
		}
	}
	for (int32_t i = 0; i < p->count; i++)
		force -= f[i].z;
	return force;
}

static double pressed_N(const tac_compliance *c, tac_dvec3 centre)
{
	const tac_tissue_def def = {"block", c, {.radius_m = FINGER}, true};
	tac_tissue *tissue;
	TEST_ASSERT_EQUAL(TAC_OK, tac_tissue_create(&def, &tissue));
	tac_dpose pose = tac_dpose_identity();
	tac_wrench w = {0};
	for (int tick = 0; tick <= 50; tick++) { // down, as a hand does it
		pose.position = tac_dvec3_add(centre, tac_dvec3_make(0, 0, (50 - tick) / 50.0 * DEPTH));
		w = tac_tissue_hold(tissue, pose, 1e-3);
	}
	for (int tick = 0; tick < 20; tick++)
		w = tac_tissue_hold(tissue, pose, 1e-3);
	TEST_ASSERT_EQUAL(0, tac_tissue_state_of(tissue)->level);
	tac_tissue_destroy(&tissue);
	return w.force_N.z;
}

static void forces_over_a_nodule_and_beside_it_are_those_of_calculix(void)
{
	if (TAC_TEST_SANITIZED)
		TEST_IGNORE_MESSAGE("the other builds run it");
	if (!calculix_installed())
		TEST_IGNORE_MESSAGE("skipped: CalculiX is not installed (package calculix-ccx)");
	tac_elastic_def def = tac_elastic_def_default();
	def.name = "block";
	def.mesh = block;
	def.spacing_m = test_long() ? 3 * MM : 5.5 * MM;
	def.fixed[0] = (tac_elastic_fixed){.low_m = tac_dvec3_splat(-1), .high_m = {1, 1, -TOP}};
	def.fixed_count = 1;
	def.inside[0] = (tac_elastic_inside){nodule, 70000, 0.45};
	def.inside_count = 1;
	elastic_body b;
	tac_compliance *c;
	TEST_ASSERT_EQUAL(TAC_OK, tac_elastic_body_init(&b, &def));
	TEST_ASSERT_EQUAL(TAC_OK, tac_elastic_body_compute(&b, &def, 1, 2, NULL, NULL, &c));
	static patch p;
	double force[2], expected[2];
	for (int beside = 0; beside < 2; beside++) {
		p.centre = tac_dvec3_make(beside ? PLACE : -PLACE, 0, TOP + FINGER - DEPTH);
		choose_nodes(&p, &b);
		ask_calculix(&p, &b.model);
		expected[beside] = brute_force_N(&p);
		force[beside] = pressed_N(c, p.centre);
		TEST_ASSERT_DOUBLE_WITHIN(0.02 * expected[beside], expected[beside], force[beside]);
	}
	printf("nodule: %.4f N over it, CalculiX %.4f N; beside it %.4f and %.4f N; ratio %.4f and %.4f; %d "
	       "nodes\n",
	       force[0], expected[0], force[1], expected[1], force[0] / force[1], expected[0] / expected[1],
	       b.model.node_count);
	TEST_ASSERT_TRUE(expected[0] > 1.2 * expected[1]);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 1, force[0] / force[1] / (expected[0] / expected[1]));
	tac_compliance_destroy(&c);
	tac_elastic_body_fini(&b);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(forces_over_a_nodule_and_beside_it_are_those_of_calculix);
	return UNITY_END();
}
