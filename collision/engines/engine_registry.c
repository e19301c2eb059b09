// The engines by name. A new engine of this library adds its row to `built_in` and its files to
// collision/CMakeLists.txt; one from outside is added by tac_collider_add.
#include "base/log.h"
#include "collision/engines/bvh8_engine.h"
#include "collision/engines/doptree_engine.h"
#include "collision/engines/scd_engine.h"
#include "collision/engines/solid_engine.h"

#include <pthread.h>
#include <string.h>

// In the order in which they are listed. The function picks the SIMD variant and fills the engine's table.
static const tac_collider *(*const built_in[])(void) = {
	tac_bvh8_collider,    // wide
	tac_doptree_collider, // doptree
	tac_classic_collider, // classic
	tac_scd_collider,     // scd
	tac_solid_collider,   // solid
};

enum { BUILT_IN_COUNT = sizeof built_in / sizeof *built_in };

// Filled once: a loop may run with an engine while another thread asks for it.
static const tac_collider *engines[BUILT_IN_COUNT];
static pthread_once_t engines_once = PTHREAD_ONCE_INIT;

static void fill_engines(void)
{
	for (int i = 0; i < BUILT_IN_COUNT; i++)
		engines[i] = built_in[i]();
}

static const tac_collider *added[TAC_COLLIDERS_ADDED_MAX];
static int added_count;

const tac_collider *tac_collider_at(int index)
{
	pthread_once(&engines_once, fill_engines);
	if (index < BUILT_IN_COUNT)
		return engines[index];
	return index - BUILT_IN_COUNT < added_count ? added[index - BUILT_IN_COUNT] : NULL;
}

tac_result tac_collider_add(const tac_collider *collider)
{
	const tac_collider *namesake = tac_collider_find(collider->name);
	if (namesake == collider)
		return TAC_OK;
	if (namesake) {
		tac_log(TAC_LOG_ERROR, "collider: expected a new name, found %s, which is taken",
			collider->name);
		return TAC_ERROR_ARGUMENT;
	}
	if (added_count == TAC_COLLIDERS_ADDED_MAX) {
		tac_log(TAC_LOG_ERROR, "collider: no room for %s beside %d added ones", collider->name,
			added_count);
		return TAC_ERROR_MEMORY;
	}
	added[added_count++] = collider;
	return TAC_OK;
}

void tac_collider_remove(const tac_collider *collider)
{
	int kept = 0;
	for (int i = 0; i < added_count; i++)
		if (added[i] != collider)
			added[kept++] = added[i];
	added_count = kept;
}

const tac_collider *tac_collider_find(const char *name)
{
	for (int i = 0; tac_collider_at(i); i++)
		if (strcmp(tac_collider_at(i)->name, name) == 0)
			return tac_collider_at(i);
	return NULL;
}
