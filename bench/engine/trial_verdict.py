#!/usr/bin/env python3
"""Judges the results of trial.sh against what the engine must show.

    bench/engine/trial_verdict.py OUT PART...

Prints each figure beside its demand; ends with 1 when one is missed.
"""
import json
import pathlib
import sys

MIB = 1 << 20
UNCOUNTED_BYTES = 64 * MIB  # what no ledger counts: the program, stacks, the allocator's rest
GROWTH_PERCENT_MAX = 5
FLOOR_PERCENT_MIN = 95  # at the largest budget
RESTART_MS_MAX = 5000


def run_line(run):
    """A run as a row of the table."""
    stages = run["stages"]
    before, after = run["resident_before"], run["resident_after"]
    workers = ", ".join(str(stages[name]["workers"]) for name in ("witness", "device", "finish"))
    return (f"| {run['budget_bytes'] / MIB:,.0f} | {workers} | {run['jobs_in_flight_max']} "
            f"| {run['valid']} of {run['jobs']} | {run['wall_s']:.1f} | {run['cpu_s']:.1f} "
            f"| {run['worker_floor_s']:.1f} | {run['cpu_floor_s']:.1f} "
            f"| {run['percent_of_floor']:.1f} | {run['ledger_peak_bytes'] / MIB:,.0f} "
            f"| {run['resident_peak_bytes'] / MIB:,.0f} "
            f"| {before['total_bytes'] / MIB:.1f} ({before['anonymous_bytes'] / MIB:.1f}) "
            f"| {after['total_bytes'] / MIB:.1f} ({after['anonymous_bytes'] / MIB:.1f}) "
            f"| {run['resident_growth_percent']:+.1f} |")


TABLE_HEAD = ("| budget MiB | pw, gw, gt | j | valid | wall s | CPU s | floor: workers | CPU "
              "| floor / wall, % | ledger peak | RSS peak | before (anon) | after (anon) | % |\n"
              "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")


def judge_run(run, is_largest):
    """The demands that a run misses, as words."""
    missed = []
    if run["valid"] != run["jobs"]:
        missed.append(f"{run['jobs'] - run['valid']} jobs without a valid proof")
    if not run["counters_are_zero"]:
        missed.append("counters are not zero at the end")
    if run["budget_bytes"] and run["resident_peak_bytes"] > run["budget_bytes"] + UNCOUNTED_BYTES:
        missed.append("resident memory above the budget and 64 MiB")
    if run["resident_growth_percent"] > GROWTH_PERCENT_MAX:
        missed.append(f"resident memory {run['resident_growth_percent']:.1f} % above before")
    if is_largest and run["percent_of_floor"] < FLOOR_PERCENT_MIN:
        missed.append(f"{run['percent_of_floor']:.1f} % of what the floor allows")
    return missed


def judge_grid(runs):
    largest = max(run["budget_bytes"] for run in runs)
    return [f"budget {run['budget_bytes'] / MIB:,.0f}, run {i}: {words}"
            for i, run in enumerate(runs, 1)
            for words in judge_run(run, run["budget_bytes"] == largest)]


def judge_soak(run):
    missed = judge_run(run, False)
    if run["descriptors_after"] != run["descriptors_before"]:
        missed.append(f"descriptors {run['descriptors_before']} and {run['descriptors_after']}")
    # oneTBB starts one more worker when it wants one while the last is just falling asleep.
    if run["resident_after"]["threads"] > run["resident_before"]["threads"] + 1:
        missed.append("threads {} and {}".format(run["resident_before"]["threads"],
                                                 run["resident_after"]["threads"]))
    return missed


def judge_critical(answer):
    limit = answer["own_max_s"] + answer["chunk_s"]
    missed = [] if answer["valid"] else ["a job without a valid proof"]
    if answer["p99_s"] > limit:
        missed.append(f"99 of 100 within {answer['p99_s'] * 1000:.0f} ms, "
                      f"own time and a chunk {limit * 1000:.0f} ms")
    return missed


def judge_kills(document):
    test = document["testsuites"][0]["testsuite"][0]
    missed = [failure["failure"].splitlines()[0] for failure in test.get("failures", [])]
    if int(test.get("longest_restart_ms", 0)) >= RESTART_MS_MAX:
        missed.append(f"a restart of {test['longest_restart_ms']} ms")
    words = (f"{test.get('accepted')} jobs accepted, longest restart "
             f"{test.get('longest_restart_ms')} ms")
    return missed, words


def main(arguments):
    out, parts, missed = pathlib.Path(arguments[0]), arguments[1:], []

    def read(name):
        return json.loads((out / f"{name}.json").read_text())

    for part in parts:
        print(f"\n{part}")
        if part == "kills":
            for name in ("kills_stand_in", "kills_proofs"):
                faults, words = judge_kills(read(name))
                print(f"{name}: {words}")
                missed += [f"{name}: {fault}" for fault in faults]
        elif part == "critical":
            answer = read(part)
            print("; ".join(f"{name} {answer[name] * 1000:.0f} ms" for name in (
                "own_median_s", "own_max_s", "chunk_s", "median_s", "p99_s", "max_s")))
            missed += [f"{part}: {fault}" for fault in judge_critical(answer)]
        else:
            runs = read(part)["runs"]
            print("\n".join([TABLE_HEAD] + [run_line(run) for run in runs]))
            faults = judge_grid(runs) if part == "grid" else judge_soak(runs[0])
            missed += [f"{part}: {fault}" for fault in faults]
    print("\n" + ("every demand is met" if not missed else "missed:\n  " + "\n  ".join(missed)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
