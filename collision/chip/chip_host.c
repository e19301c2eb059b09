#include "collision/chip_host.h"

#include "base/assert.h"
#include "collision/chip/units.h"
#include "collision/trees/doptree.h"

#include <string.h>

_Static_assert(sizeof(tac_doptree_node) == TAC_CHIP_NODE_BYTES, "trees are built in the chip's layout");

uint32_t tac_chip_tree_bytes(const tac_doptree *tree)
{
	size_t nodes = (size_t)tree->node_count + (size_t)tree->record_count;
	size_t bytes = (nodes * TAC_CHIP_NODE_BYTES + TAC_CHIP_PAIR_BYTES - 1) / TAC_CHIP_PAIR_BYTES *
		       TAC_CHIP_PAIR_BYTES;
	TAC_ASSERT(bytes <= UINT32_MAX);
	return (uint32_t)bytes;
}

void tac_chip_tree_encode(const tac_doptree *tree, uint32_t address, void *out)
{
	TAC_ASSERT(address % TAC_CHIP_PAIR_BYTES == 0);
	unsigned char *bytes = out;
	memset(bytes, 0, tac_chip_tree_bytes(tree));
	for (int32_t i = 0; i < tree->node_count + tree->record_count; i++) {
		tac_doptree_node node = tree->nodes[i];
		bool is_record = i >= tree->node_count ||
				 (node.type == TAC_DOPTREE_LEAF && tree->layout == TAC_DOPTREE_P);
		if (!is_record && node.type != TAC_DOPTREE_EMPTY) {
			node.link += address;
			node.owner += address;
		}
		memcpy(bytes + (size_t)i * TAC_CHIP_NODE_BYTES, &node, TAC_CHIP_NODE_BYTES);
	}
}

static void add_write(tac_chip_batch *batch, uint32_t offset, uint32_t value)
{
	TAC_ASSERT(batch->count < TAC_CHIP_BATCH_MAX);
	batch->writes[batch->count].offset = offset;
	batch->writes[batch->count].value = value;
	batch->count++;
}

static void add_row(tac_chip_batch *batch, int line, float x, float y, float z, float w)
{
	const float row[4] = {x, y, z, w};
	for (int k = 0; k < 4; k++)
		add_write(batch, (uint32_t)(TAC_CHIP_MATRIX + 16 * line + 4 * k), tac_chip_bits(row[k]));
}

static void add_line(tac_chip_batch *batch, int line, int i, int k, int m, int n)
{
	add_write(batch, (uint32_t)(TAC_CHIP_CORR + 4 * line), (uint32_t)(i | k << 5 | m << 10 | n << 15));
}

static int last_word(const tac_dop_motion *rows, int i)
{
	int32_t a = rows->index[0][i], b = rows->index[1][i], c = rows->index[2][i];
	int32_t last = a > b ? a : b;
	return last > c ? last : c;
}

// Adds the rows in the order in which their words are complete. One word arrives each cycle, so the row at
// position s can be issued s + delay cycles after the first word if its last word has arrived by then.
static void add_dop_rows(tac_chip_batch *batch, const tac_dop_motion *rows)
{
	int position = 0, delay = 12;
	for (int last = 0; last < TAC_CHIP_ROWS; last++)
		for (int i = 0; i < TAC_CHIP_ROWS; i++) {
			if (last_word(rows, i) != last)
				continue;
			delay = last + 1 - position > delay ? last + 1 - position : delay;
			add_line(batch, position++, i, rows->index[0][i], rows->index[1][i],
				 rows->index[2][i]);
		}
	add_write(batch, TAC_CHIP_AG2_DELAY, (uint32_t)delay);
	for (int i = 0; i < TAC_CHIP_ROWS; i++)
		add_row(batch, i, rows->weight[0][i], rows->weight[1][i], rows->weight[2][i],
			rows->offset[i]);
}

static void add_rigid(tac_chip_batch *batch, const tac_rigid *motion)
{
	tac_dmat3 back = tac_dmat3_inverse(tac_dmat3_from_mat3(motion->R));
	tac_dvec3 origin = tac_dmat3_apply(back, tac_dvec3_neg(tac_dvec3_from_vec3(motion->t)));
	for (int r = 0; r < 3; r++) {
		const float *row = motion->R.m[r];
		add_row(batch, TAC_CHIP_MATRIX_FORWARD + r, row[0], row[1], row[2],
			tac_vec3_get(motion->t, r));
	}
	for (int r = 0; r < 3; r++)
		add_row(batch, TAC_CHIP_MATRIX_REVERSE + r, (float)back.m[r][0], (float)back.m[r][1],
			(float)back.m[r][2], (float)tac_dvec3_get(origin, r));
}

