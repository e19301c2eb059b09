// An object that the tool passes through: it has no contacts and stops no motion.
#include "haptic/mover/geometry.h"

static tac_result create(const tac_sco_def *def, const tac_sco_object *object, void **out_memory)
{
	(void)def, (void)object;
	*out_memory = NULL;
	return TAC_OK;
}

static void forget(void *memory)
{
	(void)memory;
}

static void list(void *memory, tac_dpose T_object_tool, double margin, tac_sco_work *work, tac_contacts *out)
{
	(void)memory, (void)T_object_tool, (void)work;
	out->count = out->dropped = 0;
	out->margin = out->distance = margin;
	out->pairs = out->close_pairs = 0;
}

static tac_sco_proof prove(void *memory, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	(void)memory, (void)motion, (void)zone_m, (void)work;
	return (tac_sco_proof){1, false, -1, -1, -1};
}

static double sweep(void *memory, const tac_sco_relative *motion, double zone_m, tac_sco_work *work)
{
	(void)memory, (void)motion, (void)zone_m, (void)work;
	return 1;
}

static double gap_after(const void *memory, const tac_contact_point *contact, tac_dpose from, tac_dpose to)
{
	(void)memory, (void)from, (void)to;
	return contact->gap;
}

const tac_sco_geometry tac_sco_geometry_nothing = {
	.create = create,
	.destroy = forget,
	.reset = forget,
	.list = list,
	.prove = prove,
	.sweep = sweep,
	.gap_after = gap_after,
};
