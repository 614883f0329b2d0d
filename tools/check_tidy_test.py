#!/usr/bin/env python3
"""Tests of check_tidy.py: each rule is broken once and named; what is fine stays unnamed."""
import pathlib
import tempfile
import unittest

import check_tidy as tidy


def faults(path, text, limits=None):
    return [sentence for _, sentence in tidy.check_file(path, text, limits or {}, set())]


def function_of(lines, name="work"):
    return f"// Why.\nint {name}(int x) {{\n" + "  ++x;\n" * (lines - 2) + "}\n"


class RulesTest(unittest.TestCase):
    def expect(self, path, text, *parts):
        found = faults(path, text)
        self.assertEqual(len(found), len(parts), found)
        for sentence, part in zip(found, parts):
            self.assertIn(part, sentence)

    def test_a_good_file_has_no_fault(self):
        self.expect("src/a/b.cpp", "// Why.\nint x = 1;  // a note\n")
        self.expect("src/a/b.h", "// Why.\n#pragma once\nint work(int x);\n")

    def test_lines(self):
        self.expect("src/a/b.cpp", "// " + "x" * 97 + "\n")
        self.expect("src/a/b.cpp", "// " + "x" * 98 + "\n", "101 columns")
        self.expect("src/a/b.cpp", "// Why.\n\tint x;\n", "a tab")
        self.expect("src/a/b.cpp", "// Why. \n", "a blank at the end")
        self.expect("src/a/b.cpp", "// Why.", "exactly one newline")
        self.expect("src/a/b.cpp", "// Why.\n\n", "exactly one newline")
        self.expect("README.md", "y" * 300 + "\n")

    def test_openings(self):
        self.expect("src/a/b.cpp", "#include <x>\n", "does not open with a comment")
        self.expect("src/a/b.h", "// Why.\n", "no #pragma once")
        self.expect("tools/x.py", "#!/usr/bin/env python3\nimport os\n", "does not open")
        self.expect("tools/x.py", '#!/usr/bin/env python3\n"""Why."""\nimport os\n')

    def test_function_length(self):
        self.expect("src/a/b.cpp", function_of(70))
        self.expect("src/a/b.cpp", function_of(71), "work has 71 lines, more than 70")
        self.assertEqual(faults("src/a/b.cpp", function_of(71), {"src/a/b.cpp:work": 75}), [])
        self.assertEqual(len(faults("src/a/b.cpp", function_of(76), {"src/a/b.cpp:work": 75})), 1)
        long_python = "# Why.\ndef work():\n" + "    pass\n" * 70
        self.expect("tools/x.py", long_python, "work has 71 lines")

    def test_file_length(self):
        self.expect("src/a/b.cpp", "// Why.\n" * 800)
        self.expect("src/a/b.cpp", "// Why.\n" * 801, "801 lines, more than 800")

    def test_banned_calls(self):
        for call in ("strcpy(a, b)", "std::atoi(x)", "rand()", "assert(x)", "system(c)",
                     "setenv(a, b, 1)", "using namespace std"):
            self.expect("src/a/b.cpp", f"// Why.\nvoid f() {{ {call}; }}\n", "")
        for fine in ('log("assert(x)")', "static_assert(x)", "my_rand_(1)", "snprintf(a)",
                     "// strcpy(a)"):
            self.expect("src/a/b.cpp", f"// Why.\nvoid f() {{ {fine}\n; }}\n")
        self.expect("src/base/cpu_test.cpp", "// Why.\nvoid f() { setenv(a, b, 1); }\n")

    def test_leftover_marks_and_machines(self):
        self.expect("src/a/b.cpp", "// TO" "DO: later\n", "leftover mark")
        self.expect("README.md", "see FIX" "ME\n", "leftover mark")
        self.expect("docs/x.md", "cd /wor" "k/main\n", "somebody's machine")
        self.expect("docs/x.md", "cd /hom" "e/ann/x\n", "somebody's machine")
        self.expect("docs/x.md", "the src/wor" "k/ folder, at wor" "k/rest\n")

    def test_exceptions_file(self):
        text = "# comment\nsrc/a.cpp:f 80 a table\nsrc/b.cpp 900 generated\n"
        self.assertEqual(tidy.read_exceptions(text), {"src/a.cpp:f": 80, "src/b.cpp": 900})
        with self.assertRaises(ValueError):
            tidy.read_exceptions("src/a.cpp 80\n")


class ScannerTest(unittest.TestCase):
    def names(self, text):
        return [(name, last - first + 1) for name, first, last in tidy.cpp_functions(text)]

    def test_finds_functions_where_they_are(self):
        text = """
namespace a {
struct S : B<int> {
  S() : x_{1}, y_(2) {
  }
  int get() const { return x_; }
  int x_{3};
};
enum class E { kA, kB };
constexpr int kTable[] = {1, 2, f(3)};
template <class T, int (*F)(int)>
T work(const T& x,
       int y) {
  auto inner = [&](int z) { return z; };
  if (x) {
    return {};
  }
}
TEST(Subject, DoesWhat) {
}
bool operator==(const S& a, const S& b) {
  return true;
}
}  // namespace a
"""
        self.assertEqual(self.names(text), [
            ("S", 2), ("get", 1), ("work", 8), ("Subject.DoesWhat", 2), ("operator==", 3)])

    def test_braces_in_text_do_not_count(self):
        text = 'int f() {\n  // }\n  g("{", \'{\', R"(})");\n  int x = 1\'000;\n}\nint h() {}\n'
        self.assertEqual(self.names(text), [("f", 5), ("h", 1)])


class TreeTest(unittest.TestCase):
    def test_reports_unneeded_exceptions(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "tools").mkdir()
            (root / "tools" / "size_exceptions.txt").write_text("src/gone.cpp 900 was long\n")
            self.assertEqual(tidy.check_tree(root), [
                "tools/size_exceptions.txt: src/gone.cpp is not needed any more"])


if __name__ == "__main__":
    unittest.main()
