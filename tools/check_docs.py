#!/usr/bin/env python3
"""Checks that every test that docs/robustness.md names exists in the sources.

    tools/check_docs.py [ROOT]
"""
import pathlib
import re
import sys

TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
NAMED = re.compile(r"`(\w+\.\w+)`")


def tests_of(root):
    """The tests in the sources as "Suite.Name"."""
    names = set()
    for folder in ("src", "tests", "fuzz"):
        for file in (root / folder).rglob("*.cpp"):
            names.update(f"{suite}.{name}" for suite, name in TEST.findall(file.read_text()))
    return names


def check_text(text, names):
    """Faults of a page, as sentences. Names of files (`check_docs.py`) are no tests."""
    named = [name for name in NAMED.findall(text) if not name.endswith((".py", ".md", ".sh"))]
    return [f"there is no test {name}" for name in named if name not in names]


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    page = root / "docs" / "robustness.md"
    faults = check_text(page.read_text(), tests_of(root))
    for fault in faults:
        print(f"docs/robustness.md: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
