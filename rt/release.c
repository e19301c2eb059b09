#include "rt/release.h"

#include "base/assert.h"
#include "base/log.h"
#include "rt/clock.h"
#include "rt/thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define STACK_BYTES ((size_t)256 * 1024) // of the release thread; small, because it may be locked
#define POLL_NS     (TAC_NS_PER_MS / 2)

typedef struct hook {
	tac_release_fn fn; // NULL: unused
	void *user;
} hook;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of `hooks` and `installed`
static hook hooks[TAC_RELEASE_HOOKS];
static bool installed;
static atomic_int hook_count;
static atomic_bool settled; // the hooks have returned and the devices had time to send zero
static sem_t requested;
static char signal_stack[TAC_THREAD_SIGNAL_STACK_BYTES]; // of the thread that installs the handlers
static struct sigaction previous[NSIG];                  // written before the handler is installed

static void *release_thread(void *user)
{
	(void)user;
	// Above the loop and its watchdog. A refusal is no reason to have no release.
	const tac_thread_def def = {
		.name = "tac-release", .policy = TAC_POLICY_FIFO, .priority = 91, .cpu = -1};
	tac_thread_report report;
	(void)!tac_thread_enter(&def, &report);
	while (sem_wait(&requested) != 0) {
	}
	pthread_mutex_lock(&lock);
	for (int i = 0; i < TAC_RELEASE_HOOKS; i++) {
		if (hooks[i].fn)
			hooks[i].fn(hooks[i].user);
	}
	pthread_mutex_unlock(&lock);
	tac_clock_sleep_until_ns(tac_clock_now_ns() + TAC_RELEASE_SETTLE_NS);
	atomic_store(&settled, true);
	return NULL;
}

void tac_release_now(void)
{
	if (atomic_load(&hook_count) == 0)
		return;
	sem_post(&requested);
	const int64_t end_ns = tac_clock_now_ns() + TAC_RELEASE_LIMIT_NS;
	for (int64_t now_ns; !atomic_load(&settled) && (now_ns = tac_clock_now_ns()) < end_ns;)
		tac_clock_sleep_until_ns(now_ns + POLL_NS);
}

void tac_release_and_raise(int signal)
{
	tac_release_now();
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
	raise(signal); // takes effect when the handler returns
}

// ---- handlers ----

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGABRT;
}

static void on_fatal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	const int error = errno;
	tac_release_now();
	sigaction(signal, &previous[signal], NULL);
	// A faulting instruction faults again when the handler returns, which keeps the address of the fault
	// for a core dump. A signal that was sent has to be sent again.
	if (info->si_code <= 0 || !is_fault(signal))
		raise(signal);
	errno = error;
}

static void on_assertion(const char *condition, const char *file, int line)
{
	tac_release_now(); // before the print, which can block
	tac_assert_print(condition, file, line);
}

// Signals that do not end the process, or that cannot be caught.
static bool is_harmless(int signal)
{
	static const int harmless[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
				       SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
		if (signal == harmless[i])
			return true;
	}
	return false;
}

static void install_handlers(void)
{
	struct sigaction fatal = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigfillset(&fatal.sa_mask);
	for (int s = 1; s < NSIG; s++) {
		if (is_harmless(s) || sigaction(s, NULL, &previous[s]) != 0)
			continue; // the C library refuses access to the two signals it uses itself
		const bool is_default =
			!(previous[s].sa_flags & SA_SIGINFO) && previous[s].sa_handler == SIG_DFL;
		if (is_default || is_fault(s))
			sigaction(s, &fatal, NULL);
	}
	tac_assert_set(on_assertion);
}

// ---- set-up ----

// Starts the thread with every signal blocked: the handlers wait for it.
static tac_result start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	sigfillset(&all);
	sem_init(&requested, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&thread, &attr, release_thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error == 0)
		return TAC_OK;
	tac_log(TAC_LOG_ERROR, "release: expected a new thread, found %s", strerror(error));
	return TAC_ERROR_SYSTEM;
}

static tac_result add_hook(tac_release_fn fn, void *user)
{
	for (int i = 0; i < TAC_RELEASE_HOOKS; i++) {
		if (hooks[i].fn)
			continue;
		hooks[i] = (hook){fn, user};
		atomic_fetch_add(&hook_count, 1);
		return TAC_OK;
	}
	tac_log(TAC_LOG_ERROR, "release: expected at most %d hooks, found one more", TAC_RELEASE_HOOKS);
	return TAC_ERROR_MEMORY;
}

tac_result tac_release_add(tac_release_fn fn, void *user)
{
	pthread_mutex_lock(&lock);
	tac_result result = installed ? TAC_OK : start_thread();
	if (result == TAC_OK && !installed) {
		tac_thread_signal_stack(signal_stack, sizeof signal_stack);
		install_handlers();
		installed = true;
	}
	if (result == TAC_OK)
		result = add_hook(fn, user);
	pthread_mutex_unlock(&lock);
	return result;
}

void tac_release_remove(tac_release_fn fn, void *user)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < TAC_RELEASE_HOOKS; i++) {
		if (hooks[i].fn == fn && hooks[i].user == user) {
			hooks[i] = (hook){0};
			atomic_fetch_sub(&hook_count, 1);
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}
