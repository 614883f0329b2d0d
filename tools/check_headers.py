#!/usr/bin/env python3
"""Checks that every header under src/ and tests/support compiles alone: it includes what it uses.

    tools/check_headers.py [--compiler c++] [--jobs N] [ROOT]
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def headers_of(root):
    for folder in ("src", "tests/support", "include"):
        yield from sorted((root / folder).rglob("*.h"))


def compile_alone(compiler, root, header):
    """What the compiler says of the header, or an empty text when it is content."""
    defines = [f'-D{name}="x"' for name in ("CUZK_TEST_DATA", "CUZK_SHARED_DATA",
                                            "CUZK_SHARED_FACTS")]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               "-Wno-missing-field-initializers", "-Wno-pragma-once-outside-header",
               "-I", str(root / "src"), "-I", str(root), *defines, "-x", "c++", str(header)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "pragma once in main file" not in line]
    errors = [line for line in lines if ": error:" in line or ": fatal error:" in line]
    real = [line for line in errors if "-Werror=" not in line or "pragma" not in line]
    return "\n".join(real)


def check_tree(compiler, jobs, root):
    """Faults as lines."""
    headers = list(headers_of(root))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda header: compile_alone(compiler, root, header), headers)
        return [answer for answer in answers if answer]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args(arguments)
    faults = check_tree(options.compiler, options.jobs, pathlib.Path(options.root).resolve())
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
