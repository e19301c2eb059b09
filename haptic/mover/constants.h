// Tuning constants of the movers: purpose, unit and effect of a change. What a user may tune is in
// tac_sco_def. These constants trade speed against accuracy. Safety does not rest on them: the continuous
// mover accepts a motion only with a proof, the reactive one a pose only if the collider finds it free.
#ifndef TAC_HAPTIC_MOVER_CONSTANTS_H
#define TAC_HAPTIC_MOVER_CONSTANTS_H

// --- gaps between tool and obstacles ---

// The smallest distance at which the SCO may start or stay, m. It is above the threshold of the certificate,
// so that motions from there can be proved. Larger: a reset is refused further from a surface.
#define SCO_MIN_GAP_M 1e-6
// A substep ends no closer to an obstacle than this, in hold gaps. Larger: more substeps are halved or
// blocked by the curvature of the path. Smaller: later substeps start with less room to move.
#define SCO_FLOOR_GAPS 0.5
// From a pose below that floor, a substep may still give up a little of the distance: to this fraction of it.
// At 1 it could not slide there, because the path of a turning tool is curved.
#define SCO_FLOOR_FRACTION 0.98
// A gap smaller than the hold gap is opened by this fraction of what it lacks in one substep. Larger: the
// tool jumps away from a surface that came too close. Smaller: it recovers more slowly.
#define SCO_GAP_RECOVERY 0.5
// Contacts within this many hold gaps are reported. A contact query that cannot cover this margin counts as
// failed. Larger: more unloaded contacts in the report.
#define SCO_REPORT_GAPS 2
// Closer than this many hold gaps the tool counts as near contact: no flights, and the slew limit applies.
// Larger: the slew limit acts further from the surface.
#define SCO_NEAR_CONTACT_GAPS 5

// Bounding spheres this many times as large decide that a tool is far from an obstacle: more than rounding.
#define SCO_FAR_SLACK (1 + 1e-9)

// The same for a query of a slow engine, which sees the pose in single precision.
#define SCO_ASK_SLACK (1 + 1e-5)

// --- trust radius: how far contacts are listed and how far a substep goes ---

// The trust radius of the next step, as a multiple of the travel in this one. A hand moves on at about its
// speed; one that doubles it costs one more substep. Larger: contact queries cost more. Smaller: an
// accelerating hand needs more substeps.
#define SCO_TRUST_GROWTH 1.5
// When the hand slows down the trust radius decays with this time constant, s. Larger: longer lists than
// needed.
#define SCO_TRUST_DECAY_S 1e-3
// The factor by which the trust radius widens when it limited a substep.
#define SCO_TRUST_WIDENING 2
// The factor by which the trust radius shrinks after a blocked substep. Smaller: the SCO recovers with
// shorter, cheaper substeps, and lags longer.
#define SCO_TRUST_BLOCKED_FACTOR 0.25
// The lower limit of the trust cap, m: meshes so dense that a contact query of this margin is already
// expensive still move. Larger: such steps exceed their share of the budget.
#define SCO_TRUST_CAP_MIN_M 1e-5
// Contacts are listed up to this fraction of the trust radius, plus two hold gaps. Gaps of sliding surfaces
// close slowly, and the certificate finds what the list misses. Larger: longer lists. Smaller: more
// injections.
#define SCO_CONTACT_MARGIN 0.4
// A list that covers at least this fraction of the wanted margin is reused. Larger: more contact queries.
// Smaller: more injections of contacts that are not listed.
#define SCO_REUSE_MARGIN 0.6
// A substep goes at most this multiple of the travel to the device. Larger: more rows close to the device.
// Smaller: a solution that slides and turns is cut short.
#define SCO_TRAVEL_SLACK 1.05
// From this fraction of a limit on, a substep counts as limited. Larger: the trust radius widens too rarely.
#define SCO_AT_LIMIT 0.98
// The slew limit allows, besides slew_m_per_s, this many times the travel of the device.
#define SCO_SLEW_DEVICE_FACTOR 2
// Added to what is left of the slew limit, m, so that a substep always has some room.
#define SCO_SLEW_SLACK_M 1e-6

// --- stride: how long a motion the work pays for ---

