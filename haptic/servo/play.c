#include "haptic/play.h"

#include "base/log.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

struct tac_play {
	tac_servo *servo;
	tac_device *device;
	tac_loop *loop;
	tac_thread_report report; // the thread's, for tac_thread_leave
	tac_thread_report granted;
	pthread_t thread;
	sem_t entered;
	bool started; // and not joined yet
};

static void tick(void *servo, tac_tick *t)
{
	tac_servo_step(servo, t->wake_ns, t);
}

static void *play_thread(void *user)
{
	tac_play *play = user;
	const tac_thread_def def = tac_thread_def_default();
	const tac_result result = tac_thread_enter(&def, &play->report);
	play->granted = play->report;
	sem_post(&play->entered);
	if (result >= TAC_OK)
		tac_loop_run(play->loop, tick, play->servo);
	tac_device_enable(play->device, false); // or the last force would stay on
	tac_thread_leave(&play->report);
	return NULL;
}

tac_result tac_play_start(const tac_servo_def *def, const tac_loop_def *loop, tac_play **out_play)
{
	*out_play = NULL;
	const tac_loop_def default_loop = tac_loop_def_default();
	tac_play *play = calloc(1, sizeof *play);
	if (!play) {
		tac_log(TAC_LOG_ERROR, "play: no memory");
		return TAC_ERROR_MEMORY;
	}
	sem_init(&play->entered, 0, 0);
	play->device = def->device;
	tac_result result = tac_servo_create(def, &play->servo);
	if (result >= TAC_OK)
		result = tac_loop_create(loop ? loop : &default_loop, &play->loop);
	if (result >= TAC_OK) {
		tac_device_enable(play->device, true);
		result = tac_thread_start(&play->thread, play_thread, play);
		play->started = result >= TAC_OK;
		if (!play->started)
			tac_device_enable(play->device, false);
	}
	while (play->started && sem_wait(&play->entered) != 0 && errno == EINTR) {
	}
	if (result < TAC_OK)
		tac_play_destroy(&play);
	*out_play = play;
	return result;
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
	tac_loop_destroy(&p->loop);
	tac_servo_destroy(&p->servo);
	sem_destroy(&p->entered);
	free(p);
	*play = NULL;
}

tac_servo *tac_play_servo(const tac_play *play)
{
	return play->servo;
}

const tac_thread_report *tac_play_report(const tac_play *play)
{
	return &play->granted;
}
