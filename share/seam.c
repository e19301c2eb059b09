#include "share/seam.h"

#include "base/log.h"
#include "rt/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC   UINT64_C(0x6d61655361635401)
#define VERSION 2

typedef struct head {
	_Alignas(TAC_RING_ALIGN) uint64_t magic;
	uint64_t version, bytes;
	tac_seam_info info;
} head;

// Where the rings lie: from the constants of the header alone, so that neither side looks it up in memory
// that the other can write.
typedef struct layout {
	size_t ticks, notes, figures, orders, bytes;
} layout;

struct tac_seam {
	head *head;
	size_t bytes;
	int fd; // of the run; -1: a bridge
	tac_ring *ticks, *notes, *figures, *orders;
	tac_ring_end ticks_end, notes_end, figures_end, orders_end;
	tac_seam_info *info;     // of a bridge: its own copy
	_Atomic uint64_t pushed; // of the run
	_Atomic uint64_t refused;
};

static layout lay_out(void)
{
	layout l;
	l.ticks = (sizeof(head) + TAC_RING_ALIGN - 1) / TAC_RING_ALIGN * TAC_RING_ALIGN;
	l.notes = l.ticks + tac_ring_bytes(TAC_SEAM_TICKS, sizeof(tac_seam_tick));
	l.figures = l.notes + tac_ring_bytes(TAC_SEAM_NOTES, sizeof(tac_seam_note));
	l.orders = l.figures + tac_ring_bytes(TAC_SEAM_FIGURES, sizeof(tac_seam_figures));
	l.bytes = l.orders + tac_ring_bytes(TAC_SEAM_ORDERS, sizeof(tac_seam_order));
	return l;
}

// Maps the memory; NULL with errno.
static tac_seam *map(int fd)
{
	tac_seam *seam = calloc(1, sizeof *seam);
	if (!seam)
		return NULL;
	const layout l = lay_out();
	void *memory = mmap(NULL, l.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED) {
		free(seam);
		return NULL;
	}
	seam->head = memory;
	seam->bytes = l.bytes;
	seam->fd = -1;
	seam->ticks = (tac_ring *)((char *)memory + l.ticks);
	seam->notes = (tac_ring *)((char *)memory + l.notes);
	seam->figures = (tac_ring *)((char *)memory + l.figures);
	seam->orders = (tac_ring *)((char *)memory + l.orders);
	return seam;
}

static void init_rings(tac_seam *seam)
{
	const layout l = lay_out();
	tac_ring_init(seam->ticks, l.notes - l.ticks, TAC_SEAM_TICKS, sizeof(tac_seam_tick));
	tac_ring_init(seam->notes, l.figures - l.notes, TAC_SEAM_NOTES, sizeof(tac_seam_note));
	tac_ring_init(seam->figures, l.orders - l.figures, TAC_SEAM_FIGURES, sizeof(tac_seam_figures));
	tac_ring_init(seam->orders, l.bytes - l.orders, TAC_SEAM_ORDERS, sizeof(tac_seam_order));
	seam->ticks_end = tac_ring_join_producer(seam->ticks, TAC_SEAM_TICKS, sizeof(tac_seam_tick));
	seam->notes_end = tac_ring_join_producer(seam->notes, TAC_SEAM_NOTES, sizeof(tac_seam_note));
	seam->figures_end = tac_ring_join_producer(seam->figures, TAC_SEAM_FIGURES, sizeof(tac_seam_figures));
	seam->orders_end = tac_ring_join_consumer(seam->orders, TAC_SEAM_ORDERS, sizeof(tac_seam_order));
}

