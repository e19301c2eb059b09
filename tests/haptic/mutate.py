#!/usr/bin/env python3
"""Breaks the force on purpose, one edit at a time, and checks that a test notices.

    tests/haptic/mutate.py [BUILD-FOLDER]

Each mutant is compiled as the build compiles the file, linked in front of the library, and the test that is named beside it
must fail. The build folder (build/release) must be up to date: the tests pass there."""
import pathlib
import shlex
import subprocess
import sys
import tempfile

FORCE = "haptic/force/"
# what is broken, file, text (its first occurrence is replaced), replacement, test
MUTATIONS = [
    ("law without slew", FORCE + "law.c", "const bool follows = needed > law->most_m;", "const bool follows = false;", "law"),
    ("law without memory in transit", FORCE + "law.c", "law->goal = carry_on(law, report, stiffness_N_per_m, arm_m);",
     "law->goal = no_offset;", "law"),
    ("a starved mover's lag becomes force", FORCE + "law.c", "const double length = carried_length(", "const double length = lag + 0 * carried_length(",
     "law"),
    ("gaps stay in the loads", FORCE + "law.c", "fmax(loaded[i]->load_m - share, 0)", "loaded[i]->load_m", "law"),
    ("shading at sharp edges", FORCE + "shading.c", "if (at.sharp)", "if (false)", "feel"),
    ("edges from the SCO, not the device", FORCE + "shading.c", "side s = {from_feature(v, at), 0, SHARP_PER_M, 0};",
     "side s = {((void)from_feature, v->normal), 0, SHARP_PER_M, 0};", "feel"),
    ("shading without depth", FORCE + "shading.c", "s.extra_m = v->probe_m - height - depth;", "s.extra_m = 0;", "feel"),
    ("the other body's facet bounds the shading", FORCE + "shading.c", "towards(towards(facet, v->normal, turn), s.normal, turn)",
     "towards(((void)facet, v->normal), s.normal, turn)", "feel"),
    ("normals weighted by angle", "collision/geometry/mesh_smooth.c",
     "tac_dvec3_length(tac_dvec3_cross(a, b)) / squares", "atan2(tac_dvec3_length(tac_dvec3_cross(a, b)), tac_dvec3_dot(a, b))",
     "mesh_query"),
    ("shaded force above the spring's", FORCE + "material_effects.c", "if (length > most) {", "if (false && length > most) {", "law"),
    ("no account", FORCE + "account.c", "const double deficit = fmax(-a->balance_J, 0);", "const double deficit = 0;", "account"),
    ("friction outside the account", "haptic/servo/servo.c",
     """	const tac_wrench spring = cut_wrench(tac_servo_wrench_sub(patch->wrench, damper), share);
	const tac_wrench elastic = tac_servo_wrench_sub(patch->elastic, damper);
	const double turned_J = held_J(s, (tac_wrench){tac_dvec3_zero(), elastic.torque_Nm});
	const double moved_J = held_J(s, (tac_wrench){elastic.force_N, tac_dvec3_zero()}) +
			       tac_patch_energy_J(&s->patch_memory, &s->patch, s->coupling.stiffness_N_per_m);""",
     """	const tac_wrench spring = cut_wrench(tac_servo_wrench_sub(patch->elastic, damper), share);
	const tac_wrench elastic = tac_servo_wrench_sub(patch->elastic, damper);
	const double turned_J = held_J(s, (tac_wrench){tac_dvec3_zero(), elastic.torque_Nm});
	const double moved_J = held_J(s, (tac_wrench){elastic.force_N, tac_dvec3_zero()});""", "law"),
    ("the account counts force that the device cannot give", "haptic/servo/servo.c", "	if (!has_account(s))\n		return (within){1, 1};",
     "	if (s)\n		return (within){1, 1};", "account"),
    ("the account counts torque that the device cannot give", "haptic/servo/servo.c", "share_of(tac_dvec3_length(w->torque_Nm), s->max_torque_Nm)",
     "1", "account"),
    ("the device's weight takes no force from the contacts", "haptic/servo/servo.c", "	if (!(weight_N > 0))\n		return most_N;",
     "	if (s)\n		return most_N;", "account"),
    ("the gate's gain is not in the account", "haptic/servo/servo.c", ".share = full_gain > 0 ? gate_gain / full_gain : 1,", ".share = gate_gain > -1,",
     "account"),
    ("what the gate takes off is not in the account", FORCE + "account.c", "	const double got_J = 0.5 * work(&more, &moved);", "	const double got_J = 0 * work(&more, &moved);",
     "account"),
    ("gifts without end", FORCE + "account.c", "#define DEBT_MOST_J 0.005", "#define DEBT_MOST_J 1e9", "account"),
    ("sensor steps in the damping", "haptic/servo/servo.c", "#define DAMPER_FILTER_S 0.002", "#define DAMPER_FILTER_S 1e-9", "account"),
    ("the full force waits for the energy beyond", FORCE + "account.c", "const double full_J = *held_J - c->beyond_J;",
     "const double full_J = *held_J;", "account"),
    ("nothing is withheld", FORCE + "account.c", "#define WITHHELD 2", "#define WITHHELD 0", "account"),
    ("objects push at the springs' expense", "haptic/servo/servo.c", "fmax(s->account.pushed_J, 0)", "0 * fmax(s->account.pushed_J, 0)",
     "closed_loop"),
    ("an incomplete list is taken for the whole", FORCE + "law.c", "else if (loaded && starved)", "else if (false && loaded && starved)",
     "law"),
    ("a complete list is taken for an incomplete one", FORCE + "law.c", "#define SAME 0.1", "#define SAME 0.0", "feel"),
    ("contacts on a long way are taken for places of rest", FORCE + "law.c", "#define HOP 2", "#define HOP 1e9", "law"),
    ("no limit of the power", FORCE + "account.c", "#define POWER_W 0.05", "#define POWER_W 1e9", "account"),
    ("what is sent is not limited by the account", FORCE + "account.c", "if (l.c0 - l.c1 - l.c2 >= 0 ||", "if (l.c0 - l.c1 - l.c2 >= -HUGE_VAL ||", "account"),
    ("the servo does not settle its account", "haptic/servo/servo.c", "	settle_account(s, elapsed_s);", "	(void)settle_account;", "feel_hunt"),
    ("what is asked for is entered, not what is sent", FORCE + "account.c", "put_in(a, &a->before, &law->wrench)", "put_in(a, &a->before, &a->wrench)", "account"),
    ("an object takes more energy than there is", FORCE + "account.c", "fmax(pushed_J, -fmax(put_J, 0))", "pushed_J", "account"),
    ("dissipated energy is given back", FORCE + "account.c", "#define CREDIT 0.05", "#define CREDIT 1e9", "account"),
    ("a gift is taken back at the usual stiffness", FORCE + "account.c", "const double most = fmin(STEEP + rates->slew_m_per_s * elapsed_s / travel, STEEPEST);",
     "const double most = STEEP + 0 * STEEPEST;", "account"),
    ("motors fall as fast as a spring", FORCE + "account.c", "return twice_J > 0 ?", "return twice_J > 1e9 ?", "account"),
    ("motors that are not there hold up the force", "haptic/servo/setup.c", "s->def.device->info.torque_axes > 0 ?", "s->def.device->info.torque_axes >= 0 ?",
     "account"),
    ("a frictionless contact slips", FORCE + "friction.c", "!(material->static_coefficient > 0)", "!(material->static_coefficient >= 0)", "friction"),
    ("the other hand's energy is not counted", FORCE + "account.c", "other ? units * other->spare_J : 0", "0", "hands"),
    ("what a hand puts into the other is lost", FORCE + "account.c", "other->balance_J += passed_J;", "other->balance_J += 0 * passed_J;", "hands"),
    ("texture without band limit", FORCE + "texture.c", "	if (!motion)\n", "	if (motion || !motion)\n", "feel"),
    ("friction begins anew after a hop", FORCE + "material_effects.c",
     "if (patch->object >= 0 || !memory->started || !(length > 0))", "if (memory || patch->object >= 0 || !(length > 0))", "law"),
    ("a slip does not end where the friction does", FORCE + "friction.c", "!(material->static_coefficient > 0)", "!(material->static_coefficient >= 0)",
     "law"),
    ("force and torque wait for each other", FORCE + "law.c", "approach(law->before.force_N, next.force_N, rates->force_N_per_s * elapsed_s)",
     "approach(law->before.force_N, next.force_N, fmin(rates->force_N_per_s, rates->torque_Nm_per_s) * elapsed_s)", "law"),
    ("friction without twist", FORCE + "friction.c", "-k * radius * radius * twist", "0", "feel"),
]


