// Cache: the folder of prepared bodies. It is kept below a size: when a file is added, those that were not
// used for longest are removed. A file that a process has open (tac_compliance_open) stays.
#ifndef TAC_TISSUE_ELASTIC_CACHE_H
#define TAC_TISSUE_ELASTIC_CACHE_H

#include "tissue/elastic.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes the path of a body's file; false if there is no folder for it. Thread: setup.
bool tac_elastic_cache_file(const tac_elastic_def *def, uint64_t hash, char *out_path, size_t size);

// Writes a body to its file, and removes old ones beyond TAC_ELASTIC_CACHE_BYTES. What fails is reported in
// one line. Thread: setup.
void tac_elastic_cache_keep(const tac_compliance *compliance, const char *path);

// Notes that a file was used. Thread: setup.
void tac_elastic_cache_used(const char *path);

// Removes the files of the folder of `path` that were not used for longest until all together have at most
// `limit` bytes. Files named HASH.tissue alone are considered, and not `path` itself. Returns how many were
// removed. Thread: setup.
int tac_elastic_cache_limit(const char *path, uint64_t limit);

#ifdef __cplusplus
}
#endif

#endif
