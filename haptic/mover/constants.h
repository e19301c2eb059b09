// Constants of the movers: purpose, unit and effect of a change. What a user may tune is in tac_sco_def.
// docs/sco-measured.md has what a factor of two does to each. They trade speed against accuracy. Safety does
// not rest on them: the continuous mover needs a proof of a motion, the reactive one a pose found free.
#ifndef TAC_HAPTIC_MOVER_CONSTANTS_H
#define TAC_HAPTIC_MOVER_CONSTANTS_H

// --- gaps between tool and obstacles ---

// The smallest distance at which the SCO may start or stay, m. It is above the threshold of the certificate,
// so that motions from there can be proved. Larger: a reset is refused further from a surface.
#define SCO_MIN_GAP_M 1e-6
// A substep ends no closer to an obstacle than this, in hold gaps, or than it began. Larger: more substeps
// are halved or blocked by the curvature of the path. Smaller: later substeps start with less room to move.
#define SCO_FLOOR_GAPS 0.5
// A gap smaller than the hold gap is opened by this fraction of what it lacks in one substep. Larger: the
// tool jumps away from a surface that came too close. Smaller: it recovers more slowly.
#define SCO_GAP_RECOVERY 0.5
// Every list reaches at least this many hold gaps, or its query has failed. Contacts within them are
// reported, and flights stop there. Larger: more unloaded contacts, and more queries that fail.
#define SCO_LIST_GAPS 2
// Closer than this many hold gaps the tool counts as near contact: no flights, and the slew limit applies.
#define SCO_NEAR_CONTACT_GAPS 5
// Bounding spheres are enlarged by this factor: more than the rounding of poses in single precision.
#define SCO_SPHERE_SLACK (1 + 1e-5)

// --- controllers: how far contacts are listed and how far a substep goes ---

// What worked may be this many times as long the next time: the travel of a step, the pace. Larger: longer
// lists. Smaller: an accelerating hand needs more substeps.
#define SCO_GROWTH 1.5
// The trust radius becomes this many times as large after a substep that was made and that a limit cut short.
// Larger: fewer substeps where a tool with a long arm lands, and longer lists.
#define SCO_TRUST_GROWTH 3
// What failed is tried again this many times as long: blocked substeps, proofs that took too much work,
// stopped rolls, a pace. Larger: more tries that fail. Smaller: slower progress after one.
#define SCO_SHRINK 0.5
// A step whose work ended too early lowers the pace to this fraction of its travel. Smaller: more lag.
#define SCO_PACE_SHRINK 0.7
// The pace grows while the dearest of the last steps took less than this share of its work. Larger: less lag
// where surfaces are dense, and more steps that end early.
#define SCO_PACE_COST 0.46
// What a step cost counts this many times as much one step later. Larger: slower growth, fewer early ends.
#define SCO_PACE_MEMORY 0.93
// Lists reach this fraction of the trust radius, plus SCO_LIST_GAPS. Gaps of sliding surfaces close slowly,
// and the certificate finds what a list misses. Larger: longer lists. Smaller: more injections.
#define SCO_CONTACT_MARGIN 0.4
// A list that covers at least this fraction of the wanted margin is reused. Larger: more contact queries.
// Smaller: more injections of contacts that are not listed.
#define SCO_REUSE_MARGIN 0.5
// The number of pairs that one contact query should examine, as a share of the step's work units, of which no
// more than SCO_QUERY_UNITS count. Larger: wider lists, less work for substeps.
#define SCO_MESH_QUERY_SHARE  0.09
#define SCO_ROUND_QUERY_SHARE 0.5
#define SCO_QUERY_UNITS       500
// A substep of a round tool may be this many trust radii long, since the proof of its translation is exact
// and cheap. Larger: more motions are proved in vain.
#define SCO_ROUND_STRIDE 4
// A substep longer than this fraction of a limit counts as limited. At 1 rounding would hide that it is.
#define SCO_AT_LIMIT 0.98
// The slew limit allows, besides slew_m_per_s, this many times the travel of the device. Smaller: more lag.
#define SCO_SLEW_DEVICE_FACTOR 2

// An object that pushes goes at most this fraction of the trust radius in one substep: the tool needs the
// rest to yield. Larger: an object stops further from a tool that cannot yield.
#define SCO_OBSTACLE_TRAVEL 0.5

// --- substeps: when one is made, halved, or the last ---