def commands(build, test):
    """The compile commands of the build by source, and the link command of the test."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", test], check=True, capture_output=True, text=True).stdout
    compiles, link = {}, None
    for line in lines.splitlines():
        words = shlex.split(line)
        if " -c " in line:
            compiles[words[-1]] = words
        elif f"-o {test} " in line:
            link = [word for word in words if word not in (":", "&&")]
    return compiles, link


def caught(root, build, scratch, mutation):
    _, file, old, new, name = mutation
    source = (root / file).read_text()
    assert old in source, f"{file}: expected {old!r}"
    mutant, program = scratch / "mutant.c", scratch / f"test_{name}"
    mutant.write_text(source.replace(old, new, 1))
    test = next(f"tests/{room}/test_{name}" for room in ("haptic", "collision") if (build / f"tests/{room}/test_{name}").exists())
    compiles, link = commands(build, test)
    compile_it = [word for word in compiles[str(root / file)] if word not in ("-Werror", "ccache")]
    compile_it[-1] = str(mutant)
    for flag, value in (("-o", scratch / "mutant.o"), ("-MF", scratch / "mutant.d")):
        compile_it[compile_it.index(flag) + 1] = str(value)
    subprocess.run([*compile_it, "-w"], cwd=build, check=True)
    link[link.index("-o") + 1] = str(program)
    first_library = next(i for i, word in enumerate(link) if word.endswith(".a"))
    link.insert(first_library, str(scratch / "mutant.o"))
    subprocess.run(link, cwd=build, check=True)
    run = subprocess.run([program], cwd=build, capture_output=True, text=True)
    failed = [line.split(":")[2] for line in run.stdout.splitlines() if ":FAIL" in line]
    return failed or ([f"ended by {run.returncode}"] if run.returncode else [])


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/release").resolve()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for mutation in MUTATIONS:
            failed = caught(root, build, pathlib.Path(folder), mutation)
            print(f"{mutation[0]}: {'test_' + mutation[4] + ': ' + failed[0] if failed else 'NOT NOTICED'}", flush=True)
            missed += not failed
    print(f"{len(MUTATIONS)} mutations, {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
