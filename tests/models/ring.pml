/* The ring of rt/ring.c, one Promela step for each access to shared memory.
 *
 * Weak memory. The counters are single words, read and written in the order of the interleaving. The words of
 * the element are not:
 * - a store waits in the producer's buffer and reaches memory at any later time, in any order; a release store
 *   waits for the buffer to be empty (one entry a word);
 * - a load binds at any later time; a release store waits for the loads before it;
 * - a load may also bind early, before the load of the counter that comes first in the program; an acquire
 *   load discards such values.
 * In addition, each slot records which accesses of one thread the other has not synchronised with by a release
 * that an acquire read. Touching it then is a data race in C11, whether or not this machine would show it. With
 * -DVALUES_ONLY races are not reported, and only wrong values can reveal them.
 *
 * Checked, for runs of any length: elements are popped whole, in order, each once (sequence numbers are
 * consecutive); push refuses only a full ring and counts the refusal; pop reports empty only for an empty ring; no
 * slot is read before it was written; the counters wrap from any start. MODULUS is the smallest that the code
 * allows, twice the capacity. Wait-free: push and pop have no loop, and with the other thread stopped for good at any step
 * neither blocks (a blocked thread is an invalid end state here).
 */
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef MODULUS
#define MODULUS (2 * CAPACITY)
#endif
#define WORDS     2
#define UNWRITTEN 255

/* The payload is its sequence number, modulo MODULUS as well: the value of a slot differs from round to round, and
 * there are fewer states than with another modulus. */

#define STORED(pushed, popped) ((pushed + MODULUS - popped) % MODULUS)

/* Broken variants, which the search must catch. */
#ifdef BROKEN_PUSH_RELAXED
#define PUSH_RELEASE true
#else
#define PUSH_RELEASE (!storing[0] && !storing[1])
#define PUSH_SYNCS
#endif
#ifdef BROKEN_POP_RELAXED
#define POP_RELEASE true
#else
#define POP_RELEASE (!loading[0] && !loading[1])
#define POP_SYNCS
#endif

byte pushed, popped; /* the two atomics */
byte memory[CAPACITY * WORDS] = UNWRITTEN;

bool storing[WORDS]; /* the producer's store buffer */
byte store_at[WORDS], store_value[WORDS];
bool loading[WORDS]; /* the consumer's loads that have not bound yet */
byte load_at[WORDS], loaded[WORDS];
bool early; /* a load of word 0 by the consumer bound too early; one word suffices, since all are checked */
byte early_value;
bool copying; /* the consumer is between its copy and the use of the copy */

/* Ghosts: no code depends on them. */
byte held;        /* elements between the two counters, without wrap */
byte unaccounted; /* pushes neither stored nor counted as refused */
bool halted[2];   /* 0 the producer, 1 the consumer */
/* One bit a slot: touched by one thread, and the other has not yet acquired a later release. */
byte wrote, wrote_released; /* by the producer */
byte read, read_released;   /* by the consumer */

#ifdef VALUES_ONLY
#define NO_RACE(condition) skip
#else
#define NO_RACE(condition) assert(condition)
#endif

inline store(w, slot, value)
{
	atomic {
		!storing[w] ->
		NO_RACE(!(read & (1 << (slot))));
		wrote = wrote | (1 << (slot)); wrote_released = wrote_released & ~(1 << (slot));
		storing[w] = true;
		store_at[w] = slot * WORDS + w;
		store_value[w] = value;
	}
}

inline load(w, slot)
{
	atomic {
		NO_RACE(!(wrote & (1 << (slot))));
		read = read | (1 << (slot)); read_released = read_released & ~(1 << (slot));
		copying = true;
		if
		:: w == 0 && early -> loaded[w] = early_value
		:: else -> loading[w] = true; load_at[w] = slot * WORDS + w
		fi
	}
}

inline publish_pushed(mine)
{
	atomic {
		PUSH_RELEASE ->
#ifdef PUSH_SYNCS
		wrote_released = wrote;
#endif
		pushed = (mine + 1) % MODULUS;
		held++;
		unaccounted--
	}
}

