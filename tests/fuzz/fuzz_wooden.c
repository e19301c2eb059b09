// Fuzz target for the reports of WoodenHaptics and Polhem: any report has a finite pose and currents within
// the maximum; any descriptor is read within its bounds.
#include "base/assert.h"
#include "devices/wooden/wooden_protocol.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const tac_wooden_model *model, const uint8_t *data, size_t size)
{
	tac_wooden_report report;
	TAC_ASSERT(tac_wooden_report_decode(model, data, size, &report) == (size == model->report_bytes));
	if (size != model->report_bytes)
		return;
	uint8_t bytes[TAC_WOODEN_COMMAND_MAX];
	tac_wooden_report_encode(model, &report, bytes);
	TAC_ASSERT(memcmp(bytes, data, 12 < size ? 12 : size) == 0); // the last word of a Polhem is a flag
	const int32_t counts[3] = {report.encoder[0], report.encoder[1], report.encoder[2]};
	const double force[3] = {report.encoder[2] * 1e3, -1, report.counter};
	double rad[3], p[3], jacobian[3][3], rows[3][3], mA[3];
	tac_wooden_angles(model, counts, rad);
	tac_wooden_forward(model, rad, p, jacobian);
	tac_wooden_rotation(rad, &report, rows);
	tac_wooden_currents(model, force, (const double(*)[3])jacobian, mA);
	for (int i = 0; i < 3; i++) {
		TAC_ASSERT(fabs(p[i]) < 1 && fabs(mA[i]) <= TAC_WOODEN_CURRENT_MAX * (1 + 1e-12));
		TAC_ASSERT(fabs(rows[i][0] * rows[i][0] + rows[i][1] * rows[i][1] + rows[i][2] * rows[i][2] -
				1) < 1e-9);
	}
	tac_wooden_command_encode(model, mA, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(&tac_wooden_haptics, data, size);
	check(&tac_wooden_polhem, data, size);
	TAC_ASSERT(tac_wooden_descriptor_bytes(data, size) <= 64);
	return 0;
}
