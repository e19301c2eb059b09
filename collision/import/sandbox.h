// Sandbox: the confinement of the importer process. `tactus-confine` applies it to itself and then becomes
// the importer, so it holds even if that program is hostile; the importer tightens it once more before it
// reads the file. Facts about the mechanisms: man 2 seccomp, man 7 landlock, man 7 user_namespaces.
#ifndef TAC_COLLISION_IMPORT_SANDBOX_H
#define TAC_COLLISION_IMPORT_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The open descriptors of the importer besides 0, 1 and 2, which are /dev/null. TAC_MESH_RECORD_FD is 3.
#define TAC_SANDBOX_FILE_FD   4 // the mesh file, for reading
#define TAC_SANDBOX_FOLDER_FD 5 // its folder, O_PATH
#define TAC_SANDBOX_GRANTS_FD 6 // an eventfd for the launcher alone: the grants, written just before exec

// What the launcher writes to TAC_SANDBOX_GRANTS_FD. Everything else is applied always, or the importer does
// not start.
#define TAC_SANDBOX_STARTED    UINT64_C(1)
#define TAC_SANDBOX_LANDLOCK   UINT64_C(2)
#define TAC_SANDBOX_NAMESPACES UINT64_C(4)
#define TAC_SANDBOX_ROOT       UINT64_C(8) // a root folder of its own

// No descriptor of the importer can reach this number: its limit of open files is lower. The launcher holds
// the importer's program there, close-on-exec, and execution is allowed for this number alone; so it is
// possible once.
#define TAC_SANDBOX_PROGRAM_FD 64
#define TAC_SANDBOX_FILES_MAX  32

typedef enum tac_sandbox_stage {
	TAC_SANDBOX_LAUNCH, // the importer is executed and loads its libraries
	TAC_SANDBOX_PARSE,  // nothing more is executed
} tac_sandbox_stage;

// Restricts this thread and what it executes to a list of system calls, by arguments where that matters; any
// other call ends the process with SIGSYS. Needs no_new_privs. Returns 0 or an errno.
// Thread: of a process with one thread.
int tac_sandbox_filter_syscalls(tac_sandbox_stage stage);

// Restricts this thread and what it executes by Landlock to reading the mesh's folder (TAC_SANDBOX_FOLDER_FD)
// and, if `program_fd` is not negative, to that program and the system's libraries. Needs no_new_privs.
// False: the kernel has no Landlock, or it is switched off.
// Thread: of a process with one thread.
bool tac_sandbox_restrict_files(int program_fd);

// Gives this process a root folder of its own, with the current folder, which must be the mesh's, and the
// system's libraries; TAC_SANDBOX_FOLDER_FD then refers to the mesh's folder in it. Needs new user and mount
// namespaces; `user` and `group` are the effective ones before. False: the kernel does not permit it, and
// files stay visible.
// Thread: of a process with one thread.
bool tac_sandbox_enter_root(uid_t user, gid_t group);

// Whether the kernel has Landlock.
// Thread: any.
bool tac_sandbox_has_landlock(void);

// The folders of the system's libraries, ended by NULL. Some may not exist.
// Thread: any.
const char *const *tac_sandbox_library_folders(void);

#ifdef __cplusplus
}
#endif

#endif
