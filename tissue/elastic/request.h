// Request: the description of a body as bytes, from the runtime to tactus-elastic. Native byte order: both
// come from one build on one machine. The hash of these bytes names the cache file.
#ifndef TAC_TISSUE_ELASTIC_REQUEST_H
#define TAC_TISSUE_ELASTIC_REQUEST_H

#include "tissue/elastic.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of lattice, elements and compliance together: raise it when any of them computes something else.
#define ELASTIC_VERSION 2u

// The descriptors of tactus-elastic.
#define ELASTIC_REQUEST_FD  3 // the request, for reading
#define ELASTIC_RESULT_FD   4 // the image of the compliance, or a message
#define ELASTIC_PROGRESS_FD 5 // a pipe: a float for each further part that is done

#define ELASTIC_MESSAGE 1024 // bytes of a message, with its end

// The bytes, for the caller to free; NULL without memory. Thread: setup.
void *tac_elastic_request_encode(const tac_elastic_def *def, size_t *out_size);

// Reads a request. The meshes of *out_def are new ones, to be released by tac_elastic_request_release. False:
// the bytes are not a request, or there is no memory. Thread: setup.
bool tac_elastic_request_decode(const void *bytes, size_t size, tac_elastic_def *out_def);

// Thread: setup.
void tac_elastic_request_release(tac_elastic_def *def);

// Whether a body can be prepared: TAC_ERROR_ARGUMENT with one log line if not. A material that linear
// elements are too stiff for is a warning. Thread: setup.
tac_result tac_elastic_check(const tac_elastic_def *def);

// Writes all bytes to a descriptor; false with errno. Thread: setup.
bool tac_elastic_write_all(int fd, const void *bytes, size_t size);

// The hash of a request. Thread: any.
uint64_t tac_elastic_request_hash(const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