// A substep must lower the squared distance to the device by this, m^2 in the metric, or the step has
// converged. What is left is about its root, 0.5 µm. Smaller: the tool chatters between equivalent poses.
#define SCO_MIN_PROGRESS_M2 2.5e-13
// Lengths below this do not count, m: a motion, the way to the device, the height of an arc over its chord.
// Larger: longer rests.
#define SCO_MIN_TRAVEL_M 1e-9
// After the first substep a rest shorter than this fraction of stop_length_m, or than this share of the
// step's travel, is left to the next step, unless a contact cut a substep short. Smaller: one more proof in
// many steps.
#define SCO_SETTLED_FRACTION 0.1
#define SCO_SETTLED_SHARE    0.02
// From this many work units on a step is late: it leaves any rest shorter than SCO_LATE_FRACTION of
// stop_length_m, and near contact ends at SCO_LATE_LIMIT of the slew limit. Larger units or limit, smaller
// fraction: the slowest steps take longer.
#define SCO_LATE_UNITS    100
#define SCO_LATE_FRACTION 0.4
#define SCO_LATE_LIMIT    0.8
// A substep is tried this often, each time with half the motion, before it counts as blocked or converged;
// the reactive mover halves it this often. Larger: more queries where nothing is free.
#define SCO_COMMIT_TRIES 4
// A substep of which less than this fraction is proved is solved again with the contact that ended the proof.
// Larger: more QPs. Smaller: steps that end at a contact which is not in the list.
#define SCO_MIN_PROVED 0.25
// The turn towards a device about half a turn away changes its direction when the other one is shorter by
// this, rad. Smaller: the SCO may flip to and fro with the noise of the device.
#define SCO_TURN_HYSTERESIS_RAD 0.2
// The time, s, in which this hysteresis decays while the device stands still. Larger: the SCO goes the longer
// way to a device that is held, with a rising force. Smaller: noise that pauses may flip it.
#define SCO_TURN_HYSTERESIS_TIME_S 1e-2
// Clearances of a round tool, in hold gaps. With this as s: a translation keeps 1 - s from all surfaces, and
// a roll ends no closer than 1 - s. In between, the chord of a roll around an edge or vertex comes as close
// as 2 s to that, and keeps s from all else. Larger: shorter rolls.
#define SCO_ROUND_SLACK_GAPS 0.1

// --- flights: sweeps away from contact ---

// Longer flights are cut to this, m: the sweeps are precise up to there.
#define SCO_MAX_FLIGHT_M 1e3
// The work of one sweep, as a share of the units that are left; the rest is for the substeps after the
// flight. A smaller maximum cuts flights short. A larger minimum starves tools that cannot fly.
#define SCO_MAX_FLIGHT_SHARE 0.5
#define SCO_MIN_FLIGHT_SHARE 0.03125
// For a flight shorter than this, m, no more than SCO_SHORT_UNITS count as left, because substeps are as
// quick over such a distance. Larger: slowest steps take longer.
#define SCO_LONG_FLIGHT_M 5e-3
#define SCO_SHORT_UNITS   100

// --- work budget: one unit is about 0.3 µs ---

// Units of tac_sweep_context_work (about 10 ns) in one work unit: a ratio of times.
#define SCO_CONTEXT_WORK_PER_UNIT 32
// Triangles, nodes and blocks that a round tool examines for one work unit: a ratio of times.
#define SCO_ROUND_TESTS_PER_UNIT 8
// The contacts at the end of a proved motion have at least this share of the step's work units, also where
// less is left, and may take twice as much. Larger: longer steps. Smaller: conforming tools land late.
#define SCO_END_SHARE 0.4
// A step that has taken this many work units does not work ahead. Larger: longer slowest steps. Smaller:
// lists that are not ready when they are needed.
#define SCO_AHEAD_UNITS 250
// How often a reset works ahead, enough for the first list. Smaller: the first step takes longer.
#define SCO_RESET_PARTS 32
// The most work units of a starved step, of a step of the reactive mover and of a reset. A unit takes 0.3 µs,
// and up to 0.6 µs where proofs of large triangles fail: at most 0.9 ms. Smaller: starved tools stay put.
#define SCO_WORK_MAX 1500
// The nodes, 10 to 100 ns each, that the queries of a collider may take in one step of the continuous mover,
// for the check of its pose; in a reset; and in a step of the reactive mover, which has nothing else. Engines
// count nodes differently, so the reactive mover gives the same bits on all of them only below this limit.
// Larger: longer worst case. Smaller: checks and resets take more steps.
#define SCO_CHECK_NODES    1000
#define SCO_RESET_NODES    20000
#define SCO_REACTIVE_NODES 100000
// The period for which the limits of nodes and of starved steps are made, s. In a shorter one they are
// smaller in proportion, so that these steps fit into it.
#define SCO_USUAL_PERIOD_S 1e-3

// --- capacities: the certificate, or the next query of the reactive mover, finds what does not fit ---

#define SCO_MAX_ROWS     1024 // of the QP
#define SCO_MAX_INJECTED 16   // contacts that failed proofs ran into
// Pairs of triangles that the reactive mover keeps as constraints. A pose with more is too deep to give
// constraints; half the motion is tried instead. Larger: longer worst case.
#define SCO_REACTIVE_MAX_PAIRS 512
// Poses that one substep of the reactive mover tries. Larger: longer worst case.
#define SCO_REACTIVE_MAX_TRIES 12

#endif
