#!/usr/bin/env python3
"""Checks that every include keeps to the layers of src/LAYERS and to the fences around libraries.

A room may include itself, the rooms that src/LAYERS names for it, and all that those may include.
Folders named `kernels` or `internal` are entered by their own room alone. A library that only one
place may know (FENCES) is included nowhere else. The doors that tests have to a proof's randomness
are named nowhere in the rooms that face users (TEST_NAMES). Quoted includes are relative to src/ or
to the repository's root (tests/support). Exit 0 and silence when all is well, else one line a
fault.

    tools/check_layers.py [ROOT]
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
# Headers that the build writes.
GENERATED = {
    "apps/cuzk/build_facts.h",
    "service/dashboard_files.h",
    "service/proto/jobs.grpc.pb.h",
    "service/proto/jobs.pb.h",
    "service/proto/proving.grpc.pb.h",
    "service/proto/proving.pb.h",
    "service/proto/status_details.pb.h",
}
PRIVATE_FOLDERS = {"kernels", "internal"}

# Prefix of an included path -> the only places (prefixes of paths under the root) that may use it.
FENCES = {
    "oneapi/tbb": ["src/base/threads"],
    "tbb/": ["src/base/threads"],
    "openssl/": ["src/hash/"],
    "spdlog/": ["src/base/log"],
    "simdjson": ["src/filecoin/"],
    "nlohmann/": ["src/formats/", "src/filecoin/", "src/engine/", "src/service/", "src/apps/"],
    "CLI/": ["src/apps/"],
    "grpc": ["src/service/grpc", "src/service/client"],
    "google/protobuf": [
        "src/service/grpc", "src/service/client_json", "src/service/http_proof_json"
    ],
    "prometheus/": ["src/service/metrics"],
    "httplib": ["src/service/http"],
    "toml++": ["src/service/config"],
    "sqlite3": ["src/engine/journal"],
    "cuda_": ["src/cuda/device/"],
    "cuda.h": ["src/cuda/device/"],
    "gtest/": ["tests/"],
    "gmock/": ["tests/"],
    "benchmark/": ["bench/"],
}
# Tests may use any library that tests need; product code may not.
TEST_LIBRARIES = ("gtest/", "gmock/", "nlohmann/")
# Tests, and the headers that the tests of one room share.
TEST_FILES = ("_test.cpp", "test_support.h")

# The doors by which tests choose a proof's blinding or a key's secrets. Where users and networks
# come in, they may not be named at all: neither called nor filled by hand.
TEST_NAMES = re.compile(
    r"\b(prove_with_blinding|(?:Blinding|ToxicWaste)(?=\s*(?:<[^>]*>)?(?:\s+\w+)?\s*[{;=(]))"
)
TEST_NAMES_BANNED_IN = ("src/apps/", "src/service/", "src/engine/")


def read_layers(text):
    """The closure of src/LAYERS: room -> set of rooms it may include. ValueError names a fault."""
    direct = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        room, colon, uses = line.partition(":")
        room = room.strip()
        if not colon or not room.isidentifier():
            raise ValueError(f"src/LAYERS:{number}: expected 'room: rooms'")
        if room in direct:
            raise ValueError(f"src/LAYERS:{number}: {room} is listed twice")
        for used in uses.split():
            if used not in direct:
                raise ValueError(f"src/LAYERS:{number}: {room} uses {used}, which is not above it")
        direct[room] = set(uses.split())
    closure = {}
    for room, uses in direct.items():  # used rooms are above, so they are closed already
        closure[room] = {room}.union(*(closure[used] for used in uses))
    return closure


def fence_fault(path, included):
    """Why `path` may not include `included`, or None."""
    is_test = path.endswith(TEST_FILES) or path.startswith("tests/")
    if is_test and included.startswith(TEST_LIBRARIES):
        return None
    for prefix, places in FENCES.items():
        if included.startswith(prefix) and not any(path.startswith(place) for place in places):
            return f"<{included}> may be included only in {', '.join(places)}"
    return None


def room_fault(path, included, closure, root):
    """Why the file `path` under src/ may not include the quoted `included`, or None."""
    room = path.split("/")[1]
    if included.startswith("tests/support/") and path.endswith(TEST_FILES):
        return None
    other = included.split("/")[0]
    if room not in closure:
        return f"room {room} is not in src/LAYERS"
    if other not in closure or "/" not in included:
        return f'"{included}" does not begin with a room of src/LAYERS'
    if other not in closure[room]:
        return f'{room} may not include {other} ("{included}")'
    if other != room and PRIVATE_FOLDERS.intersection(included.split("/")[1:-1]):
        return f'"{included}" is private to {other}'
    if included not in GENERATED and not (root / "src" / included).is_file():
        return f'"{included}" does not exist'
    return None


def check_file(path, text, closure, root):
    """Faults of one file, as (line number, sentence)."""
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, included = match.groups()
        fault = None
        if quote == "<":
            fault = fence_fault(path, included)
        elif path.startswith("src/"):
            fault = room_fault(path, included, closure, root)
        if fault is not None:
            faults.append((number, fault))
    return faults


def check_names(path, text):
    """Uses of names that are for tests alone, as (line number, sentence)."""
    if path.endswith(TEST_FILES) or not path.startswith(tuple(TEST_NAMES_BANNED_IN)):
        return []
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        match = TEST_NAMES.search(line)
        if match:
            faults.append((number, f"{match.group(1)} is for tests: products draw their secrets"))
    return faults


def check_tree(root):
    """All faults under `root`, as lines."""
    try:
        closure = read_layers((root / "src" / "LAYERS").read_text())
    except ValueError as error:
        return [str(error)]
    faults = []
    for top in ("src", "tests", "bench", "fuzz", "examples"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            text = file.read_text()
            for number, fault in check_file(path, text, closure, root) + check_names(path, text):
                faults.append(f"{path}:{number}: {fault}")
    return faults


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    faults = check_tree(root.resolve())
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
