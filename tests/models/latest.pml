/* The triple buffer of rt/latest.c, one Promela step for each access to shared memory.
 *
 * Weak memory. `middle` is one word, and an exchange always acts on its newest value; the reader's hint may be
 * older (it may miss FRESH). The words of the payload are unordered:
 * - a store waits in the writer's buffer and reaches memory at any later time, in any order; a release waits for
 *   the buffer to be empty (one entry a word);
 * - a load binds at any later time; a release waits for the loads before it;
 * - a load may also bind early, before the exchange that comes first in the program, from any slot; an acquire
 *   discards such values.
 * In addition, each slot records which accesses of one thread the other has not synchronised with by a release
 * that an acquire read. Touching it then is a data race in C11, whether or not this machine would show it. With
 * -DVALUES_ONLY races are not reported, and only wrong values can reveal them.
 *
 * Checked, for runs of any length: the reader sees whole payloads, and at each fresh read the newest published
 * one (so never an older after a newer), which stays unchanged until the next read; no slot has two owners; the
 * reader gets nothing before the first publish; `fresh` is true exactly if there is an unseen payload. Wait-free:
 * neither side has a loop, and with the other thread stopped for good at any step neither blocks (a blocked thread
 * is an invalid end state here).
 */
#define SLOTS     3
#define WORDS     2
#define VALUES    4 /* sequence numbers modulo this: one more than there are slots */
#define UNWRITTEN 255

#define SLOT_MASK 3
#define FRESH     4

byte middle = 1; /* the atomic */
byte memory[SLOTS * WORDS] = UNWRITTEN;
byte back = 0;  /* the writer's */
byte front = 2; /* the reader's */
bool any;

bool storing[WORDS]; /* the writer's store buffer */
byte store_at[WORDS], store_value[WORDS];
bool loading[WORDS]; /* the reader's loads that have not bound yet */
byte load_at[WORDS], loaded[WORDS];
bool early; /* a load of word 0 by the reader bound too early; one word suffices, since all are checked */
byte early_at, early_value;

/* Ghosts: no code depends on them. */
byte newest;    /* sequence number of the last publish */
bool unseen;    /* the reader has not taken it yet */
bool halted[2]; /* 0 the writer, 1 the reader */
/* One bit a slot: touched by one thread, and the other has not yet acquired a later release. */
byte wrote, wrote_released; /* by the writer */
byte read, read_released;   /* by the reader */

/* Broken variants, which the search must catch. */
#ifdef BROKEN_PUBLISH_RELAXED
#define PUBLISH_RELEASE true
#else
#define PUBLISH_RELEASE (!storing[0] && !storing[1])
#define PUBLISH_SYNCS
#endif
#ifdef BROKEN_READ_RELAXED
#define READ_RELEASE true
#else
#define READ_RELEASE (!loading[0] && !loading[1])
#define READ_SYNCS
#endif

#ifdef VALUES_ONLY
#define NO_RACE(condition) skip
#else
#define NO_RACE(condition) assert(condition)
#endif

inline owners_differ()
{
	assert(back != front && back != (middle & SLOT_MASK) && front != (middle & SLOT_MASK))
}

inline store(w)
{
	atomic {
		!storing[w] ->
		NO_RACE(!(read & (1 << back)));
		wrote = wrote | (1 << back);
		wrote_released = wrote_released & ~(1 << back);
		storing[w] = true;
		store_at[w] = back * WORDS + w;
		store_value[w] = sequence
	}
}

inline publish()
{
#ifdef BROKEN_EXCHANGE
	old = middle;
#endif
	atomic {
		PUBLISH_RELEASE ->
#ifndef BROKEN_EXCHANGE
		old = middle;
#endif
		middle = back | FRESH;
		back = old & SLOT_MASK;
#ifdef PUBLISH_SYNCS
		wrote_released = wrote;
#endif
#ifndef BROKEN_PUBLISH_UNACQUIRED
		read = read & ~read_released;
		read_released = 0;
#endif
		newest = sequence;
		unseen = true;
		old = 0;
		owners_differ()
	}
}

inline load(w)
{
	atomic {
		NO_RACE(!(wrote & (1 << front)));
		read = read | (1 << front);
		read_released = read_released & ~(1 << front);
		if
		:: w == 0 && early && early_at == front * WORDS -> loaded[w] = early_value; forget_early()
		:: else -> loading[w] = true; load_at[w] = front * WORDS + w
		fi
	}
}

/* By now the caller needs the values loaded from the last payload. */
inline use()
{
	atomic {
		!loading[0] && !loading[1] ->
		assert(loaded[0] == expected && loaded[1] == expected);
		loaded[0] = 0;
		loaded[1] = 0
	}
}

inline forget_early()
{
	early = false; early_at = 0; early_value = 0
}

inline take()
{
	if
	:: atomic { fresh = ((middle & FRESH) != 0); assert(fresh == unseen) }
	:: fresh = false /* an older value of middle */
	fi;
	if
	:: fresh ->
		atomic {
			READ_RELEASE ->
			old = middle;
			middle = front;
			front = old & SLOT_MASK;
#ifdef READ_SYNCS
			read_released = read;
#endif
#ifndef BROKEN_READ_UNACQUIRED
			wrote = wrote & ~wrote_released;
			wrote_released = 0;
			forget_early();
#endif
			assert(old & FRESH);
			assert(unseen);
			any = true;
			unseen = false;
			next_expected = newest;
			old = 0;
			owners_differ()
		}
	:: else
	fi
}

proctype Writer()
{
	byte sequence, old;
	{
		do
		::
#ifdef BROKEN_PUBLISH_FIRST
			publish();
			store(0);
			store(1);
#else
			store(0);
			store(1);
			publish();
#endif
			sequence = (sequence + 1) % VALUES
		od
	} unless { halted[0] }
}

proctype Reader()
{
	byte expected, next_expected, old;
	bool fresh, loads;
	{
		do
		:: take();
			if
			:: loads -> use()
			:: else
			fi;
			atomic { expected = next_expected; fresh = false };
			if
			:: any -> load(0); load(1); loads = true
			:: else
			fi
		od
	} unless { halted[1] }
}

/* Performs the pending stores and loads, in any order. */
proctype Memory()
{
	byte slot;
end:	do
	:: atomic {
		storing[0] -> memory[store_at[0]] = store_value[0];
		storing[0] = false; store_at[0] = 0; store_value[0] = 0
	}
	:: atomic {
		storing[1] -> memory[store_at[1]] = store_value[1];
		storing[1] = false; store_at[1] = 0; store_value[1] = 0
	}
	:: atomic { loading[0] -> loaded[0] = memory[load_at[0]]; loading[0] = false; load_at[0] = 0 }
	:: atomic { loading[1] -> loaded[1] = memory[load_at[1]]; loading[1] = false; load_at[1] = 0 }
	:: atomic {
		!early -> select(slot : 0 .. SLOTS - 1);
		early_at = slot * WORDS; early_value = memory[early_at]; early = true; slot = 0
	}
	od
}

/* Stops one thread for good at any step, or none. */
proctype Halter()
{
end:	if
	:: halted[0] = true
	:: halted[1] = true
	fi
}

init
{
	atomic {
		run Writer();
		run Reader();
		run Memory();
		run Halter()
	}
}
