#!/usr/bin/env python3
"""Times cuzk beside other Groth16 provers on one zkey and witness, in turn, in the same run.

    compare_provers.py --zkey F --witness F --cuzk PATH [--rapidsnark PATH] [--snarkjs CLI.CJS]
                       [--vkey F] [--runs 5]

Each round runs every prover once, as a whole process, and the order turns from round to round, so
that a drift of the machine falls on all alike. Printed are medians of wall and CPU seconds, the
largest peak memory and the ratio to the first prover. With --vkey and --snarkjs, snarkjs verifies
each prover's last proof; a refused proof or a failed run makes the exit code 1.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zkey", required=True)
    parser.add_argument("--witness", required=True)
    parser.add_argument("--cuzk", required=True, help="the cuzk command")
    parser.add_argument("--rapidsnark", help="rapidsnark's prover")
    parser.add_argument("--snarkjs", help="snarkjs's cli.cjs, run with node")
    parser.add_argument("--vkey", help="verification_key.json, to check the proofs with snarkjs")
    parser.add_argument("--runs", type=int, default=5)
    return parser.parse_args()


def commands_of(args: argparse.Namespace, folder: Path) -> dict[str, list[str]]:
    """The command line of each prover; its proof and public values go to NAME.proof and .public."""

    def outputs(name: str) -> list[str]:
        return [str(folder / f"{name}.proof"), str(folder / f"{name}.public")]

    proof, public = outputs("cuzk")
    commands = {"cuzk": [args.cuzk, "prove", "--zkey", args.zkey, "--witness", args.witness,
                         "--proof", proof, "--public", public]}
    if args.rapidsnark:
        commands["rapidsnark"] = [args.rapidsnark, args.zkey, args.witness, *outputs("rapidsnark")]
    if args.snarkjs:
        commands["snarkjs"] = ["node", args.snarkjs, "groth16", "prove", args.zkey, args.witness,
                               *outputs("snarkjs")]
    return commands


def run_once(command: list[str]) -> tuple[float, float, float] | None:
    """Wall seconds, CPU seconds and peak MiB of one run; None when it failed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        return None
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def verified(args: argparse.Namespace, folder: Path, name: str) -> bool:
    answer = subprocess.run(
        ["node", args.snarkjs, "groth16", "verify", args.vkey, str(folder / f"{name}.public"),
         str(folder / f"{name}.proof")], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and "OK" in answer.stdout


def main() -> int:
    args = parse_arguments()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        commands = commands_of(args, folder)
        names = list(commands)
        figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
        for run in range(args.runs):
            for i in range(len(names)):
                name = names[(i + run) % len(names)]
                figure = run_once(commands[name])
                if figure is None:
                    print(f"{name}: run {run} failed", file=sys.stderr)
                    failed = True
                else:
                    figures[name].append(figure)
        print(f"{'prover':12} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9} {'wall ratio':>11}")
        first = None
        for name in names:
            if not figures[name]:
                continue
            wall_s, cpu_s = (statistics.median(f[k] for f in figures[name]) for k in (0, 1))
            peak_mib = max(f[2] for f in figures[name])
            first = first or wall_s
            print(f"{name:12} {wall_s:8.2f} {cpu_s:8.2f} {peak_mib:9.0f} {wall_s / first:11.2f}")
            if args.vkey and args.snarkjs and not verified(args, folder, name):
                print(f"{name}: snarkjs refuses its proof", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
