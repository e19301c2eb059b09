// Elastic: prepares a soft body. A closed surface is filled with tetrahedra (isosurface stuffing: F. Labelle,
// J. R. Shewchuk, 2007), their stiffness matrix is factorised, and the compliance of the touched part of the
// surface is computed column by column (tissue/compliance.h). That takes seconds to minutes, so the result is
// kept in a cache file that is named after a hash of everything it depends on.
//
// The work is done by another program, `tactus-elastic`, the only one of Tactus that links a sparse solver
// (SuperLU). It is confined to what it is given: a description of the body in a memory file, and a memory
// file for the result, which is fully verified.
//
// The material is linear: right for strains up to some 10 %. Linear elements (order 1) are too stiff for
// Poisson's ratios above 0.47, by up to a third at 0.49; order 2 is not, and takes some twenty times as long.
#ifndef TAC_TISSUE_ELASTIC_H
#define TAC_TISSUE_ELASTIC_H

#include "collision/mesh.h"
#include "tissue/compliance.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_ELASTIC_INSIDE_MAX 8
#define TAC_ELASTIC_FIXED_MAX  8
// The files of a cache folder take at most so many bytes, 4 GB; those that were not used for longest are
// removed.
#define TAC_ELASTIC_CACHE_BYTES (UINT64_C(4) << 30)

// Something inside the body: a nodule, a vessel. Where several overlap, the last one counts.
typedef struct tac_elastic_inside {
	const tac_mesh *mesh; // closed
	double young_Pa, poisson;
} tac_elastic_inside;

// A part of the surface that is fixed: what lies within a closed mesh or, if that is NULL, within a box,
// whose coordinates may be infinite.
typedef struct tac_elastic_fixed {
	const tac_mesh *mesh;
	tac_dvec3 low_m, high_m;
} tac_elastic_fixed;

typedef struct tac_elastic_def {
	const char *name;     // of the body in messages
	const tac_mesh *mesh; // closed; its vertices are those that are shown
	tac_compliance_material material;
	double spacing_m; // of the touched nodes
	int32_t order;    // of the elements: 1, or 2 for nearly incompressible bodies
	// The part of the surface that is touched: a ball. Outside of it the surface is coarser and counts as
	// fixed for whoever reads the compliance, although the body does move there. Radius 0: all of it.
	tac_dvec3 touch_centre_m;
	double touch_radius_m;
	tac_elastic_inside inside[TAC_ELASTIC_INSIDE_MAX];
	int32_t inside_count;
	tac_elastic_fixed fixed[TAC_ELASTIC_FIXED_MAX]; // at least one part must hold the body
	int32_t fixed_count;

	// Where results are kept. NULL: the environment variable TACTUS_CACHE or, if that is unset, tactus in
	// XDG_CACHE_HOME or in .cache of HOME. "": nowhere.
	const char *cache_folder;
	// The program. NULL: the environment variable TACTUS_ELASTIC or, if that is unset, tactus-elastic at
	// the places where the importer is looked for (collision/mesh_load.h).
	const char *program;
} tac_elastic_def;

// A def without a body: spacing 5 mm, order 1, a material of 5,400 Pa with a Poisson's ratio of 0.45.
// Thread: any.
tac_elastic_def tac_elastic_def_default(void);

// Called with the part that is done, 0 to 1, while a body is being computed.
typedef void (*tac_elastic_progress)(void *user, const char *name, double part);

// Installs `fn` for the whole process; NULL: nobody is told. Call it before other threads prepare bodies.
// Thread: setup.
void tac_elastic_set_progress(tac_elastic_progress fn, void *user);

// The hash that the cache file of this body is named after: of the surfaces, the materials, the options and
// the version of the method, not of the name. 0 without memory.
// Thread: setup.
uint64_t tac_elastic_hash(const tac_elastic_def *def);

// Writes the path of the cache file; false if there is none.
// Thread: setup.
bool tac_elastic_cache_path(const tac_elastic_def *def, char *out_path, size_t size);

// Opens the body's compliance from the cache or computes it. A cache file that is damaged is reported in one
// line and replaced; one that cannot be written is reported too, and the result is used all the same. Fails
// with one log line: TAC_ERROR_ARGUMENT (a value out of range, an open mesh, a body that nothing holds, more
// nodes than TAC_COMPLIANCE_NODES_MAX), TAC_ERROR_UNSUPPORTED (no program), TAC_ERROR_SYSTEM,
// TAC_ERROR_MEMORY. The caller owns *out_compliance; it is NULL on failure.
// Thread: setup. Several threads may prepare at once.
tac_result tac_elastic_prepare(const tac_elastic_def *def, tac_compliance **out_compliance);

#ifdef __cplusplus
}
#endif

#endif
