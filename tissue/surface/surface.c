#include "tissue/surface.h"

#include "base/log.h"
#include "rt/clock.h"
#include "rt/thread.h"
#include "tissue/surface/nets.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Updates that may wait for the reader. While there is no room, bricks go on to gather for the next one.
#define UPDATES 8

typedef struct update {
	tac_surface_update shown;
	tac_nets nets;
} update;

struct tac_surface {
	tac_surface_def def;
	tac_field *field;
	tac_ring *edits;   // of tac_field_edit, to the worker
	tac_ring *updates; // of update pointers, to the reader
	tac_nets_table table;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	atomic_bool busy; // the worker has taken edits whose update is not in the ring yet
	// The worker's.
	uint8_t *stale; // bricks whose patch is older than the field
	int32_t stale_count;
	uint64_t applied;
	bool told_memory;
	// The reader's.
	update *read;
};

tac_surface_def tac_surface_def_default(void)
{
	return (tac_surface_def){.edits = 65536, .pause_ns = 20 * TAC_NS_PER_MS};
}

// ---- the worker ----

static void mark(tac_surface *s, int32_t brick)
{
	s->stale_count += !s->stale[brick];
	s->stale[brick] = 1;
}

// A patch depends on the nodes next to its brick.
static void mark_around(tac_surface *s, int32_t brick)
{
	const int32_t *n = s->field->bricks;
	const int32_t at[3] = {brick / (n[1] * n[2]), brick / n[2] % n[1], brick % n[2]};
	for (int c = 0; c < 27; c++) {
		const int32_t i = at[0] + c / 9 - 1, j = at[1] + c / 3 % 3 - 1, k = at[2] + c % 3 - 1;
		if (i >= 0 && j >= 0 && k >= 0 && i < n[0] && j < n[1] && k < n[2])
			mark(s, tac_field_brick_index(s->field, i, j, k));
	}
}

static void replay_edits(tac_surface *s)
{
	tac_field_edit edit;
	tac_field_removed removed = {0};
	// Those that wait now: a tick that goes on does not keep the worker here.
	for (uint32_t left = tac_ring_count(s->edits); left > 0 && tac_ring_pop(s->edits, &edit); left--) {
		tac_field_carve(s->field, &edit, &removed);
		s->applied++;
	}
	for (int32_t i = 0; i < s->field->brick_count; i++) {
		if (s->field->dirty[i]) {
			s->field->dirty[i] = 0;
			mark_around(s, i);
		}
	}
}

static void free_update(update *u)
{
	if (u)
		tac_nets_fini(&u->nets);
	free(u);
}

// NULL: no memory.
static update *make_update(const tac_surface *s, bool all)
{
	update *u = calloc(1, sizeof *u);
	bool good = u != NULL;
	for (int32_t i = 0; i < s->field->brick_count && good; i++) {
		if (!s->stale[i])
			continue;
		good = tac_nets_add(&u->nets, &s->table, s->field, i);
		if (good && all && u->nets.patches[u->nets.patch_count - 1].index_count == 0)
			u->nets.patch_count--; // it replaces nothing
	}
	if (!good) {
		free_update(u);
		return NULL;
	}
	const tac_nets *n = &u->nets;
	u->shown =
		(tac_surface_update){n->patches,      n->vertices,    n->indices, n->patch_count,
				     n->vertex_count, n->index_count, s->applied, tac_ring_refused(s->edits)};
	return u;
}

static void hand_over(tac_surface *s, bool *first)
{
	if (s->stale_count == 0 || tac_ring_count(s->updates) == UPDATES)
		return;
	update *u = make_update(s, *first);
	if (!u) {
		if (!s->told_memory)
			tac_log(TAC_LOG_WARNING, "surface: no memory for %d bricks: the picture waits",
				(int)s->stale_count);
		s->told_memory = true;
		return;
	}
	tac_ring_push(s->updates, &u);
	memset(s->stale, 0, (size_t)s->field->brick_count);
	s->stale_count = 0;
	*first = false;
}

static void *run(void *user)
{
	tac_surface *s = user;
	bool first = true;
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		// Before the first edit leaves its ring: tac_surface_settled finds it there, or finds this.
		atomic_store(&s->busy, true);
		replay_edits(s);
		hand_over(s, &first);
		if (s->stale_count == 0)
			atomic_store(&s->busy, false);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + s->def.pause_ns);
	}
	return NULL;
}

// ---- set-up ----

