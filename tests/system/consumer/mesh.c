// Loads the mesh file that is its argument; exit code 0 if that has one triangle.
#include "collision/mesh_load.h"

int main(int argc, char **argv)
{
	tac_mesh *mesh;
	return argc != 2 || tac_mesh_load(argv[1], 0, &mesh) != TAC_OK || mesh->triangle_count != 1;
}
