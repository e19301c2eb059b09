// Nets: the patch of one brick (tissue/surface.h).
#ifndef TAC_TISSUE_SURFACE_NETS_H
#define TAC_TISSUE_SURFACE_NETS_H

#include "tissue/field/bricks.h"
#include "tissue/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

// Corner c of a cell has the offsets c & 1, c >> 1 & 1, c >> 2 & 1. Edge e lies along axis a = e / 4, from
// the corner that is offset by e & 1 along the axis after a, and by e >> 1 & 1 along the next. Face f is the
// one across axis f / 2, on its upper side if f is odd.
#define NETS_EDGES 12

// How the surface crosses a cell whose corners i with bit i are material. A face whose corners alternate can
// be crossed in two ways: by default each corner with material is cut off. The sheets of the cell are the
// cycles of crossed edges.
typedef struct tac_nets_case {
	int8_t sheet[2][NETS_EDGES]; // of each edge, -1: not crossed; [1]: with `twice` crossed the other way
	int8_t twice;                // the face that one sheet crosses twice; -1: none
} tac_nets_case;

typedef struct tac_nets_table {
	tac_nets_case cases[256];
} tac_nets_table;

// Thread: any.
void tac_nets_table_init(tac_nets_table *table);

// Grows as patches are added; zero is empty.
typedef struct tac_nets {
	tac_surface_patch *patches;
	tac_surface_vertex *vertices;
	uint16_t *indices;
	int32_t patch_count, vertex_count, index_count;
	int32_t patch_room, vertex_room, index_room;
} tac_nets;

// Adds the patch of a brick. False: no memory. Thread: any.
bool tac_nets_add(tac_nets *nets, const tac_nets_table *table, const tac_field *field, int32_t brick);

// Thread: any.
void tac_nets_fini(tac_nets *nets);

#ifdef __cplusplus
}
#endif

#endif