tac_result tac_surface_create(const tac_surface_def *def, tac_surface **out_surface)
{
	*out_surface = NULL;
	tac_surface *s = calloc(1, sizeof *s);
	if (s)
		s->stale = malloc((size_t)def->field->brick_count);
	if (!s || !s->stale) {
		free(s);
		tac_log(TAC_LOG_ERROR, "surface: no memory");
		return TAC_ERROR_MEMORY;
	}
	s->def = *def;
	atomic_init(&s->busy, true); // the first update is to come
	tac_nets_table_init(&s->table);
	tac_result result = tac_field_copy(def->field, &s->field);
	if (result >= TAC_OK)
		result = tac_ring_create(def->edits, sizeof(tac_field_edit), &s->edits);
	if (result >= TAC_OK)
		result = tac_ring_create(UPDATES, sizeof(update *), &s->updates);
	if (result >= TAC_OK) {
		memset(s->stale, 1, (size_t)s->field->brick_count);
		memset(s->field->dirty, 0, (size_t)s->field->brick_count);
		s->stale_count = s->field->brick_count;
		result = tac_thread_start(&s->thread, run, s);
		s->started = result >= TAC_OK;
	}
	if (result < TAC_OK)
		tac_surface_destroy(&s);
	*out_surface = s;
	return result;
}

void tac_surface_destroy(tac_surface **surface)
{
	tac_surface *s = *surface;
	if (!s)
		return;
	atomic_store_explicit(&s->stop, true, memory_order_relaxed);
	if (s->started)
		pthread_join(s->thread, NULL);
	update *u;
	while (s->updates && tac_ring_pop(s->updates, &u))
		free_update(u);
	free_update(s->read);
	tac_ring_destroy(&s->updates);
	tac_ring_destroy(&s->edits);
	tac_field_destroy(&s->field);
	free(s->stale);
	free(s);
	*surface = NULL;
}

tac_ring *tac_surface_edits(tac_surface *surface)
{
	return surface->edits;
}

const tac_surface_update *tac_surface_read(tac_surface *surface)
{
	update *next;
	if (!tac_ring_pop(surface->updates, &next))
		return NULL;
	free_update(surface->read);
	surface->read = next;
	return &next->shown;
}

bool tac_surface_settled(const tac_surface *surface)
{
	return tac_ring_count(surface->edits) == 0 && !atomic_load(&surface->busy) &&
	       tac_ring_count(surface->updates) == 0;
}

const tac_field *tac_surface_field(const tac_surface *surface)
{
	return surface->field;
}

// ---- the whole surface ----

// The patches' vertices and triangles as a mesh, which welds what they share. False: no memory.
static tac_result mesh_of(const tac_nets *nets, tac_mesh **out_mesh)
{
	tac_vec3 *vertices = malloc(((size_t)nets->vertex_count + 1) * sizeof *vertices);
	tac_mesh_triangle *triangles = malloc(((size_t)nets->index_count / 3 + 1) * sizeof *triangles);
	tac_result result = TAC_ERROR_MEMORY;
	if (vertices && triangles) {
		for (int32_t i = 0; i < nets->vertex_count; i++) {
			const float *p = nets->vertices[i].position_m;
			vertices[i] = tac_vec3_make(p[0], p[1], p[2]);
		}
		for (int32_t i = 0; i < nets->patch_count; i++) {
			const tac_surface_patch *p = &nets->patches[i];
			for (int32_t k = 0; k < p->index_count; k++)
				triangles[(p->first_index + k) / 3].vertex[(p->first_index + k) % 3] =
					p->first_vertex + nets->indices[p->first_index + k];
		}
		tac_mesh_def def = tac_mesh_def_default();
		def.vertices = vertices;
		def.vertex_count = nets->vertex_count;
		def.triangles = triangles;
		def.triangle_count = nets->index_count / 3;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "surface: no memory for %d triangles", (int)nets->index_count / 3);
	}
	free(vertices);
	free(triangles);
	return result;
}

tac_result tac_surface_mesh(const tac_field *field, tac_mesh **out_mesh)
{
	*out_mesh = NULL;
	tac_nets_table *table = malloc(sizeof *table);
	tac_nets nets = {0};
	bool good = table != NULL;
	if (good)
		tac_nets_table_init(table);
	for (int32_t i = 0; i < field->brick_count && good; i++)
		good = tac_nets_add(&nets, table, field, i);
	tac_result result = TAC_ERROR_MEMORY;
	if (good)
		result = mesh_of(&nets, out_mesh);
	else
		tac_log(TAC_LOG_ERROR, "surface: no memory for %d bricks", (int)field->brick_count);
	tac_nets_fini(&nets);
	free(table);
	return result;
}
