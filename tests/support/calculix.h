// The same mesh for CalculiX (Debian's calculix-ccx), as an oracle for finite elements.
#ifndef TAC_TESTS_SUPPORT_CALCULIX_H
#define TAC_TESTS_SUPPORT_CALCULIX_H

#include "tissue/elastic/elastic.h"
#include "unity.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct calculix {
	char folder[64];
	FILE *input;
} calculix;

static inline bool calculix_installed(void)
{
	return system("command -v ccx >/dev/null") == 0;
}

// The first element of the same material.
static inline int32_t calculix_material(const elastic_model *m, int32_t element)
{
	int32_t first = 0;
	while (m->elements[first].lambda_Pa != m->elements[element].lambda_Pa ||
	       m->elements[first].mu_Pa != m->elements[element].mu_Pa)
		first++;
	return first;
}

// Begins the input with nodes, elements, their materials, and what is held. Steps follow. C3D10 has
// its middles in another order than we have. CalculiX reads 20 characters of a number.
static inline calculix calculix_begin(const elastic_model *m)
{
	static const int order[10] = {0, 1, 2, 3, 4, 7, 5, 6, 8, 9};
	calculix c = {.folder = "/tmp/test_calculix.XXXXXX"};
	char name[96];
	TEST_ASSERT_NOT_NULL(mkdtemp(c.folder));
	snprintf(name, sizeof name, "%s/body.inp", c.folder);
	FILE *out = c.input = fopen(name, "w");
	TEST_ASSERT_NOT_NULL(out);
	fprintf(out, "*NODE, NSET=ALL\n");
	for (int32_t n = 0; n < m->node_count; n++)
		fprintf(out, "%d, %.12g, %.12g, %.12g\n", n + 1, m->nodes[n].x, m->nodes[n].y, m->nodes[n].z);
	for (int32_t e = 0; e < m->element_count; e++) {
		fprintf(out, "*ELEMENT, TYPE=%s, ELSET=E%d\n%d", m->order == 1 ? "C3D4" : "C3D10",
			calculix_material(m, e), e + 1);
		for (int k = 0; k < tac_elastic_element_nodes(m); k++)
			fprintf(out, ", %d", m->elements[e].node[order[k]] + 1);
		fprintf(out, "\n");
	}
	fprintf(out, "*NSET, NSET=HELD\n");
	for (int32_t n = 0; n < m->node_count; n++) {
		if (m->fixed[n])
			fprintf(out, "%d,\n", n + 1);
	}
	fprintf(out, "*BOUNDARY\nHELD, 1, 3\n");
	for (int32_t e = 0; e < m->element_count; e++) {
		const double lambda = m->elements[e].lambda_Pa, mu = m->elements[e].mu_Pa;
		if (calculix_material(m, e) != e)
			continue;
		fprintf(out, "*MATERIAL, NAME=M%d\n*ELASTIC\n%.12g, %.12g\n", e,
			mu * (3 * lambda + 2 * mu) / (lambda + mu), lambda / (2 * (lambda + mu)));
		fprintf(out, "*SOLID SECTION, ELSET=E%d, MATERIAL=M%d\n", e, e);
	}
	return c;
}

// Runs it; the file with what the steps print, for the caller to close.
static inline FILE *calculix_run(calculix *c)
{
	char text[160];
	fclose(c->input);
	snprintf(text, sizeof text, "cd %s && OMP_NUM_THREADS=1 ccx body >/dev/null 2>&1", c->folder);
	TEST_ASSERT_EQUAL(0, system(text));
	snprintf(text, sizeof text, "%s/body.dat", c->folder);
	FILE *results = fopen(text, "r");
	TEST_ASSERT_NOT_NULL(results);
	return results;
}

// The next line with a node and its displacement, m. False at the end.
static inline bool calculix_next(FILE *results, int32_t *out_node, tac_dvec3 *out_u)
{
	char line[256];
	int n;
	double x, y, z;
	while (fgets(line, sizeof line, results)) {
		if (sscanf(line, "%d %lf %lf %lf", &n, &x, &y, &z) == 4) {
			*out_node = n - 1;
			*out_u = tac_dvec3_make(x, y, z);
			return true;
		}
	}
	return false;
}

static inline void calculix_end(calculix *c)
{
	char command[96];
	snprintf(command, sizeof command, "rm -r %s", c->folder);
	TEST_ASSERT_EQUAL(0, system(command));
}

#endif
