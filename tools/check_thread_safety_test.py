#!/usr/bin/env python3
"""Tests of check_thread_safety.py on a small room with our mutex, kept and broken rules."""
import pathlib
import shutil
import tempfile
import unittest

import check_thread_safety

MUTEX = pathlib.Path(__file__).parent.parent / "src" / "base" / "mutex.h"
HEADER = """#pragma once
#include "base/mutex.h"
class Counter {
 public:
  void add() CUZK_EXCLUDES(mutex_);
  int count() const CUZK_EXCLUDES(mutex_);

 private:
  void add_held() CUZK_REQUIRES(mutex_);
  mutable cuzk::base::Mutex mutex_;
  int count_ CUZK_GUARDED_BY(mutex_) = 0;
};
"""
GOOD = """#include "room/counter.h"
using cuzk::base::MutexLock;
void Counter::add_held() { ++count_; }
void Counter::add() { const MutexLock lock(mutex_); add_held(); }
int Counter::count() const { const MutexLock lock(mutex_); return count_; }
"""
VIOLATIONS = {  # what is seeded, and what clang must say
    "++count_; }\nvoid Counter::add() { const MutexLock lock(mutex_); add_held(); }":
        ("++count_; }\nvoid Counter::add() { add_held(); }", "requires holding mutex 'mutex_'"),
    "const MutexLock lock(mutex_); return count_;":
        ("return count_;", "reading variable 'count_' requires holding mutex 'mutex_'"),
    "const MutexLock lock(mutex_); add_held();":
        ("const MutexLock lock(mutex_); add_held(); (void)count();",
         "cannot call function 'count' while mutex 'mutex_' is held"),
}


@unittest.skipIf(check_thread_safety.find_compiler() is None, "clang is not installed")
class TreeTest(unittest.TestCase):
    def check(self, source):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for room in ("base", "room"):
                (root / "src" / room).mkdir(parents=True)
            shutil.copy(MUTEX, root / "src" / "base")
            (root / "src" / "room" / "counter.h").write_text(HEADER)
            (root / "src" / "room" / "counter.cpp").write_text(source)
            return check_thread_safety.check_tree(check_thread_safety.find_compiler(), 1, root)

    def test_is_content_where_the_rules_are_kept(self):
        self.assertEqual(self.check(GOOD), (1, []))

    def test_finds_each_kind_of_violation(self):
        for kept, (broken, words) in VIOLATIONS.items():
            self.assertIn(kept, GOOD)
            _, faults = self.check(GOOD.replace(kept, broken))
            self.assertEqual(len(faults), 1, broken)
            self.assertIn(words, faults[0])


class ChoiceTest(unittest.TestCase):
    def test_takes_sources_that_see_an_annotation_of_their_room(self):
        files = {pathlib.PurePath(name): text for name, text in {
            "base/mutex.h": "#define CUZK_GUARDED_BY(mutex)",
            "room/state.h": '#include "base/mutex.h"\nint x CUZK_GUARDED_BY(m);',
            "room/face.h": '#include "room/state.h"',
            "room/face.cpp": '#include "room/face.h"',
            "room/face_test.cpp": '#include "room/face.h"',
            "room/apart.cpp": "int y;",
            "other/user.cpp": '#include "room/face.h"',
            "other/own.cpp": '#include "base/mutex.h"\nvoid f() { MutexLock lock(m); }',
        }.items()}
        sources, headers = check_thread_safety.choose(files)
        self.assertEqual([str(path) for path in sources], ["room/face.cpp", "other/own.cpp"])
        self.assertEqual([str(path) for path in headers], ["room/state.h"])


if __name__ == "__main__":
    unittest.main()
