"""scripts/check-layers on a small house made for it: what it passes and what it finds."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts/check-layers"

HOUSE = """# A house
| folder | its one idea | may include besides base | its tests also |
|---|---|---|---|
| base | ground | (std) | |
| ir | graphs | | |
| oracle | values | ir (to read) | |
| diff | gradients | ir | oracle |
| cli, web | *comes later*: the doors | all but each other | |
| tests/, bench/, fuzz/ | suites | all but doors | |
"""

GOOD = {
    "docs/house.md": HOUSE,
    "src/wafer/base/CMakeLists.txt": "wafer_folder(base)",
    "src/wafer/base/a.h": "#include <vector>\n",
    "src/wafer/ir/CMakeLists.txt": "wafer_folder(ir)",
    "src/wafer/ir/g.h": '#include "wafer/base/a.h"\n',
    "src/wafer/ir/g.cpp": '#include "wafer/ir/g.h"\n',
    "src/wafer/oracle/CMakeLists.txt": "wafer_folder(oracle USES ir)",
    "src/wafer/oracle/o.h": '#include "wafer/ir/g.h"\n',
    "src/wafer/diff/CMakeLists.txt": "wafer_folder(diff USES ir TEST_USES oracle)",
    "src/wafer/diff/d.cpp": '#include "wafer/ir/g.h"\n',
    "src/wafer/diff/d_test.cpp": '#include "wafer/ir/g.h"\n#include "wafer/oracle/o.h"\n',
    "tests/suite/whole_test.cpp": '#include "wafer/oracle/o.h"\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, changes=None):
        """Exit code and output for GOOD with `changes` laid over it."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **(changes or {})}.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def assert_finds(self, changes, *parts):
        code, output = self.check(changes)
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def test_passes_a_house_that_stands(self):
        self.assertEqual(self.check(), (0, "layers: 4 folders as in docs/house.md\n"))

    def test_names_file_line_include_and_what_is_allowed(self):
        self.assert_finds(
            {"src/wafer/ir/g.cpp": '#include "wafer/ir/g.h"\n\n#include "wafer/oracle/o.h"\n'},
            'src/wafer/ir/g.cpp:3: "wafer/oracle/o.h" is not open to ir (allowed: base)',
        )

    def test_gives_no_rights_through_another_folder(self):
        self.assert_finds(
            {
                "docs/house.md": HOUSE.replace("all but doors", "oracle"),
                "tests/suite/whole_test.cpp": '#include "wafer/ir/g.h"\n',
            },
            "whole_test.cpp:1",
            "allowed: base, oracle",
        )

    def test_opens_what_is_for_tests_to_tests_alone(self):
        self.assert_finds(
            {"src/wafer/diff/d.cpp": '#include "wafer/oracle/o.h"\n'},
            "src/wafer/diff/d.cpp:1",
            "not open to diff (allowed: base, ir)",
        )

    def test_holds_cmake_against_the_table_and_the_includes(self):
        more = {"src/wafer/ir/CMakeLists.txt": "wafer_folder(ir USES oracle)"}
        self.assert_finds(more, "USES oracle, which is not open to it", "which nothing includes")
        fewer = {"src/wafer/diff/CMakeLists.txt": "wafer_folder(diff)"}
        self.assert_finds(fewer, "d.cpp includes ir: USES must name it", "TEST_USES must name it")

    def test_keeps_suites_out_of_doors(self):
        self.assert_finds(
            {"fuzz/f.cpp": '#include "wafer/cli/main.h"\n'}, "fuzz/f.cpp:1", "not open to fuzz/"
        )

    def test_wants_full_paths_and_the_own_header_first(self):
        self.assert_finds({"src/wafer/ir/g.cpp": '#include "g.h"\n'}, "full path", "own header")

    def test_wants_a_row_for_every_folder(self):
        self.assert_finds(
            {"src/wafer/extra/CMakeLists.txt": "wafer_folder(extra)"}, "no row for extra"
        )

    def test_wants_a_folder_that_exists_not_to_come_later(self):
        later = HOUSE.replace("| graphs |", "| *comes later*: graphs |")
        self.assert_finds({"docs/house.md": later}, "says that ir comes later")

    def test_wants_a_folder_that_does_not_exist_to_come_later(self):
        now = HOUSE.replace("*comes later*: the doors", "the doors")
        self.assert_finds({"docs/house.md": now}, "cli is no folder", "web is no folder")

    def test_refuses_a_table_with_a_cycle(self):
        cycle = HOUSE.replace("graphs | |", "graphs | diff |")
        self.assert_finds({"docs/house.md": cycle}, "a cycle in the table: diff -> ir -> diff")

    def test_refuses_a_table_that_allows_an_unknown_folder(self):
        unknown = HOUSE.replace("| ir | oracle |", "| ir, cellar | oracle |")
        self.assert_finds({"docs/house.md": unknown}, "cellar, which has no row")


if __name__ == "__main__":
    unittest.main()