inline push(sequence, mine, seen)
{
	atomic { unaccounted++; mine = pushed };
	if
	:: STORED(mine, seen) == CAPACITY ->
		atomic {
			seen = popped;
			was_full = (held == CAPACITY);
#ifndef BROKEN_PUSH_UNACQUIRED
			read = read & ~read_released; read_released = 0;
#endif
		}
		if
		:: STORED(mine, seen) == CAPACITY ->
#ifdef BROKEN_PUSH_WAITS
			popped != seen; /* waits for room instead of refusing */
#else
			atomic {
				assert(was_full);
#ifndef BROKEN_REFUSAL_UNCOUNTED
				unaccounted--;
#endif
				goto pushed_or_refused
			}
#endif
		:: else
		fi
	:: else
	fi;
#ifdef BROKEN_PUBLISH_FIRST
	publish_pushed(mine);
	store(0, mine % CAPACITY, sequence);
	store(1, mine % CAPACITY, sequence);
#else
	store(0, mine % CAPACITY, sequence);
	store(1, mine % CAPACITY, sequence);
	publish_pushed(mine);
#endif
	sequence = (sequence + 1) % MODULUS
}

inline pop(expected, mine, seen)
{
	mine = popped;
	if
	:: mine == seen ->
		atomic {
			seen = pushed;
			was_empty = (held == 0);
#ifndef BROKEN_POP_UNACQUIRED
			wrote = wrote & ~wrote_released; wrote_released = 0;
			early = false; early_value = 0;
#endif
		}
		if
		:: mine == seen -> atomic { assert(was_empty); goto popped_or_empty }
		:: else
		fi
	:: else
	fi;
	load(0, mine % CAPACITY);
	load(1, mine % CAPACITY);
	atomic {
		POP_RELEASE ->
#ifdef POP_SYNCS
		read_released = read;
#endif
		popped = (mine + 1) % MODULUS;
		held--;
	}
	/* The caller uses the element. */
	atomic {
		!loading[0] && !loading[1] ->
		assert(loaded[0] == expected && loaded[1] == expected);
		loaded[0] = 0; loaded[1] = 0;
		early = false; early_value = 0;
		copying = false;
		expected = (expected + 1) % MODULUS
	}
}

proctype Producer(byte start)
{
	byte sequence = start, mine, seen = start;
	bool was_full;
	{
		do
		:: push(sequence, mine, seen);
pushed_or_refused:
			atomic {
				assert(unaccounted == 0 && held <= CAPACITY);
				mine = 0; was_full = false /* dead values: fewer states */
			}
		od
	} unless { halted[0] }
}

proctype Consumer(byte start)
{
	byte expected = start, mine, seen = start;
	bool was_empty;
	{
		do
		:: pop(expected, mine, seen);
popped_or_empty:
			atomic { mine = 0; was_empty = false }
		od
	} unless { halted[1] }
}

/* Performs the pending stores and loads, in any order. */
proctype Memory()
{
end:	do
	:: atomic { storing[0] -> memory[store_at[0]] = store_value[0]; storing[0] = false;
		store_at[0] = 0; store_value[0] = 0 }
	:: atomic { storing[1] -> memory[store_at[1]] = store_value[1]; storing[1] = false;
		store_at[1] = 0; store_value[1] = 0 }
	:: atomic { loading[0] -> loaded[0] = memory[load_at[0]]; loading[0] = false; load_at[0] = 0 }
	:: atomic { loading[1] -> loaded[1] = memory[load_at[1]]; loading[1] = false; load_at[1] = 0 }
	:: atomic {
		!copying && !early -> early_value = memory[(popped % CAPACITY) * WORDS]; early = true
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
	byte start;
	atomic {
		select(start : 0 .. MODULUS - 1);
		pushed = start;
		popped = start;
		run Producer(start);
		run Consumer(start);
		run Memory();
		run Halter()
	}
}
