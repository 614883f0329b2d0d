#!/usr/bin/env python3
"""gpu_options.sh on machines that this one is not: stand-ins for nvidia-smi and nvcc."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "gpu_options.sh"
KNOWN = "compute_75 compute_80 compute_86 compute_90".split()


class GpuOptionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def put(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def put_cards(self, *capabilities):
        lines = "".join(f"echo '{capability}'\n" for capability in capabilities)
        self.put("nvidia-smi", lines)

    def put_nvcc(self, release="13.0", known=KNOWN):
        listed = "\\n".join(known)
        return self.put("nvcc", f"""case "$1" in
  --version) echo "Cuda compilation tools, release {release}, V{release}.1" ;;
  --list-gpu-arch) printf '{listed}\\n' ;;
esac
""")

    def run_script(self, nvcc=None):
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin"}
        environment["NVCC"] = str(nvcc or self.folder / "absent")
        done = subprocess.run(["sh", str(SCRIPT)], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip(), done.stderr

    def test_nothing_without_a_card(self):
        self.put("nvidia-smi", "echo 'No devices were found'; exit 6\n")
        options, _ = self.run_script(self.put_nvcc())
        self.assertEqual(options, "")

    def test_a_card_without_a_compiler_is_said(self):
        self.put_cards("9.0")
        options, said = self.run_script()
        self.assertEqual(options, "")
        self.assertIn("no CUDA toolkit", said)

    def test_a_compiler_too_old_is_said(self):
        self.put_cards("8.6")
        options, said = self.run_script(self.put_nvcc("11.8"))
        self.assertEqual(options, "")
        self.assertIn("CUDA 11", said)

    def test_each_kind_of_card_once(self):
        self.put_cards("9.0", "8.6", "9.0")
        nvcc = self.put_nvcc()
        options, said = self.run_script(nvcc)
        self.assertEqual(options, f"-DCUZK_CUDA=ON -DCMAKE_CUDA_COMPILER={nvcc} "
                                  "-DCMAKE_CUDA_ARCHITECTURES=86-real;90-real")
        self.assertEqual(said, "")

    def test_a_card_newer_than_the_compiler_gets_intermediate_code(self):
        self.put_cards("12.0")
        options, _ = self.run_script(self.put_nvcc())
        self.assertTrue(options.endswith("=90-virtual"), options)

    def test_a_card_too_old_is_left_out(self):
        self.put_cards("7.5", "9.0")
        options, said = self.run_script(self.put_nvcc())
        self.assertTrue(options.endswith("=90-real"), options)
        self.assertIn("older", said)


if __name__ == "__main__":
    unittest.main()
