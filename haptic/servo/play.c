#include "haptic/play.h"

#include "base/def.h"
#include "base/log.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

struct tac_play {
	tac_thread_def thread_def;
	tac_servo *servos[TAC_SCENE_TOOLS];
	tac_device *devices[TAC_SCENE_TOOLS];
	int32_t count;
	tac_loop *loop;
	tac_deadline *deadline; // NULL: the caller keeps the account
	tac_monitor *monitor;
	tac_thread_report report; // the thread's, for tac_thread_leave
	tac_thread_report granted;
	pthread_t thread;
	sem_t entered;
	bool started; // and not joined yet
};

void tac_play_def_init(tac_play_def *out_def, size_t bytes)
{
	const tac_play_def def = {.hand_count = 1};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

static void tick(void *user, tac_tick *t)
{
	tac_play *play = user;
	tac_servo_step_all(play->servos, play->count, t->wake_ns, t);
}

static void enable_devices(tac_play *play, bool on)
{
	for (int32_t i = 0; i < play->count; i++)
		tac_device_enable(play->devices[i], on);
}

static void *play_thread(void *user)
{
	tac_play *play = user;
	const tac_result result = tac_thread_enter(&play->thread_def, &play->report);
	play->granted = play->report;
	sem_post(&play->entered);
	if (result >= TAC_OK)
		tac_loop_run(play->loop, tick, play);
	enable_devices(play, false); // or the last force would stay on
	tac_thread_leave(&play->report);
	return NULL;
}

static tac_result create_servos(tac_play *play, const tac_play_def *def)
{
	if (def->hand_count < 1 || def->hand_count > TAC_SCENE_TOOLS) {
		tac_log(TAC_LOG_ERROR, "play: expected 1 to %d hands, found %d", TAC_SCENE_TOOLS,
			(int)def->hand_count);
		return TAC_ERROR_ARGUMENT;
	}
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < def->hand_count && result >= TAC_OK; i++) {
		if (!def->hands[i]) {
			tac_log(TAC_LOG_ERROR,
				"play: expected a def for each of %d hands, found none for hand %d",
				(int)def->hand_count, (int)i);
			return TAC_ERROR_ARGUMENT;
		}
		play->devices[i] = def->hands[i]->device;
		result = tac_servo_create(def->hands[i], &play->servos[i]);
	}
	if (result >= TAC_OK && def->hand_count == 2)
		result = tac_servo_join(play->servos[0], play->servos[1]);
	play->count = def->hand_count;
	return result;
}

// The mover's work, the slew of the SCO and the damping of the passivity controller, which chatters above
// 0.2 m / period, follow the period of the servo.
static tac_result check_periods(const tac_play_def *def, int64_t period_ns)
{
	for (int32_t i = 0; i < def->hand_count; i++) {
		const int64_t found_ns = def->hands[i]->period_ns;
		if (found_ns == period_ns)
			continue;
		tac_log(TAC_LOG_ERROR,
			"play: expected the loop's period_ns, %lld, in the servo of hand %d, found %lld",
			(long long)period_ns, (int)i, (long long)found_ns);
		return TAC_ERROR_ARGUMENT;
	}
	return TAC_OK;
}

static tac_result create_loop(tac_play *play, const tac_play_def *def)
{
	tac_loop_def loop = tac_loop_def_default();
	tac_result result = def->loop ? tac_def_read("loop", def->loop, &loop, sizeof loop) : TAC_OK;
	if (result >= TAC_OK)
		result = check_periods(def, loop.period_ns);
	if (result >= TAC_OK && !loop.deadline) {
		// A period out of range is refused by the loop.
		const tac_deadline_def account = tac_deadline_def_default(
			loop.period_ns > TAC_LOOP_PERIOD_MIN_NS ? loop.period_ns : TAC_LOOP_PERIOD_MIN_NS);
		result = tac_deadline_create(&account, &play->deadline);
		loop.deadline = play->deadline;
	}
	if (result >= TAC_OK)
		result = tac_loop_create(&loop, &play->loop);
	if (result >= TAC_OK && play->deadline) {
		const tac_monitor_def monitor = {.deadline = play->deadline};
		result = tac_monitor_create(&monitor, &play->monitor);
	}
	return result;
}

tac_result tac_play_start_hands(const tac_play_def *def, tac_play **out_play)
{
	*out_play = NULL;
	tac_play_def full = tac_play_def_default();
	tac_result result = tac_def_read("play", def, &full, sizeof full);
	if (result < TAC_OK)
		return result;
	tac_play *play = calloc(1, sizeof *play);
	if (!play) {
		tac_log(TAC_LOG_ERROR, "play: no memory");
		return TAC_ERROR_MEMORY;
	}
	sem_init(&play->entered, 0, 0);
	play->thread_def = full.thread ? *full.thread : tac_thread_def_default();
	result = create_servos(play, &full);
	if (result >= TAC_OK)
		result = create_loop(play, &full);
	if (result >= TAC_OK) {
		enable_devices(play, true);
		result = tac_thread_start(&play->thread, play_thread, play);
		play->started = result >= TAC_OK;
		if (!play->started)
			enable_devices(play, false);
	}
	while (play->started && sem_wait(&play->entered) != 0 && errno == EINTR) {
	}
	if (result < TAC_OK)
		tac_play_destroy(&play);
	*out_play = play;
	return result;
}

tac_result tac_play_start(const tac_servo_def *def, const tac_loop_def *loop, tac_play **out_play)
{
	tac_play_def play = tac_play_def_default();
	play.hands[0] = def;
	play.loop = loop;
	return tac_play_start_hands(&play, out_play);
}

void tac_play_wait(tac_play *play)
{
	if (play->started)
		pthread_join(play->thread, NULL);
	play->started = false;
}

void tac_play_destroy(tac_play **play)
{
	tac_play *p = *play;
	if (!p)
		return;
	if (p->started)
		tac_loop_stop(p->loop);
	tac_play_wait(p);
	tac_monitor_destroy(&p->monitor);
	tac_loop_destroy(&p->loop);
	tac_deadline_destroy(&p->deadline);
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		tac_servo_destroy(&p->servos[i]);
	sem_destroy(&p->entered);
	free(p);
	*play = NULL;
}

tac_servo *tac_play_servo(const tac_play *play)
{
	return play->servos[0];
}

tac_servo *tac_play_hand(const tac_play *play, int32_t hand)
{
	return play->servos[hand];
}

bool tac_play_timing(tac_play *play, tac_monitor_stats *out_stats)
{
	if (play->monitor)
		tac_monitor_read(play->monitor, out_stats);
	return play->monitor != NULL;
}

const tac_thread_report *tac_play_report(const tac_play *play)
{
	return &play->granted;
}
