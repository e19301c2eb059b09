#include "haptic/sco.h"
#include "tests/sco_scenes.h"

#include <stdio.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_sco *make(const tac_sco_def *def, tac_dpose start)
{
	tac_sco *sco;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(def, &sco));
	TEST_ASSERT_TRUE(tac_sco_reset(sco, start, NULL));
	return sco;
}

static void box_pressed_into_a_plane_rests_at_the_hold_gap(void)
{
	thing box = thing_make(box_mesh(0.04, 0.04, 0.04, 1)), plane = thing_make(plane_mesh(0.2, 24));
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &plane, &object);
	tac_sco *sco = make(&def, at(0.003, 0.001, 0.03));
	tac_sco_report r;
	for (int k = 0; k < 300; k++) {
		double t = k * 1e-3;
		tac_sco_step(sco, at(-0.05 + 0.05 * t, 0.02 * t, 0.015), NULL, &r);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.02001, r.T_world_sco.position.z);
	double load = 0;
	for (int i = 0; i < r.contact_count; i++)
		load += r.contacts[i].load_m;
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.00501, load);
	tac_sco_destroy(&sco);
	thing_free(&box);
	thing_free(&plane);
}

// Found on scanned meshes with holes: beside a ridge a vertex is in front of one face and behind the plane of
// the other, and the plane held it there.
static void a_sheet_has_no_wall_behind_its_ridges(void)
{
	sketch s = {0};
	sketch_patch(&s, V(-0.05, -0.05, -0.02), V(0, -0.05, 0), V(0, 0.05, 0), V(-0.05, 0.05, -0.02), 3, 3);
	sketch_patch(&s, V(0, -0.05, 0), V(0.05, -0.05, -0.02), V(0.05, 0.05, -0.02), V(0, 0.05, 0), 3, 3);
	thing roof = thing_make(sketch_finish(&s)), box = thing_make(box_mesh(0.01, 0.01, 0.01, 1));
	TEST_ASSERT_FALSE(roof.body->solid);
	tac_sco_object object;
	tac_sco_def def = scene_def(&box, &roof, &object);
	tac_sco *sco = make(&def, turned(-0.02, 0, 0.02, V(0.3, 0.6, 0)));
	tac_sco_report r;
	for (int k = 0; k < 400; k++) {
		tac_sco_step(sco, turned(-0.02 + 1e-4 * k, 0, -0.005, V(0.3, 0.6, 0)), NULL, &r);
		for (int i = 0; i < r.contact_count; i++)
			TEST_ASSERT_TRUE(r.contacts[i].normal.z > 0);
	}
	TEST_ASSERT_TRUE(r.T_world_sco.position.x > 0.015);
	tac_sco_destroy(&sco);
	thing_free(&box);
	thing_free(&roof);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(box_pressed_into_a_plane_rests_at_the_hold_gap);
	RUN_TEST(a_sheet_has_no_wall_behind_its_ridges);
	return UNITY_END();
}