static int create_memory(void)
{
	const int fd = memfd_create("tactus-share", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	// A bridge must not be able to shrink the memory under the run.
	if (ftruncate(fd, (off_t)lay_out().bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

tac_result tac_seam_create(const tac_seam_info *info, tac_seam **out_seam)
{
	*out_seam = NULL;
	const int fd = create_memory();
	tac_seam *seam = fd >= 0 ? map(fd) : NULL;
	if (!seam) {
		tac_log(TAC_LOG_ERROR, "share: expected %zu bytes of shared memory, found: %s",
			lay_out().bytes, strerror(errno));
		if (fd >= 0)
			close(fd);
		return TAC_ERROR_SYSTEM;
	}
	seam->fd = fd;
	seam->head->info = *info;
	init_rings(seam);
	seam->head->bytes = seam->bytes;
	seam->head->version = VERSION;
	seam->head->magic = MAGIC;
	*out_seam = seam;
	return TAC_OK;
}

static void end_text(char *text, size_t size)
{
	text[size - 1] = 0;
}

// The bridge's copy of the description, whose texts end.
static tac_seam_info *copy_info(const tac_seam_info *shared)
{
	tac_seam_info *info = malloc(sizeof *info);
	if (!info)
		return NULL;
	*info = *shared;
	end_text(info->scene, sizeof info->scene);
	end_text(info->record, sizeof info->record);
	end_text(info->version, sizeof info->version);
	end_text(info->text, sizeof info->text);
	for (int i = 0; i < TAC_SCENE_TOOLS; i++) {
		end_text(info->tools[i], sizeof info->tools[i]);
		end_text(info->devices[i], sizeof info->devices[i]);
	}
	if (info->tool_count < 0 || info->tool_count > TAC_SCENE_TOOLS)
		info->tool_count = 0;
	if (!tac_outline_valid(&info->outline))
		info->outline.body_count = 0;
	return info;
}

tac_result tac_seam_attach(int fd, tac_seam **out_seam)
{
	*out_seam = NULL;
	struct stat status;
	if (fstat(fd, &status) != 0 || status.st_size != (off_t)lay_out().bytes) {
		tac_log(TAC_LOG_ERROR,
			"share: expected the memory of a run of this version, %zu bytes, found %lld",
			lay_out().bytes, (long long)status.st_size);
		return TAC_ERROR_FORMAT;
	}
	tac_seam *seam = map(fd);
	if (seam)
		seam->info = copy_info(&seam->head->info);
	if (!seam || !seam->info) {
		tac_log(TAC_LOG_ERROR, "share: expected to map the memory of the run, found: %s",
			strerror(errno));
		tac_seam_destroy(&seam);
		return TAC_ERROR_MEMORY;
	}
	if (seam->head->magic != MAGIC || seam->head->version != VERSION) {
		tac_log(TAC_LOG_ERROR, "share: expected the memory of a run of version %d, found another",
			VERSION);
		tac_seam_destroy(&seam);
		return TAC_ERROR_FORMAT;
	}
	seam->ticks_end = tac_ring_join_consumer(seam->ticks, TAC_SEAM_TICKS, sizeof(tac_seam_tick));
	seam->notes_end = tac_ring_join_consumer(seam->notes, TAC_SEAM_NOTES, sizeof(tac_seam_note));
	seam->figures_end = tac_ring_join_consumer(seam->figures, TAC_SEAM_FIGURES, sizeof(tac_seam_figures));
	seam->orders_end = tac_ring_join_producer(seam->orders, TAC_SEAM_ORDERS, sizeof(tac_seam_order));
	*out_seam = seam;
	return TAC_OK;
}

void tac_seam_destroy(tac_seam **seam)
{
	tac_seam *s = *seam;
	*seam = NULL;
	if (!s)
		return;
	munmap(s->head, s->bytes);
	if (s->fd >= 0)
		close(s->fd);
	free(s->info);
	free(s);
}

int tac_seam_fd(const tac_seam *seam)
{
	return seam->fd;
}

void *tac_seam_memory(tac_seam *seam, size_t *out_bytes)
{
	*out_bytes = seam->bytes;
	return seam->head;
}

// ---- of the run ----

bool tac_seam_push_tick(tac_seam *seam, const tac_snapshot *s, const tac_wrench *external)
{
	const uint64_t pushed = atomic_load_explicit(&seam->pushed, memory_order_relaxed);
	const uint64_t refused = tac_ring_end_refused(&seam->ticks_end);
	const tac_seam_tick tick = {
		.number = pushed + refused,
		.refused = refused,
		.tick = s->tick,
		.time_ns = s->time_ns,
		.compute_ns = s->compute_ns,
		.tool = s->tool,
		.state = (int32_t)s->state,
		.status = (int32_t)s->status,
		.contacts = s->contact_count,
		.buttons = s->buttons,
		.limits = s->limits,
		.T_world_device = s->T_world_device,
		.T_world_sco = s->T_world_sco,
		.wanted = s->wanted,
		.sent = s->sent,
		.external = *external,
		.gain = s->gain,
		.passivity_J = s->passivity_J,
		.stiffness_N_per_m = s->stiffness_N_per_m,
		.allowed_N_per_m = s->allowed_N_per_m,
		.distance_m = s->distance_m,
		.gripper_m = s->gripper_m,
		.gripper_N = s->gripper_N,
	};
	const bool stored = tac_ring_push_from(seam->ticks, &seam->ticks_end, &tick);
	// Relaxed: counts that order nothing, of one writer.
	if (stored)
		atomic_store_explicit(&seam->pushed, pushed + 1, memory_order_relaxed);
	else
		atomic_store_explicit(&seam->refused, refused + 1, memory_order_relaxed);
	return stored;
}

bool tac_seam_take_order(tac_seam *seam, tac_seam_order *out_order)
{
	tac_seam_order order;
	if (!tac_ring_pop_to(seam->orders, &seam->orders_end, &order) || order.tool < 0 ||
	    order.tool >= TAC_SCENE_TOOLS || !tac_dvec3_finite(order.wrench.force_N) ||
	    !tac_dvec3_finite(order.wrench.torque_Nm))
		return false;
	*out_order = order;
	return true;
}

uint64_t tac_seam_pushed(const tac_seam *seam)
{
	return atomic_load_explicit(&seam->pushed, memory_order_relaxed);
}

uint64_t tac_seam_refused(const tac_seam *seam)
{
	return atomic_load_explicit(&seam->refused, memory_order_relaxed);
}

bool tac_seam_push_note(tac_seam *seam, const tac_seam_note *note)
{
	return tac_ring_push_from(seam->notes, &seam->notes_end, note);
}

bool tac_seam_push_figures(tac_seam *seam, const tac_seam_figures *figures)
{
	return tac_ring_push_from(seam->figures, &seam->figures_end, figures);
}

// ---- of the bridge ----

const tac_seam_info *tac_seam_read_info(const tac_seam *seam)
{
	return seam->info;
}

bool tac_seam_pop_tick(tac_seam *seam, tac_seam_tick *out_tick)
{
	return tac_ring_pop_to(seam->ticks, &seam->ticks_end, out_tick);
}

bool tac_seam_pop_note(tac_seam *seam, tac_seam_note *out_note)
{
	if (!tac_ring_pop_to(seam->notes, &seam->notes_end, out_note))
		return false;
	end_text(out_note->text, sizeof out_note->text);
	return true;
}

bool tac_seam_pop_figures(tac_seam *seam, tac_seam_figures *out_figures)
{
	if (!tac_ring_pop_to(seam->figures, &seam->figures_end, out_figures) || out_figures->tool < 0 ||
	    out_figures->tool >= TAC_SCENE_TOOLS || out_figures->count < 0 ||
	    out_figures->count > TAC_TASK_ROWS)
		return false;
	for (int32_t i = 0; i < out_figures->count; i++) {
		end_text(out_figures->list[i].name, sizeof out_figures->list[i].name);
		end_text(out_figures->list[i].unit, sizeof out_figures->list[i].unit);
	}
	return true;
}

bool tac_seam_push_order(tac_seam *seam, const tac_seam_order *order)
{
	return tac_ring_push_from(seam->orders, &seam->orders_end, order);
}
