// Mesh files: the files that assimp opens while it reads a mesh. The mesh itself is an open descriptor
// (TAC_SANDBOX_FILE_FD); every other file is opened below the mesh's folder (TAC_SANDBOX_FOLDER_FD), without
// following symbolic links. A reference to anything else ends the import with a message that names it.
#ifndef TAC_COLLISION_IMPORT_MESH_FILES_H
#define TAC_COLLISION_IMPORT_MESH_FILES_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct aiFileIO;

// Ends the import with a message.
typedef void (*tac_mesh_files_fail)(const char *message);

// The files of the mesh `name`, for assimp. Both arguments must outlive it. Thread: of a process with one
// thread.
struct aiFileIO *tac_mesh_files(const char *name, tac_mesh_files_fail fail);

// A new stream from the beginning of the mesh itself; NULL without memory.
FILE *tac_mesh_files_open_mesh(void);

#ifdef __cplusplus
}
#endif

#endif
