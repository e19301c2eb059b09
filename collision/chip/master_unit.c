// The Master Controller: Algorithm 2 of the extended paper, completed for leaves that meet inner nodes
// (docs/collisionchip.md). The tumbled siblings of one pair stay in the Results Register Bank while all
// aligned nodes of their list are compared with them; a new list for each sibling receives those that overlap
// it.
#include "collision/chip/units.h"

static bool has_dop(const tac_chip *chip, uint32_t type)
{
	return type == TAC_CHIP_INNER ||
	       (type == TAC_CHIP_LEAF && (chip->master.ctrl & TAC_CHIP_LAYOUT_R) != 0);
}

static uint32_t pair_of(uint32_t node)
{
	return node & ~(uint32_t)(TAC_CHIP_PAIR_BYTES - 1);
}

static uint32_t mask_of(uint32_t node)
{
	return UINT32_C(1) << (node / TAC_CHIP_NODE_BYTES & 1);
}

static void finish(tac_chip *chip)
{
	chip->master.state = TAC_CHIP_IDLE;
	chip->status = (chip->status & ~TAC_CHIP_BUSY) | TAC_CHIP_DONE;
}

// Updates the cycle counters. With EQ5 they follow from the counts: T = 40 tumbled + 2.5 overlap tests, which
// is Equation 5 with the α that Table 1 was computed with. With SCHED they are sums of events.
static void update_cycles(tac_chip *chip)
{
	uint64_t *c = chip->counters;
	if ((chip->master.ctrl & TAC_CHIP_SCHED) == 0) {
		c[TAC_CHIP_CYCLES_XFORM] = 40 * c[TAC_CHIP_TUMBLED_NODES];
		c[TAC_CHIP_CYCLES_COMPARE] = (5 * c[TAC_CHIP_OVERLAP_TESTS] + 1) / 2;
	}
	c[TAC_CHIP_CYCLES_TOTAL] =
		c[TAC_CHIP_CYCLES_XFORM] + c[TAC_CHIP_CYCLES_COMPARE] + c[TAC_CHIP_CYCLES_TRI];
}

// The event schedule for the pairs of a list (docs/collisionchip.md, Time). The first two pairs are
// prefetched and take 4 cycles a node, and the first node has arrived when the transformation ends. Each
// further pair takes 8 beats and the paper's average bank penalty of 2. A scan for a single leaf begins with
// a random read.
static uint64_t pair_cycles(const tac_chip_master *master)
{
	if (master->scan_sibling != TAC_CHIP_BOTH)
		return master->scan_pairs == 1 ? TAC_CHIP_SDRAM_FIRST_BEAT + TAC_CHIP_SDRAM_BEATS + 4 : 10;
	return master->scan_pairs == 1 ? 4 : master->scan_pairs == 2 ? 8 : 10;
}

static void begin_scan(tac_chip_master *master, tac_chip_list source, int sibling)
{
	master->source = source;
	master->position = 0;
	master->scan_pairs = 0;
	master->scan_sibling = sibling;
	master->state = TAC_CHIP_SCAN;
}

void tac_chip_master_start(tac_chip *chip)
{
	tac_chip_master *master = &chip->master;
	*master = (tac_chip_master){.ctrl = chip->ctrl};
	if (chip->root_tumbled % TAC_CHIP_NODE_BYTES != 0 || chip->root_aligned % TAC_CHIP_NODE_BYTES != 0 ||
	    !tac_chip_decode(chip)) {
		tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
		return;
	}
	chip->schedule = tac_chip_schedule_run(chip->lines, (int)chip->ag2_delay);
	if (chip->schedule.early_reads > 0 || chip->schedule.missing_results != 0) {
		tac_chip_raise(chip, TAC_CHIP_ERR_SCHEDULE);
		return;
	}
	// The roots form the first list, each alone in its pair.
	tac_chip_stack_reset(&chip->stack, chip->sram_words);
	master->tumbled = pair_of(chip->root_tumbled);
	master->tumbled_mask = mask_of(chip->root_tumbled);
	master->source = tac_chip_list_begin(&chip->stack, 0);
	if (tac_chip_list_append(chip, &master->source,
				 pair_of(chip->root_aligned) | mask_of(chip->root_aligned)))
		master->state = TAC_CHIP_LOAD;
}

