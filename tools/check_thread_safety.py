#!/usr/bin/env python3
"""Checks with clang that what a mutex guards is touched only while it is held.

    tools/check_thread_safety.py [--jobs N] [ROOT]

The rules stand in the code (src/base/mutex.h). Checked is every source, tests apart, that sees an
annotation of its own room; what the annotated headers include is read once, as a precompiled
header. Ends with 77, "skipped", where there is no clang.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ANNOTATION = re.compile(r"\bCUZK_(?:PT_)?(?:GUARDED_BY|REQUIRES|EXCLUDES)\b|\bMutexLock\b")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
DEFINITION = pathlib.PurePath("base/mutex.h")
FLAGS = ["-std=c++20", "-Wthread-safety", "-Werror=thread-safety"]


def find_compiler():
    """Path of clang, or None."""
    for name in ("clang++-14", "clang++"):
        path = shutil.which(name)
        if path:
            return path
    return None


def read_tree(source):
    """Text of each file of ours, by its path below `source`."""
    return {path.relative_to(source): path.read_text(encoding="utf-8")
            for path in sorted(source.rglob("*")) if path.suffix in (".h", ".cpp")}


def seen_from(files, start):
    """The file and all of ours that it includes, by whatever way."""
    seen, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path not in seen and path in files:
            seen.add(path)
            waiting += [pathlib.PurePath(name) for name in INCLUDE.findall(files[path])]
    return seen


def choose(files):
    """The sources to check, and the annotated headers that they have in common."""
    files = {pathlib.PurePath(path): text for path, text in files.items()}
    annotated = {path for path, text in files.items()
                 if path != DEFINITION and ANNOTATION.search(text)}
    sources = []
    for path in files:
        if path.suffix != ".cpp" or path.name.endswith("_test.cpp"):
            continue
        if any(other.parent == path.parent for other in annotated & seen_from(files, path)):
            sources.append(path)
    return sources, sorted(path for path in annotated if path.suffix == ".h"
                           and not path.name.endswith("_test_support.h"))


def precompile(compiler, root, headers, folder):
    """Path of the precompiled header, or None where clang does not take the headers."""
    common, result = folder / "common.h", folder / "common.pch"
    common.write_text("".join(f'#include "{header}"\n' for header in headers))
    done = subprocess.run([compiler, *FLAGS, "-I", str(root / "src"), "-x", "c++-header",
                           str(common), "-o", str(result)], capture_output=True, check=False)
    return result if done.returncode == 0 else None


def check_source(compiler, root, precompiled, source):
    """What clang says of the source, or an empty text when it is content."""
    command = [compiler, *FLAGS, "-fsyntax-only", "-I", str(root / "src"), "-I", str(root)]
    if precompiled:
        command += ["-include-pch", str(precompiled)]
    done = subprocess.run([*command, str(root / "src" / source)], capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else done.stderr


def check_tree(compiler, jobs, root):
    """How many sources were checked, and faults as texts."""
    sources, headers = choose(read_tree(root / "src"))
    with tempfile.TemporaryDirectory() as folder:
        precompiled = precompile(compiler, root, headers, pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            answers = list(pool.map(
                lambda source: check_source(compiler, root, precompiled, source), sources))
    return len(sources), [answer for answer in answers if answer]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args(arguments)
    compiler = find_compiler()
    if compiler is None:
        print("skipped: clang is not installed")
        return 77
    count, faults = check_tree(compiler, options.jobs, pathlib.Path(options.root).resolve())
    for fault in faults:
        print(fault)
    print(f"{count} sources, {len(faults)} with faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
