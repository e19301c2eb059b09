#include "base/result.h"

const char *tac_result_name(tac_result result)
{
	switch (result) {
	case TAC_OK:
		return "ok";
	case TAC_PARTIAL:
		return "partial";
	case TAC_ERROR_ARGUMENT:
		return "argument";
	case TAC_ERROR_MEMORY:
		return "memory";
	case TAC_ERROR_SYSTEM:
		return "system";
	case TAC_ERROR_IO:
		return "io";
	case TAC_ERROR_FORMAT:
		return "format";
	case TAC_ERROR_UNSUPPORTED:
		return "unsupported";
	}
	return "unknown result";
}
