#!/usr/bin/env python3
"""Checks, or with --fix makes, every C++ file as clang-format writes it.

The formatter's output differs between major versions, so one version speaks: 14, which Debian 12
has. Without it the check says so and exits with 77, which ctest reports as skipped.

    tools/check_format.py [--fix] [ROOT]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "14"
SKIPPED_EXIT_CODE = 77
FOLDERS = ("src", "tests", "fuzz", "bench", "examples", "include")


def find_formatter():
    """Path of clang-format of the right version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if f"version {VERSION}." in said.stdout:
            return path
    return None


def files_of(root):
    return [file for folder in FOLDERS for file in sorted((root / folder).rglob("*"))
            if file.suffix in (".h", ".cpp", ".cu", ".cuh") and file.is_file()]


def misformatted(formatter, files):
    """Paths, as text, of those files that the formatter would change."""
    command = [formatter, "--style=file", "--dry-run", "--Werror", "--ferror-limit=1"]
    said = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
    wrong = re.findall(r"^(.+?):\d+:\d+: error:", said.stderr, flags=re.MULTILINE)
    if said.returncode != 0 and not wrong:
        return [said.stderr.strip() or "the formatter failed"]
    return sorted(set(wrong))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args(arguments)
    root = pathlib.Path(options.root).resolve()
    formatter = find_formatter()
    if formatter is None:
        print(f"skipped: clang-format {VERSION} is not installed")
        return SKIPPED_EXIT_CODE
    files = files_of(root)
    if options.fix:
        subprocess.run([formatter, "--style=file", "-i", *map(str, files)], check=True)
        return 0
    wrong = misformatted(formatter, files)
    for file in wrong:
        print(f"{file}: not as clang-format writes it; tools/check_format.py --fix writes it so")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