// A proof is expensive above the first of these fractions of a step's work units: the next motion is at most
// SCO_STRIDE_SHRINK times as long. It is cheap below the second: the next may be SCO_STRIDE_GROWTH times as
// long. Larger costs: fewer substeps, and more that end without a proof.
#define SCO_STRIDE_MAX_COST 0.7
#define SCO_STRIDE_MIN_COST 0.3
#define SCO_STRIDE_SHRINK   0.5
#define SCO_STRIDE_GROWTH   1.5

// --- substeps: when one is made, halved, or the last ---

// A substep must lower the squared distance to the device by this, m^2 in the metric, or the step has
// converged. What is left is about its root, 0.5 µm. Smaller: the tool chatters between equivalent poses.
#define SCO_MIN_PROGRESS_M2 2.5e-13
// Shorter motions are not made, m.
#define SCO_MIN_TRAVEL_M 1e-9
// A tool closer than this to the device has arrived, m.
#define SCO_ARRIVED_M 1e-12
// After the first substep of a step, a shorter one than this fraction of stop_length_m is left to the next
// step. Smaller: closer to the optimum, for one more proof in many steps.
#define SCO_SETTLED_FRACTION 0.1
// How often a substep is tried before it counts as blocked, each time with half the motion.
#define SCO_MAX_COMMIT_TRIES 6
// How many of these tries may end further from the device before the step counts as converged. Larger: more
// work in every step that has converged. Smaller: steps around curved edges end early.
#define SCO_MAX_UPHILL_TRIES 3
// A substep of which less than this fraction is proved is solved again with the contact that ended the proof.
// Larger: more QPs. Smaller: more short substeps towards a contact that is not in the list.
#define SCO_MIN_PROVED 0.25
// How often contacts are injected at one pose before the proved part is taken.
#define SCO_MAX_INJECTION_ROUNDS 6
// After a blocked substep the bounds of all contacts demand this much more, m, then twice as much each time,
// up to the given fraction of the hold gap. Larger: the tool backs away from surfaces further than it needs
// to.
#define SCO_BIAS_INITIAL_M 2e-6
#define SCO_BIAS_MAX       0.8
// A moving obstacle goes at most this fraction of the trust radius in one substep: the tool needs the rest to
// yield.
#define SCO_OBSTACLE_TRAVEL 0.5
// The turn towards a device about half a turn away changes its direction when the other one is shorter by
// this, rad. Smaller: the SCO may flip to and fro with the noise of the device.
#define SCO_TURN_HYSTERESIS_RAD 0.2
// While the device stands still this decays, s. Otherwise the SCO could go the longer way to a device that is
// held, with a rising force. Smaller: noise that pauses could flip it.
#define SCO_TURN_HYSTERESIS_TIME_S 1e-2

// --- flights: sweeps away from contact ---

// Longer flights are cut to this, m.
#define SCO_MAX_FLIGHT_M 1e3
// The work of one sweep, as a fraction of what is left; the rest is for the substeps after the flight.
// Larger: longer flights, and fewer substeps where a flight comes to nothing.
#define SCO_MAX_FLIGHT_SHARE 0.5
#define SCO_MIN_FLIGHT_SHARE 0.03125
// The largest turn of one sweep, rad.
#define SCO_MAX_SPIN_RAD 2.5
// A flight stops this many hold gaps from an obstacle, so that the substeps that follow have room.
#define SCO_FLIGHT_GAPS 2

// --- work budget: one unit is about 0.3 µs ---

// Units of tac_sweep_context_work (about 10 ns) in one work unit.
#define SCO_CONTEXT_WORK_PER_UNIT 32
// Triangles, nodes and blocks that a round tool examines for one work unit.
#define SCO_ROUND_TESTS_PER_UNIT 8
// Another substep is begun only if this fraction of what the last one cost is left. Smaller: more substeps
// end without a proof. Larger: more work units remain unused.
#define SCO_MIN_BUDGET_FRACTION 0.75
// The most work units of a starved step, of a step of the reactive mover and of a reset. A unit takes 0.3 µs,
// and up to 0.6 µs where proofs of large triangles fail, so that this is at most 0.9 ms.
#define SCO_WORK_MAX 1500
// After this many successive steps in which the budget ended before the SCO could move, the next steps have
// the given multiple of the budget, up to the maximum. Without it the SCO could stay in a dense place for
// good. Larger factors: fewer starved steps, longer worst case.
#define SCO_STARVED_STEPS  3
#define SCO_STARVED_FACTOR 3
// The nodes that the queries of a collider may take in one step of the continuous mover (about 0.2 ms), and
// of the reactive one, which has nothing else. Engines count nodes differently, so the reactive mover gives
// the same bits on all of them only below this limit. Larger: longer worst case.
#define SCO_CHECK_NODES    20000
#define SCO_REACTIVE_NODES 100000
// The period for which these limits and SCO_WORK_MAX are made, s. In a shorter one they are smaller in
// proportion, so that a starved step fits into it, too.
#define SCO_USUAL_PERIOD_S 1e-3

