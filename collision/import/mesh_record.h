// Mesh record: the bytes in which the importer process hands over a mesh, or the reason why there is none.
// Native byte order and layout: both ends are of one build on one machine. The reader trusts none of it,
// because the writer has parsed a stranger's file: sizes, counts, names and a checksum are verified here,
// indices and coordinates in tac_mesh_build.
#ifndef TAC_COLLISION_MESH_RECORD_H
#define TAC_COLLISION_MESH_RECORD_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_MESH_RECORD_MESSAGE 400

// The descriptor on which the importer finds the memory file to write its record to.
#define TAC_MESH_RECORD_FD 3

typedef struct tac_mesh_record {
	tac_mesh_def def;                      // arrays point into the decoded bytes, names into `names`
	char message[TAC_MESH_RECORD_MESSAGE]; // one printable line: why decoding failed
	const char **surface_names;            // owned
	char *names;                           // owned: printable UTF-8
} tac_mesh_record;

// The bytes that a record of `def` takes, which must have triangle_surface and surface_names.
// Thread: any.
size_t tac_mesh_record_size(const tac_mesh_def *def);

// Writes the record of `def` to `bytes`, tac_mesh_record_size(def) of them, 8-byte aligned.
// Thread: any.
void tac_mesh_record_encode(const tac_mesh_def *def, void *bytes);

// The bytes that a record without a mesh takes.
// Thread: any.
size_t tac_mesh_record_failure_size(void);

// Writes the record that says why there is no mesh to `bytes`, tac_mesh_record_failure_size() of them.
// Thread: any.
void tac_mesh_record_encode_failure(const char *message, void *bytes);

// Reads a record of `size` bytes, 8-byte aligned, which must outlive *out_record. TAC_ERROR_IO: the record
// says that there is no mesh; TAC_ERROR_FORMAT: it is not a record; TAC_ERROR_MEMORY. In all three the
// message is set and nothing needs to be released. Thread: any but RT (allocates the names).
tac_result tac_mesh_record_decode(const void *bytes, size_t size, tac_mesh_record *out_record);

// Frees what decoding allocated.
// Thread: any but RT.
void tac_mesh_record_release(tac_mesh_record *record);

#ifdef __cplusplus
}
#endif

#endif
