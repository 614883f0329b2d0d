#!/usr/bin/env python3
"""Tests of check_headers.py on a tree with one good and one faulty header."""
import pathlib
import tempfile
import unittest

import check_headers


class TreeTest(unittest.TestCase):
    def test_names_the_header_that_does_not_compile_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src" / "base").mkdir(parents=True)
            good = "// Why.\n#pragma once\n#include <string>\nstd::string text();\n"
            (root / "src" / "base" / "good.h").write_text(good)
            (root / "src" / "base" / "user.h").write_text('#pragma once\n#include "base/good.h"\n')
            self.assertEqual(check_headers.check_tree("c++", 2, root), [])
            (root / "src" / "base" / "bad.h").write_text("#pragma once\nstd::string text();\n")
            faults = check_headers.check_tree("c++", 2, root)
            self.assertEqual(len(faults), 1)
            self.assertIn("bad.h:2", faults[0])


if __name__ == "__main__":
    unittest.main()