static void load(tac_chip *chip)
{
	tac_chip_master *master = &chip->master;
	const uint32_t *pair = tac_chip_fetch(chip, master->tumbled, TAC_CHIP_PAIR_BYTES);
	if (!pair || !tac_chip_frame_begin(chip))
		return;
	int transformed = 0;
	for (uint32_t x = 0; x < 2; x++) {
		const uint32_t *node = pair + x * TAC_CHIP_NODE_BYTES / sizeof *pair;
		uint32_t type =
			(master->tumbled_mask >> x & 1) != 0 ? node[TAC_CHIP_WORD_TYPE] : TAC_CHIP_EMPTY;
		master->sibling[x].type = type;
		master->sibling[x].link = node[TAC_CHIP_WORD_LINK];
		master->sibling[x].address = master->tumbled + x * TAC_CHIP_NODE_BYTES;
		if (type > TAC_CHIP_EMPTY) {
			tac_chip_raise(chip, TAC_CHIP_ERR_TYPE);
			return;
		}
		if (type == TAC_CHIP_EMPTY)
			continue;
		transformed++;
		chip->counters[TAC_CHIP_TUMBLED_NODES]++;
		// A leaf without a DOP goes through the pipeline, too; its result is not used.
		if (!tac_chip_transform(chip, node, &chip->results[x]) && has_dop(chip, type)) {
			tac_chip_raise(chip, TAC_CHIP_ERR_NAN);
			return;
		}
	}
	chip->counters[TAC_CHIP_LISTS]++;
	if ((master->ctrl & TAC_CHIP_SCHED) != 0 && transformed > 0)
		chip->counters[TAC_CHIP_CYCLES_XFORM] +=
			(uint64_t)chip->schedule.sibling[transformed - 1].results_end;
	for (uint32_t x = 0; x < 2; x++)
		master->target[x] = tac_chip_list_begin(&chip->stack, x);
	begin_scan(master, master->source, TAC_CHIP_BOTH);
}

static uint32_t record_of(const tac_chip *chip, uint32_t address, uint32_t link)
{
	return (chip->master.ctrl & TAC_CHIP_LAYOUT_R) != 0 ? link : address;
}

// Tests the triangles of two leaves. False if the query is over.
static bool test_leaves(tac_chip *chip, uint32_t x, uint32_t address, uint32_t link)
{
	tac_chip_master *master = &chip->master;
	uint32_t tumbled = record_of(chip, master->sibling[x].address, master->sibling[x].link);
	uint32_t aligned = record_of(chip, address, link);
	if (tac_chip_triangles(chip, tumbled, aligned)) {
		tac_chip_report(chip, tac_chip_at(chip, tumbled)[TAC_CHIP_WORD_LINK],
				tac_chip_at(chip, aligned)[TAC_CHIP_WORD_LINK]);
		if ((master->ctrl & TAC_CHIP_ALL_HITS) == 0 && master->state != TAC_CHIP_IDLE)
			finish(chip);
	}
	return master->state != TAC_CHIP_IDLE;
}

// Compares an aligned node with sibling x. False if the query is over.
static bool compare(tac_chip *chip, uint32_t x, uint32_t word, uint32_t b, uint32_t type, uint32_t link)
{
	tac_chip_master *master = &chip->master;
	uint32_t tumbled_type = master->sibling[x].type;
	if (type == TAC_CHIP_LEAF && tumbled_type == TAC_CHIP_LEAF) {
		chip->counters[TAC_CHIP_OVERLAPS]++;
		return test_leaves(chip, x, pair_of(word) + b * TAC_CHIP_NODE_BYTES, link);
	}
	if (has_dop(chip, type) && has_dop(chip, tumbled_type) && !tac_chip_overlap(chip, &chip->results[x]))
		return true;
	chip->counters[TAC_CHIP_OVERLAPS]++;
	if (type == TAC_CHIP_INNER && link % TAC_CHIP_PAIR_BYTES != 0) {
		tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS); // its low bits would be read as a mask
		return false;
	}
	// An aligned leaf is kept for the children of a tumbled inner node.
	uint32_t next = type == TAC_CHIP_INNER ? link | 3 : pair_of(word) | UINT32_C(1) << b;
	return tac_chip_list_append(chip, &master->target[x], next);
}

