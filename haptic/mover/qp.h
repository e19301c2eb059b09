// QP: the point closest to the origin that satisfies a set of inequalities in six dimensions,
//
//   minimise 1/2 |y|^2   subject to   A y >= c   (rows of unit length),
//
// by the dual active-set method (D. Goldfarb and A. Idnani, "A numerically stable dual method for solving
// strictly convex quadratic programs", Math. Programming 27, 1983) with the identity as Hessian. It starts at
// y = 0 and adds the most violated row, ties to the lowest index, so that equal input gives equal output. At
// most six rows are active; repeated and dependent rows replace each other.
#ifndef TAC_HAPTIC_MOVER_QP_H
#define TAC_HAPTIC_MOVER_QP_H

#include <stdint.h>

#define TAC_QP_SIZE 6
// Limit, apart from those for the guess; the hardest problem of 64 rows in test_qp takes 40.
#define TAC_QP_ITERATIONS 60

typedef enum tac_qp_status {
	TAC_QP_SOLVED,
	TAC_QP_INFEASIBLE, // no y satisfies all rows; y and the multipliers are those of the last iteration
	TAC_QP_LIMIT,      // TAC_QP_ITERATIONS reached: y satisfies the active rows only
} tac_qp_status;

typedef struct tac_qp_result {
	tac_qp_status status;
	int32_t iterations; // after those for the guess
	int32_t active_count;
	int32_t active[TAC_QP_SIZE];    // rows that hold with equality
	double multiplier[TAC_QP_SIZE]; // of the active rows, >= 0: y = sum of multiplier times row
	double y[TAC_QP_SIZE];
} tac_qp_result;

// Solves the problem of `count` (0 is allowed) unit `rows` with their `bounds`. `guess` names different rows
// that may be active, at most TAC_QP_SIZE: those of a similar problem. A good guess saves most iterations,
// and none changes y; of dependent rows that hold it, others may have the multipliers. Thread: RT.
tac_qp_result tac_qp_solve(const double (*rows)[TAC_QP_SIZE], const double *bounds, int32_t count,
			   const int32_t *guess, int32_t guess_count);

#endif
