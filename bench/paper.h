// Table 1 of the CollisionChip paper: its counts, its times, and the times by Equation 5 from the counts.
#ifndef TAC_BENCH_PAPER_H
#define TAC_BENCH_PAPER_H

#include "collision/chip_host.h"

#include <stdio.h>

static inline void bench_paper_table1(void)
{
	static const struct {
		const char *object;
		int polygons, aligned, tumbled, checks, hw, sw, worst_aligned, worst_tumbled, worst_hw,
			worst_sw;
	} rows[] = {
		{"Filter", 19326, 12474, 240, 1660, 153, 14936, 542888, 3553, 5638, 717164},
		{"Frontlight", 30075, 389, 73, 68, 15, 524, 7065, 937, 207, 9226},
		{"Lock", 62023, 279, 81, 9, 15, 401, 4854, 877, 178, 6804},
		{"Car body", 60755, 259, 66, 55, 12, 383, 3076, 538, 110, 5390},
		{"Buddha", 125000, 159, 50, 7, 9, 240, 3345, 301, 77, 4074},
	};
	printf("Table 1 from its counts: T = (100 + 10(α-2)) τ cycles of %.2f ns, "
	       "α = aligned/(2 tumbled), τ = tumbled/2\n",
	       TAC_CHIP_CYCLE_NS);
	printf("%-11s %8s | %8s %8s %8s %9s | %8s %8s %8s %9s | %s\n", "object", "polygons", "aligned",
	       "tumbled", "HW µs", "computed", "aligned", "tumbled", "HW µs", "computed", "same");
	int same = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double average =
			tac_chip_equation_5(rows[i].aligned, rows[i].tumbled) * TAC_CHIP_CYCLE_NS * 1e-3;
		double worst = tac_chip_equation_5(rows[i].worst_aligned, rows[i].worst_tumbled) *
			       TAC_CHIP_CYCLE_NS * 1e-3;
		int hits = ((int)(average + 0.5) == rows[i].hw) + ((int)(worst + 0.5) == rows[i].worst_hw);
		printf("%-11s %8d | %8d %8d %8d %9.3f | %8d %8d %8d %9.3f | %d of 2\n", rows[i].object,
		       rows[i].polygons, rows[i].aligned, rows[i].tumbled, rows[i].hw, average,
		       rows[i].worst_aligned, rows[i].worst_tumbled, rows[i].worst_hw, worst, hits);
		same += hits;
	}
	printf("%d of 10 times are the printed ones\n\n", same);
}

#endif
