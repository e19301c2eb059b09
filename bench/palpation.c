// Whether the nodule of the scene palpation can be felt: the force of a finger over it, beside the force of
// the same finger at the same place of the same body without it, against the depth; then across it at one
// depth. The ratio is what a hand has to tell. The bodies are prepared at the first start.
#include "haptic/world.h"
#include "tissue/contact.h"

#include <math.h>
#include <stdio.h>

#define STEP_M   5e-5 // the finger goes down by
#define STILL_S  0    // a press is faster than creep
#define ACROSS_M 5e-3

typedef struct body {
	tac_scene *scene;
	tac_world *world;
	tac_tissue *tissue;
} body;

static bool build(body *b, bool nodule)
{
	if (tac_scene_builtin("palpation", &b->scene) < TAC_OK)
		return false;
	if (!nodule)
		b->scene->objects[0].tissue.inside_count = 0;
	if (tac_world_build(b->scene, tac_collider_find("wide"), &b->world) < TAC_OK)
		return false;
	const tac_tissue_def def = {"liver",
				    b->world->objects[0].compliance,
				    {.radius_m = b->world->tools[0].round.radius},
				    true};
	return tac_tissue_create(&def, &b->tissue) >= TAC_OK;
}

static void destroy(body *b)
{
	tac_tissue_destroy(&b->tissue);
	tac_world_destroy(&b->world);
	tac_scene_destroy(&b->scene);
}

static tac_dpose at(double x, double z)
{
	return tac_dpose_make(tac_dvec3_make(x, 0, z), tac_dquat_identity());
}

// The upward force `depth_m` below the height at which the finger begins to press, N.
static double press_N(tac_tissue *t, double x, double depth_m)
{
	double z = 0.08, touch = 0, force = 0;
	tac_tissue_reset(t);
	for (; z > 0 && touch == 0; z -= STEP_M) {
		if (tac_tissue_hold(t, at(x, z), STILL_S).force_N.z > 0)
			touch = z + STEP_M;
	}
	for (double down = STEP_M; down < depth_m + 0.5 * STEP_M; down += STEP_M)
		force = tac_tissue_hold(t, at(x, touch - down), STILL_S).force_N.z;
	return force;
}

int main(void)
{
	body with = {NULL, NULL, NULL}, without = with;
	if (!build(&with, true) || !build(&without, false))
		return 1;
	const double x = 0.0165; // from here the finger presses towards the nodule
	printf("finger of 10 mm over a nodule of 6 mm, whose top lies 6 mm below the surface; N\n%10s %10s "
	       "%10s %8s\n",
	       "depth mm", "nodule", "none", "ratio");
	for (int mm = 1; mm <= 8; mm++) {
		const double a = press_N(with.tissue, x, 1e-3 * mm),
			     b = press_N(without.tissue, x, 1e-3 * mm);
		printf("%10d %10.3f %10.3f %8.2f\n", mm, a, b, a / b);
	}
	printf("\nacross it, %.0f mm deep\n%10s %10s %10s %8s\n", 1e3 * ACROSS_M, "beside mm", "nodule",
	       "none", "ratio");
	for (int mm = -24; mm <= 12; mm += 4) {
		const double a = press_N(with.tissue, x + 1e-3 * mm, ACROSS_M);
		const double b = press_N(without.tissue, x + 1e-3 * mm, ACROSS_M);
		printf("%10d %10.3f %10.3f %8.2f\n", mm, a, b, a / b);
	}
	destroy(&with);
	destroy(&without);
	return 0;
}
