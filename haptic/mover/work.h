// Work: the budget of one step. The step sets it (begin_work in sco.c) and hands it down to every query,
// which adds what it costs. It is counted and never clocked, so that a replay gives the same bits.
#ifndef TAC_HAPTIC_MOVER_WORK_H
#define TAC_HAPTIC_MOVER_WORK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tac_sco_action {
	SCO_SUBSTEP,
	SCO_CONTACT_QUERY,
	SCO_CERTIFICATE,
	SCO_QP_SOLVE,
	SCO_SWEEP,
	SCO_COLLIDER_QUERY,
	SCO_ACTIONS
} tac_sco_action;

typedef struct tac_sco_work {
	int64_t units, limit; // work units, see tac_sco_def
	int64_t nodes_left;   // of the collider's queries
	int32_t count[SCO_ACTIONS], most[SCO_ACTIONS];
	bool spent; // an action was refused or ended early for lack of work
} tac_sco_work;

// The units that a query may use: at least 1, because the queries take 0 for no limit.
static inline int64_t tac_sco_work_left(const tac_sco_work *work)
{
	int64_t left = work->limit - work->units;
	return left > 1 ? left : 1;
}

// Whether more than twice the limit is spent: a query over many obstacles then skips the others.
static inline bool tac_sco_work_overdrawn(const tac_sco_work *work)
{
	return work->units > 2 * work->limit;
}

// Whether neither the count of an action nor the units are used up.
static inline bool tac_sco_work_allows(const tac_sco_work *work, tac_sco_action action)
{
	return work->count[action] < work->most[action] && work->units < work->limit;
}

// Counts an action, or refuses it.
static inline bool tac_sco_work_admit(tac_sco_work *work, tac_sco_action action)
{
	bool allowed = tac_sco_work_allows(work, action);
	work->count[action] += allowed;
	work->spent |= !allowed;
	return allowed;
}

#endif
