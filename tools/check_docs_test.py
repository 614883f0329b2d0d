#!/usr/bin/env python3
"""Tests of check_docs.py."""
import pathlib
import tempfile
import unittest

import check_docs


class DocsTest(unittest.TestCase):
    def test_finds_tests_of_every_form(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "src" / "a_test.cpp").write_text(
                "TEST(A, One) {}\nTEST_F(B, Two) {}\nTEST_P(C,\n       Three) {}\n"
                "TYPED_TEST(D, Four) {}\n// TEST(E, Five)\n")
            self.assertEqual(check_docs.tests_of(root), {"A.One", "B.Two", "C.Three", "D.Four"})

    def test_names_what_is_missing(self):
        text = "| 1 | x | `A.One`, `A.Gone` | see `check_docs.py` |"
        self.assertEqual(check_docs.check_text(text, {"A.One"}), ["there is no test A.Gone"])


if __name__ == "__main__":
    unittest.main()
