#!/usr/bin/env python3
"""Checks the house rules that a compiler does not: sizes, openings, banned calls, leftover marks.

Rules (docs/style.md has the reasons):
- code lines hold at most 100 characters, no tab, no trailing blank; files end with one newline
- a function has at most 70 lines, a file at most 800; exceptions stand in size_exceptions.txt with
  their own limit and a reason
- a code file opens with a comment that gives its reason; a header has `#pragma once`
- no banned call (BANNED), no leftover mark, no path or name of a developer's machine

Checked are the files that git would track; without git, all files outside build folders. Exit 0 and
silence when all is well, else one line a fault.

    tools/check_tidy.py [ROOT]
"""
import ast
import pathlib
import re
import subprocess
import sys

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800
CPP = {".h", ".cpp", ".cu", ".cuh"}
CODE = CPP | {".py", ".sh", ".cmake", ".mjs", ".js"}
TEXT = CODE | {".md", ".txt", ".json", ".toml", ".yml", ".yaml"}
SKIPPED = ("tests/data/", "build", ".git/", "node_modules/")

# What must not be called, with what to use instead. The patterns see code without comments and
# strings.
BANNED = [
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|tmpnam|alloca)\s*\(", "no bounds: use std"),
    (r"\b(atoi|atol|atoll|atof)\s*\(", "no errors: use std::from_chars"),
    (r"\b(rand|srand)\s*\(", "not random: use base/random.h, or a seeded std engine in tests"),
    (r"(?<!_)\bassert\s*\(", "vanishes in release builds: use CUZK_ASSERT"),
    (r"\b(system|popen)\s*\(", "starts a shell"),
    (r"\b(setenv|putenv|unsetenv)\s*\(", "races with every reader of the environment"),
    (r"\busing\s+namespace\s+std\b", "hides where names come from"),
    (r"\bstd::endl\b", "flushes: use a newline"),
    (r"#\s*include\s*<bits/", "not standard"),
]
# Places that are allowed one of the above, by (path prefix, pattern start), each with its reason.
BANNED_EXCEPT = [
    ("src/base/cpu_test.cpp", r"\b(setenv"),  # the variable is what it tests; one thread
    ("src/service/client_test.cpp", r"\b(setenv"),  # in a process that only tests this
]
LEFTOVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE = re.compile(r"(?<![\w.])/(wor[k]|roo[t]|hom[e]/\w+)(/|\b)|\bsub" r"agent\b")


def without_comments_and_strings(text):
    """C++ text with comments, string and character contents blanked; line structure is kept."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL)

    def blank(match):
        found = match.group(0)
        inner = re.sub(r"[^\n]", " ", found)
        return inner if found.startswith("/") else '"' + inner[1:-1] + '"'

    return token.sub(blank, text)


def clean_head(head):
    """The text before a brace without preprocessor lines and template parameters."""
    head = re.sub(r"^\s*#[^\n]*(\\\n[^\n]*)*", "", head, flags=re.M).strip()
    return re.sub(r"^template\s*<.*?>\s*(?=\w)", "", head, flags=re.S)


def is_function_head(head):
    """Whether the cleaned text before a brace at namespace or class scope begins a function."""
    if "(" not in head or head.endswith("="):
        return False
    if re.match(r"(namespace|enum|class|struct|union|extern\s*\")\b", head):
        return False
    before_parenthesis = re.sub(r"\boperator\s*[^\w\s(]+", "operator", head.split("(")[0])
    return "=" not in before_parenthesis


def is_member_brace(head):
    """Whether the brace after `head` initialises a member in a constructor's list."""
    return bool(re.search(r"\)[^(){};]*[^:]:[^:].*[\w>]$", head, flags=re.S))


