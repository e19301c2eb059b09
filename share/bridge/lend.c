#include "share/bridge/bridge_state.h"

#include "rt/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE     32768
#define PIECES    16                    // for one request
#define REPEAT_NS (300 * TAC_NS_PER_MS) // after which the same pieces are sent again

void bridge_lend(bridge *b)
{
	if (!b->run.record[0])
		return;
	for (uint32_t i = 0; i < BRIDGE_LENT; i++) {
		if (b->lent[i].run == b->run.run)
			return;
		if (strcmp(b->lent[i].path, b->run.record) == 0)
			b->lent[i] = (bridge_recording){0}; // this run has replaced it
	}
	bridge_recording *r = &b->lent[b->lent_count++ % BRIDGE_LENT];
	*r = (bridge_recording){.run = b->run.run, .tool_count = b->run.tool_count};
	snprintf(r->path, sizeof r->path, "%s", b->run.record);
}

// Opens the recording of a tool; -1: this station has it no longer.
static int open_recording(const bridge *b, const tactus_Want *want)
{
	for (uint32_t i = 0; i < BRIDGE_LENT; i++) {
		const bridge_recording *r = &b->lent[i];
		if (r->run == 0 || r->run != want->run || want->tool_no >= (uint32_t)r->tool_count)
			continue;
		char path[TAC_SEAM_PATH + 8];
		if (want->tool_no == 0)
			snprintf(path, sizeof path, "%s", r->path);
		else
			snprintf(path, sizeof path, "%s.%u", r->path, want->tool_no + 1);
		return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	return -1;
}

// Sends the pieces from `want->offset` on. The recorder locks its file until it has ended
// (devices/recorder.h).
static void send_pieces(bridge *b, const tactus_Want *want, int fd)
{
	const bool complete = flock(fd, LOCK_SH | LOCK_NB) == 0;
	struct stat status;
	if (fstat(fd, &status) != 0)
		return;
	uint64_t offset = want->offset;
	static unsigned char bytes[PIECE];
	for (int i = 0; i < PIECES; i++) {
		const ssize_t got = pread(fd, bytes, sizeof bytes, (off_t)offset);
		const bool last = complete && got >= 0 && offset + (uint64_t)got == (uint64_t)status.st_size;
		if (got < 0 || (got == 0 && !last))
			break;
		tactus_Chunk chunk = {.run = want->run,
				      .tool_no = want->tool_no,
				      .offset = offset,
				      .complete = last,
				      .bytes = {(uint32_t)got, (uint32_t)got, bytes, false}};
		snprintf(chunk.station, sizeof chunk.station, "%s", b->def.station);
		if (dds_write(b->chunk, &chunk) != DDS_RETCODE_OK)
			break; // it will be asked for again
		offset += (uint64_t)got;
		if (last)
			break;
	}
	b->lent_run = want->run;
	b->lent_tool = want->tool_no;
	b->lent_offset = offset;
	b->lent_ns = tac_clock_now_ns();
}

void bridge_send_pieces(bridge *b)
{
	void *samples[1] = {NULL};
	dds_sample_info_t info;
	while (dds_take(b->want, samples, &info, 1, 1) > 0) {
		const tactus_Want *want = samples[0];
		const bool mine = info.valid_data && strcmp(want->station, b->def.station) == 0;
		// A request that crossed its answer is not answered again.
		const bool crossed = want->run == b->lent_run && want->tool_no == b->lent_tool &&
				     want->offset < b->lent_offset &&
				     tac_clock_now_ns() - b->lent_ns < REPEAT_NS;
		const int fd = mine && !crossed ? open_recording(b, want) : -1;
		if (fd >= 0) {
			send_pieces(b, want, fd);
			close(fd);
		}
		dds_return_loan(b->want, samples, 1);
		samples[0] = NULL;
	}
}
