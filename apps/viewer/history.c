#include "apps/viewer/history.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>

tac_result viewer_history_init(viewer_history *h)
{
	*h = (viewer_history){.ring = calloc(VIEWER_HISTORY_SNAPSHOTS, sizeof *h->ring)};
	if (!h->ring) {
		tac_log(TAC_LOG_ERROR, "viewer: expected memory for %d snapshots, found none",
			VIEWER_HISTORY_SNAPSHOTS);
		return TAC_ERROR_MEMORY;
	}
	return TAC_OK;
}

void viewer_history_fini(viewer_history *h)
{
	free(h->ring);
	*h = (viewer_history){0};
}

const tac_snapshot *viewer_history_back(const viewer_history *h, int back)
{
	if (h->added == 0)
		return NULL;
	const int64_t clamped = back < h->added ? back : h->added - 1;
	return &h->ring[(h->added - 1 - clamped) % VIEWER_HISTORY_SNAPSHOTS];
}

const tac_snapshot *viewer_history_newest(const viewer_history *h)
{
	return viewer_history_back(h, 0);
}

int viewer_history_depth(const viewer_history *h)
{
	const int64_t held = h->added < VIEWER_HISTORY_SNAPSHOTS ? h->added : VIEWER_HISTORY_SNAPSHOTS;
	return held > 0 ? (int)held - 1 : 0;
}

bool viewer_history_add(viewer_history *h, const tac_snapshot *snapshot)
{
	const tac_snapshot *last = viewer_history_newest(h);
	if (!snapshot || (last && last->tick == snapshot->tick))
		return false;
	h->ring[h->added++ % VIEWER_HISTORY_SNAPSHOTS] = *snapshot;
	return true;
}

const tac_snapshot *viewer_history_at(viewer_history *h, int64_t at_ns)
{
	const tac_snapshot *b = viewer_history_newest(h);
	if (!b)
		return NULL;
	h->shown = *b;
	const tac_snapshot *a = viewer_history_back(h, 1);
	if (b->time_ns <= a->time_ns || a->live.world != b->live.world)
		return &h->shown;
	const double t = fmin(fmax((double)(at_ns - a->time_ns) / (double)(b->time_ns - a->time_ns), 0), 1);
	h->shown.T_world_sco = tac_dpose_interpolate(a->T_world_sco, b->T_world_sco, t);
	h->shown.T_world_device = tac_dpose_interpolate(a->T_world_device, b->T_world_device, t);
	for (int i = 0; i < b->object_count; i++)
		h->shown.T_world_objects[i] =
			tac_dpose_interpolate(a->T_world_objects[i], b->T_world_objects[i], t);
	// Contacts keep their place on the tool.
	const tac_dpose moved = tac_dpose_compose(h->shown.T_world_sco, tac_dpose_inverse(b->T_world_sco));
	for (int i = 0; i < h->shown.contact_count; i++)
		h->shown.contacts[i].point_m = tac_dpose_apply_point(moved, b->contacts[i].point_m);
	return &h->shown;
}
