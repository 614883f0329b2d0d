#!/usr/bin/env python3
"""Tests of check_layers.py: each rule is broken once in a small tree and must be named."""
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "base:\nfield: base\ncurve: field\nhash: field\nr1cs: field hash\napps: r1cs curve\n"


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("src/LAYERS", LAYERS)
        self.write("src/base/result.h", "#include <string>\n")
        self.write("src/field/limbs.h", '#include "base/result.h"\n')

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def faults(self):
        return check_layers.check_tree(self.root)

    def expect_one(self, *parts):
        faults = self.faults()
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def test_accepts_direct_and_indirect_use(self):
        self.write("src/curve/point.h", '#include "field/limbs.h"\n#include "base/result.h"\n')
        self.write("src/apps/cuzk/main.cpp", '#include "curve/point.h"\n#include <CLI/CLI.hpp>\n')
        self.assertEqual(self.faults(), [])

    def test_refuses_the_wrong_direction(self):
        self.write("src/base/ledger.h", '\n#include "field/limbs.h"\n')
        self.expect_one("src/base/ledger.h:2:", "base may not include field")

    def test_refuses_strangers_side_by_side(self):
        self.write("src/hash/sha256.h", "#pragma once\n")
        self.write("src/curve/point.h", '#include "hash/sha256.h"\n')
        self.expect_one("curve may not include hash")

    def test_refuses_unknown_rooms_and_missing_files(self):
        self.write("src/attic/old.h", '#include "base/result.h"\n')
        self.expect_one("room attic is not in src/LAYERS")
        self.write("src/attic/old.h", "")
        self.write("src/field/a.h", '#include "limbs.h"\n')
        self.expect_one("does not begin with a room")
        self.write("src/field/a.h", '#include "field/gone.h"\n')
        self.expect_one('"field/gone.h" does not exist')

    def test_private_folders_are_private(self):
        self.write("src/field/kernels/adx.h", "#pragma once\n")
        self.write("src/field/a.cpp", '#include "field/kernels/adx.h"\n')
        self.assertEqual(self.faults(), [])
        self.write("src/curve/b.cpp", '#include "field/kernels/adx.h"\n')
        self.expect_one("src/curve/b.cpp:1:", "is private to field")

    def test_fences_around_libraries(self):
        self.write("src/base/threads.cpp", "#include <oneapi/tbb/parallel_for.h>\n")
        self.write("src/hash/sha256.cpp", "#include <openssl/evp.h>\n")
        self.write("src/field/a_test.cpp", "#include <gtest/gtest.h>\n")
        self.assertEqual(self.faults(), [])
        self.write("src/field/a.cpp", "#include <oneapi/tbb/parallel_for.h>\n")
        self.expect_one("src/field/a.cpp:1:", "only in src/base/threads")
        self.write("src/field/a.cpp", "  #  include <gtest/gtest.h>\n")
        self.expect_one("only in tests/")
        self.write("src/field/a.cpp", "#include <openssl/evp.h>\n")
        self.expect_one("only in src/hash/")
        self.write("src/field/a.cpp", "#include <cuda_runtime.h>\n")
        self.expect_one("only in src/cuda/device/")

    def test_doors_of_tests_are_shut_for_products(self):
        self.write("src/LAYERS", LAYERS + "service: apps\n")
        for path in ("src/apps/cuzk/job.cpp", "src/service/http/job.cpp"):
            for line in (
                "auto proof = groth16::prove_with_blinding(*backend, inputs, chosen);",
                "const groth16::Blinding<C> chosen{r, s};",
                "run(Blinding{r, s});",
                "groth16::ToxicWaste<C> waste;",
                "const auto waste = ToxicWaste<Bls12_381>{tau};",
            ):
                self.write(path, "\n" + line + "\n")
                self.expect_one(f"{path}:2:", "is for tests")
            self.write(path, "CUZK_TRY(const auto waste, groth16::random_toxic_waste<C>());\n")
            self.assertEqual(self.faults(), [])
            self.write(path, "")
        self.write("src/apps/cuzk/job_test.cpp", "prove_with_blinding(backend, inputs, chosen);\n")
        self.write("src/r1cs/door.cpp", "prove_with_blinding(backend, inputs, chosen);\n")
        self.assertEqual(self.faults(), [])

    def test_test_support_is_for_tests(self):
        self.write("tests/support/data.h", "#pragma once\n")
        self.write("src/field/a_test.cpp", '#include "tests/support/data.h"\n')
        self.assertEqual(self.faults(), [])
        self.write("src/field/a.cpp", '#include "tests/support/data.h"\n')
        self.expect_one("src/field/a.cpp:1:")

    def test_layers_file_itself(self):
        for text, part in (
            ("base:\nbase:\n", "listed twice"),
            ("field: base\nbase:\n", "not above it"),
            ("base\n", "expected 'room: rooms'"),
        ):
            self.write("src/LAYERS", text)
            self.expect_one(part)


if __name__ == "__main__":
    unittest.main()
