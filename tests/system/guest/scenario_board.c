// In the guest: the board on a real kernel. `tactus emulate board` plugs it into a port of vhci_hcd, and
// libusb finds it through the kernel's USB. Its answers must be those of `doptree` and its counters those of
// the model; it is killed and started again during queries.
#include "collision/chip_collider.h"
#include "collision/mesh_shapes.h"
#include "devices/board.h"
#include "rt/clock.h"
#include "tests/system/guest/scenario.h"

#include <string.h>

// Gates are simulated, here on an emulated machine, so they get a smaller tree.
#ifdef TAC_TEST_GATES
#define SEGMENTS 10
#else
#define SEGMENTS 24
#endif
#define POSES       40
#define ROUNDS      2
#define PATIENCE_NS (30 * TAC_NS_PER_S)

static const tac_budget unlimited = {0, 0};
static tac_context *context, *other;
static tac_mesh *mesh;
static tac_rigid poses[POSES];
static tac_overlap expected[POSES];
static int64_t expected_pairs[POSES];

static tac_shape *shape_of(const tac_collider *engine)
{
	tac_shape *shape;
	require(tac_shape_build(engine, mesh, &shape) == TAC_OK, "a shape for %s", engine->name);
	return shape;
}

static tac_overlap query(const tac_collider *engine, tac_context *in, const tac_shape *shape, int pose)
{
	return tac_collider_query(engine, in, shape, shape, &poses[pose], TAC_QUERY_PAIRS, unlimited);
}

// As `query`, but repeats unknown answers of a slow machine.
static tac_overlap query_until_known(const tac_collider *board, const tac_shape *shape, int pose)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	tac_overlap contact;
	while ((contact = query(board, context, shape, pose)) == TAC_OVERLAP_UNKNOWN)
		require(tac_clock_now_ns() < end_ns, "an answer at pose %d", pose);
	return contact;
}

static void compare(const tac_collider *board, const tac_shape *on_board)
{
	const tac_collider *doptree = tac_collider_find("doptree"), *chip = tac_chip_collider();
	tac_shape *tree = shape_of(doptree), *modelled = shape_of(chip);
	uint64_t a[TAC_CHIP_COUNTER_COUNT], b[TAC_CHIP_COUNTER_COUNT];
	int hits = 0;
	other->coherent = false;
	for (int i = 0; i < POSES; i++) {
		expected[i] = query(doptree, other, tree, i);
		expected_pairs[i] = other->pair_count;
		require(query_until_known(board, on_board, i) == expected[i],
			"the answer of doptree at pose %d", i);
		require(context->pair_count == expected_pairs[i], "the pairs of doptree at pose %d", i);
		require(context->counters.overlap_tests == other->counters.overlap_tests &&
				context->counters.transforms == other->counters.transforms,
			"the counts of doptree at pose %d", i);
		tac_board_chip_counters(context, a);
		require(query(chip, other, modelled, i) == expected[i], "the answer of the model at pose %d",
			i);
		tac_chip_collider_counters(other, b);
		require(memcmp(a, b, sizeof a) == 0, "all counters of the model at pose %d", i);
		hits += expected[i] == TAC_OVERLAP_HIT;
	}
	require(hits > POSES / 5 && hits < POSES * 4 / 5, "some poses in contact, not %d of %d", hits, POSES);
	tac_shape_destroy(&tree);
	tac_shape_destroy(&modelled);
	print_line("%d queries, %d in contact: pairs and counts as doptree and the model have them", POSES,
		   hits);
}

// Queries until an answer is unknown, or until one is known, and returns the number of queries before. Known
// answers must be right.
static int query_until(const tac_collider *board, const tac_shape *shape, bool unknown)
{
	const int64_t end_ns = tac_clock_now_ns() + PATIENCE_NS;
	int count = 0;
	for (;; count++) {
		int pose = count % POSES;
		tac_overlap contact = query(board, context, shape, pose);
		require(contact == TAC_OVERLAP_UNKNOWN ||
				(contact == expected[pose] && context->pair_count == expected_pairs[pose]),
			"the right answer or unknown at pose %d", pose);
		if ((contact == TAC_OVERLAP_UNKNOWN) == unknown)
			return count;
		require(tac_clock_now_ns() < end_ns, "a board that is %s", unknown ? "gone" : "back");
		tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_NS_PER_MS);
	}
}

int main(void)
{
	char *const emulate[] = {(char[]){"/bin/tactus"}, (char[]){"emulate"}, (char[]){"board"},
				 (char[]){"--serial"},    (char[]){"G1"},      NULL};
	pid_t device = start(emulate);
	tac_board_def def = tac_board_def_default();
	def.serial = "G1";
	def.connect_ns = def.answer_ns = PATIENCE_NS;
	tac_board *board;
	tac_context_def context_def = tac_context_def_default();
	tac_rng rng = tac_rng_seed(3, 3);
	require(tac_board_create(&def, &board) == TAC_OK, "a board");
	require(tac_context_create(&context_def, &context) == TAC_OK, "a context");
	require(tac_context_create(&context_def, &other) == TAC_OK, "a context");
	require(tac_mesh_build_torus(1.0F, 0.3F, SEGMENTS, SEGMENTS / 2, &mesh) == TAC_OK, "a mesh");
	for (int i = 0; i < POSES; i++)
		poses[i] = (tac_rigid){tac_mat3_from_quat(tac_rng_rotation_f32(&rng)),
				       tac_vec3_scale(tac_rng_unit_f32(&rng), tac_rng_range_f32(&rng, 0, 4))};
	const tac_collider *engine = tac_board_collider(board);
	tac_shape *shape = shape_of(engine);
	compare(engine, shape);
	for (int i = 0; i < ROUNDS; i++) {
		kill_later(device, 50); // the kernel sees the socket close: unplugged
		int answered = query_until(engine, shape, true);
		stop(device);
		device = start(emulate);
		int missed = query_until(engine, shape, false);
		print_line("killed during queries: unknown after %d more answers; back after %d unknown ones",
			   answered, missed);
	}
	tac_board_report report = tac_board_report_read(board);
	require(report.connections == 1 + ROUNDS, "%d connections, not %d", 1 + ROUNDS,
		(int)report.connections);
	tac_shape_destroy(&shape);
	tac_board_destroy(&board);
	tac_mesh_destroy(&mesh);
	tac_context_destroy(&context);
	tac_context_destroy(&other);
	stop(device);
	return 0;
}
