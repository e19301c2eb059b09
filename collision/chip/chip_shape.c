#include "base/log.h"
#include "collision/chip_host.h"
#include "collision/trees/doptree.h"

#include <stdlib.h>

// Places the shape in the first gap that is large enough.
static bool allocate_range(tac_chip_space *space, tac_chip_shape *shape)
{
	pthread_mutex_lock(&space->lock);
	uint64_t begin = 0;
	tac_chip_shape **link = &space->first;
	while (*link && (*link)->address < begin + shape->count) {
		begin = (uint64_t)(*link)->address + (*link)->count;
		link = &(*link)->next;
	}
	bool fits = begin + shape->count <= (UINT64_C(1) << 32);
	if (fits) {
		shape->address = (uint32_t)begin;
		shape->next = *link;
		*link = shape;
	}
	pthread_mutex_unlock(&space->lock);
	return fits;
}

static void free_range(tac_chip_space *space, const tac_chip_shape *shape)
{
	pthread_mutex_lock(&space->lock);
	for (tac_chip_shape **link = &space->first; *link; link = &(*link)->next)
		if (*link == shape) {
			*link = shape->next;
			break;
		}
	pthread_mutex_unlock(&space->lock);
}

static tac_result build_tree(tac_chip_space *space, tac_chip_shape *shape)
{
	tac_doptree *tree;
	tac_result result = tac_doptree_build(shape->base.mesh, TAC_DOPTREE_R, &tree);
	if (result < 0)
		return result;
	shape->count = tac_chip_tree_bytes(tree);
	shape->extent = tree->extent;
	shape->bytes = aligned_alloc(TAC_CHIP_SHAPE_ALIGN, shape->count);
	if (!shape->bytes || !allocate_range(space, shape)) {
		tac_log(TAC_LOG_ERROR, "%s: no room for the %u bytes of a tree of %d triangles",
			shape->base.collider->name, shape->count, shape->base.mesh->triangle_count);
		result = TAC_ERROR_MEMORY;
	} else {
		tac_chip_tree_encode(tree, shape->address, shape->bytes);
		shape->base.bytes = sizeof *shape + shape->count;
	}
	tac_doptree_destroy(&tree);
	return result;
}

tac_result tac_chip_shape_build(tac_chip_space *space, const tac_collider *collider, const tac_mesh *mesh,
				tac_chip_shape **out_shape)
{
	*out_shape = NULL;
	tac_chip_shape *shape = calloc(1, sizeof *shape);
	if (!shape) {
		tac_log(TAC_LOG_ERROR, "%s: no memory for a shape", collider->name);
		return TAC_ERROR_MEMORY;
	}
	shape->base = (tac_shape){.collider = collider, .mesh = mesh, .bytes = sizeof *shape};
	tac_result result = mesh->triangle_count > 0 ? build_tree(space, shape) : TAC_OK;
	if (result < 0)
		tac_chip_shape_destroy(space, &shape);
	*out_shape = shape;
	return result;
}

void tac_chip_shape_destroy(tac_chip_space *space, tac_chip_shape **shape)
{
	if (!*shape)
		return;
	free_range(space, *shape);
	free((*shape)->bytes);
	free(*shape);
	*shape = NULL;
}

void tac_chip_query_of(const tac_context *context, uint32_t flags, tac_chip_query *out_query)
{
	const tac_chip_shape *moving = (const tac_chip_shape *)context->moving,
			     *fixed = (const tac_chip_shape *)context->fixed;
	*out_query = (tac_chip_query){
		.root_tumbled = moving->address,
		.root_aligned = fixed->address,
		.extent = moving->extent,
		.flags = flags | TAC_CHIP_LAYOUT_R,
		.motion = context->motion,
	};
	if (context->mode != TAC_QUERY_FIRST)
		out_query->flags |= TAC_CHIP_ALL_HITS;
}

tac_counters tac_chip_counters_of(const uint64_t counters[TAC_CHIP_COUNTER_COUNT])
{
	return (tac_counters){
		.overlap_tests = (int64_t)counters[TAC_CHIP_OVERLAP_TESTS],
		.transforms = (int64_t)counters[TAC_CHIP_TUMBLED_NODES],
		.nodes = (int64_t)(counters[TAC_CHIP_ALIGNED_NODES] + counters[TAC_CHIP_TUMBLED_NODES]),
		.triangle_tests = (int64_t)counters[TAC_CHIP_TRI_TESTS_FWD],
	};
}
