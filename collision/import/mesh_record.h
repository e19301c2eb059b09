// Mesh record: the binary format in which the importer process returns a mesh, or the reason for its failure.
// Byte order and layout are native: both ends come from one build on one machine. The reader trusts nothing,
// because the writer has parsed an untrusted file: sizes, counts, names and a checksum are verified here,
// indices and coordinates in tac_mesh_build.
#ifndef TAC_COLLISION_IMPORT_MESH_RECORD_H
#define TAC_COLLISION_IMPORT_MESH_RECORD_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_MESH_RECORD_MESSAGE 400

// The file descriptor of the memory file that the importer writes its record to.
#define TAC_MESH_RECORD_FD 3

typedef struct tac_mesh_record {
	tac_mesh_def def;                      // arrays point into the decoded bytes, names into `names`
	char message[TAC_MESH_RECORD_MESSAGE]; // one printable line: the reason for a failed decoding
	const char **surface_names;            // owned
	char *names;                           // owned: printable UTF-8
} tac_mesh_record;

// The size in bytes of a record of `def`, which must have triangle_surface and surface_names.
// Thread: any.
size_t tac_mesh_record_size(const tac_mesh_def *def);

// Writes the record of `def` to `bytes`, tac_mesh_record_size(def) of them, 8-byte aligned.
// Thread: any.
void tac_mesh_record_encode(const tac_mesh_def *def, void *bytes);

// The size in bytes of a record without a mesh.
// Thread: any.
size_t tac_mesh_record_failure_size(void);

// Writes a record of a failure with its reason to `bytes`, tac_mesh_record_failure_size() of them.
// Thread: any.
void tac_mesh_record_encode_failure(const char *message, void *bytes);

// How many bytes of a record in a file of `size` bytes are worth reading, given the first `available` of
// them, at most tac_mesh_record_failure_size(): all if its header announces this size, otherwise as many as
// decoding needs to refuse it. So a file of many gigabytes costs nothing unless its header says so.
// Thread: any.
size_t tac_mesh_record_readable_size(const void *bytes, size_t available, size_t size);

// Reads a record of `size` bytes, 8-byte aligned, which must outlive *out_record. Fails with TAC_ERROR_IO for
// the record of a failure, TAC_ERROR_FORMAT for anything that is not a valid record, or TAC_ERROR_MEMORY.
// Then the message is set and nothing needs to be released. Thread: any but RT (allocates the names).
tac_result tac_mesh_record_decode(const void *bytes, size_t size, tac_mesh_record *out_record);

// Frees what decoding allocated.
// Thread: any but RT.
void tac_mesh_record_release(tac_mesh_record *record);

#ifdef __cplusplus
}
#endif

#endif
