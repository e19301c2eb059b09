// Fuzz target for the reports of WoodenHaptics: any report has a finite pose and currents within the maximum.
#include "base/assert.h"
#include "devices/wooden/wooden_protocol.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tac_wooden_report report;
	TAC_ASSERT(tac_wooden_report_decode(data, size, &report) == (size == TAC_WOODEN_REPORT_BYTES));
	if (size != TAC_WOODEN_REPORT_BYTES)
		return 0;
	uint8_t bytes[TAC_WOODEN_COMMAND_BYTES];
	tac_wooden_report_encode(&report, bytes);
	TAC_ASSERT(memcmp(bytes, data, TAC_WOODEN_REPORT_BYTES) == 0);
	const int32_t counts[3] = {report.encoder[0], report.encoder[1], report.encoder[2]};
	const double force[3] = {report.encoder[2] * 1e3, -1, report.counter};
	double rad[3], p[3], jacobian[3][3], mA[3];
	tac_wooden_angles(counts, rad);
	tac_wooden_forward(rad, p, jacobian);
	tac_wooden_currents(force, (const double(*)[3])jacobian, mA);
	for (int i = 0; i < 3; i++)
		TAC_ASSERT(fabs(p[i]) < 1 && fabs(mA[i]) <= TAC_WOODEN_CURRENT_MAX * (1 + 1e-12));
	tac_wooden_command_encode(mA, bytes);
	return 0;
}
