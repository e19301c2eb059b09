#include "collision/sweep_shape.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/mesh_load.h"
#include "collision/round.h"
#include "collision/solid.h"

#include <stdlib.h>

// Around a solid that is converted to a mesh.
#define SEGMENTS 128

struct tac_sweep_shape {
	tac_mesh *mesh;
	tac_body *body;  // NULL: round
	tac_round round; // at the identity
};

static bool is_round(const tac_solids *solids)
{
	return solids->count == 1 &&
	       (solids->solid[0].kind == TAC_SOLID_SPHERE || solids->solid[0].kind == TAC_SOLID_CAPSULE);
}

static tac_round round_of(const tac_solid *solid)
{
	const double half = solid->kind == TAC_SOLID_CAPSULE ? solid->height / 2 : 0;
	const tac_dvec3 along = tac_dmat3_apply(solid->rotation, tac_dvec3_make(0, 0, half));
	return (tac_round){tac_dvec3_sub(solid->position, along), tac_dvec3_add(solid->position, along),
			   solid->radius};
}

static tac_result load(const char *text, bool moving, tac_sweep_shape *out)
{
	tac_result result;
	if (tac_solids_is_description(text)) {
		tac_solids solids;
		result = tac_solids_parse(text, &solids);
		if (result >= TAC_OK && moving && is_round(&solids)) {
			out->round = round_of(&solids.solid[0]);
			return TAC_OK;
		}
		if (result >= TAC_OK)
			result = tac_solids_build_mesh(&solids, SEGMENTS, &out->mesh);
	} else {
		result = tac_mesh_load(text, NULL, &out->mesh);
	}
	if (result < TAC_OK)
		return result;
	tac_body_def def = tac_body_def_default();
	def.mesh = out->mesh;
	return tac_body_build(&def, &out->body);
}

tac_result tac_sweep_shape_load(const char *text, bool moving, tac_sweep_shape **out_shape)
{
	*out_shape = NULL;
	tac_sweep_shape *shape = calloc(1, sizeof *shape);
	if (!shape) {
		tac_log(TAC_LOG_ERROR, "%s: no memory", text);
		return TAC_ERROR_MEMORY;
	}
	const tac_result result = load(text, moving, shape);
	if (result < TAC_OK)
		tac_sweep_shape_destroy(&shape);
	*out_shape = shape;
	return result;
}

void tac_sweep_shape_destroy(tac_sweep_shape **shape)
{
	if (!*shape)
		return;
	tac_body_destroy(&(*shape)->body);
	tac_mesh_destroy(&(*shape)->mesh);
	free(*shape);
	*shape = NULL;
}

static tac_round round_at(const tac_round *tool, const tac_drigid *T)
{
	return (tac_round){tac_dvec3_add(tac_dmat3_apply(T->R, tool->a), T->t),
			   tac_dvec3_add(tac_dmat3_apply(T->R, tool->b), T->t), tool->radius};
}

static tac_sweep_result translate(const tac_body *fixed, const tac_sweep_shape *moving,
				  const tac_sweep_motion *m, const tac_sweep_options *options,
				  tac_sweep_context *context)
{
	if (moving->body)
		return tac_sweep_translate(moving->body, fixed, &m->T, m->v, options, context);
	const tac_round tool = round_at(&moving->round, &m->T);
	return tac_round_translate(&tool, fixed, m->v, options, NULL);
}

static tac_sweep_result rotate(const tac_body *fixed, const tac_sweep_shape *moving, const tac_drigid *T,
			       const tac_sweep_motion *m, const tac_sweep_options *options,
			       tac_sweep_context *context)
{
	if (moving->body)
		return tac_sweep_rotate(moving->body, fixed, T, T->t, m->axis, m->angle, options, context);
	const tac_round tool = round_at(&moving->round, T);
	return tac_round_rotate(&tool, fixed, T->t, m->axis, m->angle, options);
}

tac_sweep_moved tac_sweep_shape_move(const tac_sweep_shape *fixed, const tac_sweep_shape *moving,
				     const tac_sweep_motion *motion, const tac_sweep_options *options,
				     tac_sweep_context *context)
{
	TAC_ASSERT(fixed->body);
	const tac_sweep_result t = translate(fixed->body, moving, motion, options, context);
	tac_sweep_result r = t;
	if (!(t.flags & (TAC_SWEEP_REFUSED | TAC_SWEEP_START_HIT))) {
		const tac_drigid T = tac_sweep_translated(&motion->T, motion->v, t.fraction);
		r = rotate(fixed->body, moving, &T, motion, options, context);
	}
	const bool by_translation = t.fraction < 1 && !(r.flags & TAC_SWEEP_REFUSED);
	return (tac_sweep_moved){t.fraction, r.fraction, by_translation ? t : r};
}

const char *tac_sweep_contact_name(const tac_sweep_result *result)
{
	static const char *const names[] = {"none", "vertex-face", "face-vertex", "edge-edge"};
	if (result->flags & TAC_SWEEP_REFUSED)
		return "refused";
	if (result->flags & TAC_SWEEP_START_HIT)
		return "start";
	return names[result->kind];
}