def function_name(head):
    test = re.match(r"TEST\w*\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    names = re.findall(r"(operator[^\w\s(]+|[\w:~]+)\s*\(", head)
    return names[0] if names else "?"


def cpp_functions(text):
    """(name, first line, last line) of the functions of C++ text; a lambda is part of its owner."""
    code = without_comments_and_strings(text)
    functions, stack, head_start = [], [], 0
    opening = None  # of the function that we are in: (depth, name, first line)
    member_depth = None  # of the member initialiser that we are in
    for match in re.finditer(r"[{};]", code):
        place, mark = match.start(), match.group(0)
        if mark == "{":
            raw = code[head_start:place]
            head = clean_head(raw)
            if opening is None and member_depth is None:
                if is_member_brace(head) and not raw[-1:].isspace():
                    member_depth = len(stack)
                elif is_function_head(head):
                    start = head_start + len(raw) - len(raw.lstrip())
                    opening = (len(stack), function_name(head), code.count("\n", 0, start) + 1)
            stack.append(place)
        elif mark == "}" and stack:
            stack.pop()
            if opening is not None and opening[0] == len(stack):
                functions.append((opening[1], opening[2], code.count("\n", 0, place) + 1))
                opening = None
            if member_depth == len(stack):
                member_depth = None
                continue
        if opening is None and member_depth is None:
            head_start = place + 1
    return functions


def python_functions(text):
    """(name, first line, last line) of the functions of Python text."""
    return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def read_exceptions(text):
    """size_exceptions.txt: {'path' or 'path:function': limit}. ValueError names a faulty line."""
    limits = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(None, 2)
        if len(fields) < 3 or not fields[1].isdigit():
            raise ValueError(
                f"size_exceptions.txt:{number}: expected 'path[:function] limit reason'")
        limits[fields[0]] = int(fields[1])
    return limits


def check_sizes(path, text, limits, used):
    lines = text.count("\n")
    key = path if path in limits else None
    if lines > limits.get(key, FILE_LINES_MAX):
        yield 1, f"the file has {lines} lines, more than {limits.get(key, FILE_LINES_MAX)}"
    if key and lines > FILE_LINES_MAX:
        used.add(key)
    suffix = pathlib.PurePath(path).suffix
    functions = []
    if suffix in CPP:
        functions = cpp_functions(text)
    elif suffix == ".py":
        functions = python_functions(text)
    for name, first, last in functions:
        key = f"{path}:{name}"
        limit = limits.get(key, FUNCTION_LINES_MAX)
        length = last - first + 1
        if length > FUNCTION_LINES_MAX and key in limits:
            used.add(key)
        if length > limit:
            yield first, f"{name} has {length} lines, more than {limit}"


def check_opening(path, text):
    lines = text.splitlines()
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    first = next((line.strip() for line in lines if line.strip()), "")
    openings = ("//", "/*", "#", '"""')
    if not first.startswith(openings) or first.startswith(("#include", "#pragma")):
        yield 1, "the file does not open with a comment that gives its reason"
    if path.endswith((".h", ".cuh")) and "#pragma once" not in text:
        yield 1, "the header has no #pragma once"


def check_lines(text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"{len(line)} columns, more than {COLUMNS_MAX}"
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "a blank at the end of the line"


def check_banned(path, text):
    code = without_comments_and_strings(text)
    for pattern, reason in BANNED:
        if any(path.startswith(prefix) and pattern.startswith(start)
               for prefix, start in BANNED_EXCEPT):
            continue
        for match in re.finditer(pattern, code):
            yield code.count("\n", 0, match.start()) + 1, f"{match.group(0).strip()}: {reason}"


def check_words(text):
    for number, line in enumerate(text.splitlines(), 1):
        mark = LEFTOVER.search(line)
        if mark:
            yield number, f"{mark.group(0)}: a leftover mark"
        place = MACHINE.search(line)
        if place:
            yield number, f"{place.group(0)}: a place of somebody's machine"


def check_file(path, text, limits, used):
    """Faults of one file, as (line number, sentence)."""
    suffix = pathlib.PurePath(path).suffix
    yield from check_words(text)
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield text.count("\n"), "the file does not end with exactly one newline"
    if suffix not in CODE:
        return
    yield from check_lines(text)
    yield from check_opening(path, text)
    yield from check_sizes(path, text, limits, used)
    if suffix in CPP:
        yield from check_banned(path, text)


def tracked_files(root):
    """Paths under `root` that git tracks or would track; all files when there is no git."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        paths = listed.splitlines()
    except (OSError, subprocess.CalledProcessError):
        paths = [file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()]
    return sorted(path for path in paths
                  if not path.startswith(SKIPPED) and (root / path).is_file())


def check_tree(root):
    """All faults under `root`, as lines."""
    exceptions = root / "tools" / "size_exceptions.txt"
    try:
        limits = read_exceptions(exceptions.read_text()) if exceptions.is_file() else {}
    except ValueError as error:
        return [str(error)]
    faults, used = [], set()
    for path in tracked_files(root):
        file = root / path
        if file.suffix not in TEXT and file.name not in ("LAYERS", "CMakeLists.txt"):
            continue
        for number, fault in check_file(path, file.read_text(), limits, used):
            faults.append(f"{path}:{number}: {fault}")
    for key in sorted(set(limits) - used):
        faults.append(f"tools/size_exceptions.txt: {key} is not needed any more")
    return faults


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    faults = check_tree(root.resolve())
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