// Nine rows for each of three transforms, five operand pairs for each of three edges.
static void add_triangle_lines(tac_chip_batch *batch)
{
	for (int l = 0; l < 9; l++) {
		int v = l - l % 3;
		add_line(batch, TAC_CHIP_CORR_FORWARD + l, 9 + l, v, v + 1, v + 2);
		add_line(batch, TAC_CHIP_CORR_REVERSE + l, 9 + l, v, v + 1, v + 2);
		add_line(batch, TAC_CHIP_CORR_LEAF + l, l, 9 + v, 10 + v, 11 + v);
	}
	for (int edge = 0; edge < 3; edge++) {
		int p = 3 * edge, q = 3 * ((edge + 1) % 3), line = TAC_CHIP_CORR_IT + 5 * edge;
		add_line(batch, line, p, q + 2, 0, 0);
		add_line(batch, line + 1, q, p + 2, 0, 0);
		add_line(batch, line + 2, p + 1, q + 2, 0, 0);
		add_line(batch, line + 3, q + 1, p + 2, 0, 0);
		add_line(batch, line + 4, q + 2, p + 2, 0, 0);
	}
}

void tac_chip_query_encode(const tac_chip_query *query, tac_chip_batch *out_batch)
{
	tac_dop_motion rows;
	tac_dop_motion_init(&rows, &query->motion, query->extent);
	out_batch->count = 0;
	add_write(out_batch, TAC_CHIP_CTRL, TAC_CHIP_RESET);
	add_dop_rows(out_batch, &rows);
	add_rigid(out_batch, &query->motion);
	add_triangle_lines(out_batch);
	add_write(out_batch, TAC_CHIP_ROOT_TUMBLED, query->root_tumbled);
	add_write(out_batch, TAC_CHIP_ROOT_ALIGNED, query->root_aligned);
	add_write(out_batch, TAC_CHIP_CTRL, query->flags | TAC_CHIP_START);
}

void tac_chip_apply(tac_chip *chip, const tac_chip_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++)
		tac_chip_write(chip, batch->writes[i].offset, batch->writes[i].value);
}

tac_overlap tac_chip_answer(uint32_t status)
{
	if ((status & (TAC_CHIP_BUSY | TAC_CHIP_DONE)) != TAC_CHIP_DONE || status >> TAC_CHIP_ERR_SHIFT != 0)
		return TAC_OVERLAP_UNKNOWN;
	return (status & TAC_CHIP_HIT) != 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
}

void tac_chip_counters_read(tac_chip *chip, uint64_t out_counters[TAC_CHIP_COUNTER_COUNT])
{
	for (uint32_t c = 0; c < TAC_CHIP_COUNTER_COUNT; c++) {
		uint64_t low = tac_chip_read(chip, TAC_CHIP_COUNTERS + 8 * c);
		out_counters[c] = low | (uint64_t)tac_chip_read(chip, TAC_CHIP_COUNTERS + 8 * c + 4) << 32;
	}
}

const char *tac_chip_counter_name(tac_chip_counter counter)
{
	static const char *const names[TAC_CHIP_COUNTER_COUNT] = {
		"cycles_total", "cycles_xform",  "cycles_compare", "cycles_tri",     "stall_sdram",
		"lists",        "tumbled_nodes", "aligned_pairs",  "aligned_nodes",  "overlap_tests",
		"overlaps",     "tri_tests_fwd", "tri_tests_rev",  "it_edges",       "it_skipped",
		"hits",         "dotadd_ops",    "sdram_bursts",   "sdram_bytes",    "sram_reads",
		"sram_writes",  "max_level",     "max_list",       "max_sram_words",
	};
	return counter < TAC_CHIP_COUNTER_COUNT ? names[counter] : "unknown";
}

double tac_chip_equation_5(double overlap_tests, double tumbled_nodes)
{
	if (tumbled_nodes == 0.0)
		return 0.0;
	double alpha = overlap_tests / (2.0 * tumbled_nodes), lists = tumbled_nodes / 2.0;
	return (100.0 + (alpha - 2.0) * 10.0) * lists;
}