static void scan(tac_chip *chip)
{
	tac_chip_master *master = &chip->master;
	if (master->position == master->source.length) {
		if (master->scan_sibling == TAC_CHIP_BOTH) {
			master->scan_sibling = 0;
		} else {
			// The list just scanned is on top of one side, the new one on top of the other.
			tac_chip_list_release(&chip->stack, &master->source);
		}
		master->state = TAC_CHIP_LEAF_SCAN;
		return;
	}
	uint32_t word = tac_chip_list_get(chip, &master->source, master->position++);
	const uint32_t *pair = tac_chip_fetch(chip, pair_of(word), TAC_CHIP_PAIR_BYTES);
	if (!pair)
		return;
	chip->counters[TAC_CHIP_ALIGNED_PAIRS]++;
	master->scan_pairs++;
	if ((master->ctrl & TAC_CHIP_SCHED) != 0)
		chip->counters[TAC_CHIP_CYCLES_COMPARE] += pair_cycles(master);
	uint32_t bank = word / TAC_CHIP_PAIR_BYTES % TAC_CHIP_SDRAM_BANKS;
	// The waits of the first two pairs are hidden by the transformation.
	if (master->scan_pairs > 2 && bank == master->last_bank)
		chip->counters[TAC_CHIP_STALL_SDRAM] += TAC_CHIP_SDRAM_SAME_BANK;
	master->last_bank = bank;

	for (uint32_t b = 0; b < 2; b++) {
		const uint32_t *node = pair + b * TAC_CHIP_NODE_BYTES / sizeof *pair;
		uint32_t type = node[TAC_CHIP_WORD_TYPE];
		if ((word >> b & 1) == 0 || type == TAC_CHIP_EMPTY)
			continue;
		if (type > TAC_CHIP_EMPTY) {
			tac_chip_raise(chip, TAC_CHIP_ERR_TYPE);
			return;
		}
		chip->counters[TAC_CHIP_ALIGNED_NODES]++;
		if (has_dop(chip, type) && !tac_chip_load_e(chip, node)) {
			tac_chip_raise(chip, TAC_CHIP_ERR_NAN);
			return;
		}
		bool tested[2];
		for (uint32_t x = 0; x < 2; x++) { // both at once, even if the first ends the query
			tested[x] = master->sibling[x].type != TAC_CHIP_EMPTY &&
				    (master->scan_sibling == TAC_CHIP_BOTH || master->scan_sibling == (int)x);
			chip->counters[TAC_CHIP_OVERLAP_TESTS] += tested[x];
		}
		for (uint32_t x = 0; x < 2; x++)
			if (tested[x] && !compare(chip, x, word, b, type, node[TAC_CHIP_WORD_LINK]))
				return;
	}
}

// A tumbled leaf stays in the bank until its list is used up, level by level of the aligned tree.
static void leaf_scan(tac_chip *chip)
{
	tac_chip_master *master = &chip->master;
	for (; master->scan_sibling < TAC_CHIP_BOTH; master->scan_sibling++) {
		tac_chip_list *target = &master->target[master->scan_sibling];
		if (master->sibling[master->scan_sibling].type != TAC_CHIP_LEAF)
			continue;
		if (target->length > 0) {
			tac_chip_list source = *target;
			*target = tac_chip_list_begin(&chip->stack, 1 - source.side);
			begin_scan(master, source, master->scan_sibling);
			return;
		}
		*target = tac_chip_list_begin(&chip->stack,
					      (uint32_t)master->scan_sibling); // on its side again
	}
	master->state = TAC_CHIP_NEXT;
}

static void next(tac_chip *chip)
{
	tac_chip_master *master = &chip->master;
	const tac_chip_list *lists = master->target;
	master->tumbled_mask = 3;
	master->state = TAC_CHIP_LOAD;
	for (uint32_t x = 0; x < 2; x++)
		if (lists[x].length > 0 && master->sibling[x].link % TAC_CHIP_PAIR_BYTES != 0) {
			tac_chip_raise(chip, TAC_CHIP_ERR_ADDRESS);
			return;
		}
	if (lists[0].length > 0 || lists[1].length > 0) {
		uint32_t x = lists[0].length > 0 ? 0 : 1;
		uint32_t second = lists[1].length > 0 ? master->sibling[1].link : 0;
		tac_chip_frame_push(chip, second, x == 1, lists);
		master->tumbled = master->sibling[x].link;
		master->source = lists[x];
		return;
	}
	tac_chip_frame_cancel(chip);
	if (!tac_chip_frame_return(chip, &master->tumbled, &master->source))
		finish(chip);
}

void tac_chip_master_step(tac_chip *chip)
{
	switch (chip->master.state) {
	case TAC_CHIP_IDLE:
		return;
	case TAC_CHIP_LOAD:
		load(chip);
		break;
	case TAC_CHIP_SCAN:
		scan(chip);
		break;
	case TAC_CHIP_LEAF_SCAN:
		leaf_scan(chip);
		break;
	case TAC_CHIP_NEXT:
		next(chip);
		break;
	}
	update_cycles(chip);
}