// --- constraints ---

// Capacities: rows of the QP, and injected contacts. What does not fit is left to the certificate.
#define SCO_MAX_ROWS     1024
#define SCO_MAX_INJECTED 16
// How often the rows are corrected by the true gaps at the last solution. Each pass costs a QP. Fewer: more
// turning substeps are halved because they end too close.
#define SCO_CURVATURE_PASSES 2
// A correction is at most half the gap plus this, m: beyond, another feature pair is the closest one.
#define SCO_CURVATURE_MAX_M 1e-4
// Motions that turn less than this, rad, need no correction.
#define SCO_CURVATURE_MIN_TURN_RAD 1e-7
// Edges with a smaller sine of the angle between them are parallel: their common normal is rounding.
#define SCO_PARALLEL_SINE 1e-4

// --- injection: contacts that a failed proof ran into ---

// How far beside a face a vertex may meet its plane and still count, m. Larger: planes of faces act where
// there is no face. Smaller: contacts at the border of two faces are missed.
#define SCO_INJECT_FACE_SLACK_M 1e-5
// How far beyond its ends an edge may be met and still count, as a fraction of its length.
#define SCO_INJECT_EDGE_SLACK 0.02
// As SCO_PARALLEL_SINE, at the start and at the later pose. Smaller: injected normals are less reliable.
#define SCO_INJECT_PARALLEL_SINE 1e-3

// --- round tools ---

// A translated round tool stops this fraction of the hold gap before an obstacle that was not listed.
#define SCO_ROUND_STOP_GAPS 0.95
// The same while it rolls: the chord around an edge or vertex dips into the hold gap.
#define SCO_ROLL_STOP_GAPS 0.1
// Motions that turn less than this, rad, are translations and have a closed form.
#define SCO_ROUND_MIN_TURN_RAD 1e-12
// How deep the chord of a roll may dip, as a fraction of the hold gap. Together with the stop gap it must
// stay below 1. Larger: longer rolls.
#define SCO_ROLL_DIP 0.8
// The end of a roll keeps this fraction of the hold gap. It is more than the dip, so that an obstacle which a
// tool enlarged by the hold gap would meet on the chord is also too close at the end.
#define SCO_ROLL_END_GAPS 0.9
// Shorter rolls are not made, m.
#define SCO_ROLL_MIN_M 5e-6
// The tangent of the largest angle of a roll.
#define SCO_ROLL_MAX_TANGENT 5
// How often a roll is solved to end within reach, and which fraction of the reach it then aims for.
#define SCO_ROLL_PASSES 2
#define SCO_ROLL_AIM    0.99
// After an obstacle stopped a roll, the next one goes this fraction of the free part.
#define SCO_ROLL_RETRY 0.8

// --- reactive mover ---

// Pairs of triangles that are kept as constraints, the nearest ones first.
#define SCO_REACTIVE_MAX_PAIRS 256
// A pose with more intersecting pairs is too deep to give constraints; half the motion is tried instead.
#define SCO_REACTIVE_MAX_HITS 1024
// Work units of an exact test of two triangles, or of the plane between them.
#define SCO_REACTIVE_PLANE_UNITS 2
// Slots of the hash table of rows: a power of two, at most half full with three rows for each pair.
#define SCO_REACTIVE_SLOTS 2048
// Poses that one substep tries, and how often it halves the motion.
#define SCO_REACTIVE_MAX_TRIES    12
#define SCO_REACTIVE_MAX_HALVINGS 5
// A face's plane separates two triangles if it leaves this between them, m.
#define SCO_REACTIVE_MIN_SEPARATION_M 1e-7
// As SCO_MIN_PROGRESS_M2, for the reactive mover.
#define SCO_REACTIVE_MIN_PROGRESS_M2 1e-12

#endif
