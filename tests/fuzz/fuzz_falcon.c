// Fuzz target for the Falcon's protocol: bytes as a stream from the device. A packet that the stream accepts
// decodes, and encodes to the same bytes except for unused bits. Its encoder values go through the
// kinematics, which must return finite numbers or fail. With libFuzzer: cmake -DTACTUS_FUZZ=ON (clang);
// without it, replay.c runs the corpus as a test.
#include "base/assert.h"
#include "devices/falcon/falcon_kinematics.h"
#include "devices/falcon/falcon_protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_packet(const uint8_t *bytes)
{
	tac_falcon_report report, report_decoded;
	tac_falcon_command command, command_decoded;
	uint8_t encoded[TAC_FALCON_PACKET_BYTES];
	const bool is_report = tac_falcon_report_decode(bytes, &report);
	TAC_ASSERT(is_report == tac_falcon_command_decode(bytes, &command));
	if (!is_report)
		return;
	tac_falcon_report_encode(&report, encoded);
	TAC_ASSERT(memcmp(bytes, encoded, 14) == 0); // all but the unknown byte
	TAC_ASSERT(tac_falcon_report_decode(encoded, &report_decoded));
	tac_falcon_command_encode(&command, encoded);
	TAC_ASSERT(tac_falcon_command_decode(encoded, &command_decoded));
	for (int i = 0; i < 3; i++)
		TAC_ASSERT(abs(command_decoded.motor[i]) <= TAC_FALCON_MOTOR_MAX);
	tac_dvec3 position;
	tac_falcon_leg legs[3];
	tac_dmat3 jacobian;
	int16_t motor[3];
	if (!tac_falcon_forward(tac_falcon_angles(report.encoder), &position))
		return;
	TAC_ASSERT(tac_dvec3_finite(position) && tac_falcon_inverse(position, legs));
	if (!tac_falcon_jacobian(legs, &jacobian))
		return;
	TAC_ASSERT(tac_dmat3_finite(jacobian));
	tac_falcon_motors(jacobian, tac_dvec3_make(command.motor[0], command.motor[1], command.motor[2]),
			  motor);
	for (int i = 0; i < 3; i++)
		TAC_ASSERT(abs(motor[i]) <= TAC_FALCON_MOTOR_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tac_falcon_stream stream = {0};
	size_t taken = 0;
	for (size_t i = 0; i < size; i++) {
		if (tac_falcon_stream_push(&stream, data[i])) {
			tac_falcon_report report;
			TAC_ASSERT(tac_falcon_report_decode(stream.bytes, &report));
			check_packet(stream.bytes);
			taken += TAC_FALCON_PACKET_BYTES;
		}
	}
	const size_t waiting = stream.count % TAC_FALCON_PACKET_BYTES;
	TAC_ASSERT(taken + stream.dropped + waiting == size);
	if (size >= TAC_FALCON_PACKET_BYTES)
		check_packet(data);
	return 0;
}
