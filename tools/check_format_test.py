#!/usr/bin/env python3
"""Tests of check_format.py; skipped where the formatter is not installed."""
import pathlib
import tempfile
import unittest

import check_format


@unittest.skipIf(check_format.find_formatter() is None, "clang-format 14 is not installed")
class FormatTest(unittest.TestCase):
    def test_names_the_files_that_would_change(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / ".clang-format").write_text("BasedOnStyle: Google\n")
            (root / "src" / "good.cpp").write_text("int x = 1;\n")
            self.assertEqual(check_format.main([folder]), 0)
            (root / "src" / "bad.cpp").write_text("int  x=1;\n")
            wrong = check_format.misformatted(check_format.find_formatter(),
                                              check_format.files_of(root))
            self.assertEqual([pathlib.Path(path).name for path in wrong], ["bad.cpp"])
            self.assertEqual(check_format.main([folder]), 1)
            self.assertEqual(check_format.main(["--fix", folder]), 0)
            self.assertEqual((root / "src" / "bad.cpp").read_text(), "int x = 1;\n")


if __name__ == "__main__":
    unittest.main()
