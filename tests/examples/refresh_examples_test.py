#!/usr/bin/env python3
"""scripts/refresh-examples --check passes a page that tells the truth, and no other."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/refresh-examples"

WAFER = """#!/bin/bash
case $1 in
  rate) echo 'rate     1,263.50 /s at 9.183e+05' ;;
  draw) echo '<path d="M 1.25 2.50"/>' > picture.svg ;;
  fail) echo 'it does not fit' >&2; exit 3 ;;
esac
"""


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "wafer"
        self.program.write_text(WAFER)
        self.program.chmod(0o755)
        self.example = self.folder / "examples/01-it"
        self.example.mkdir(parents=True)

    def page(self, *lines):
        (self.example / "README.md").write_text("\n".join(["# It", "```console", *lines, "```", "Words.", ""]))

    def refresh(self, *more):
        done = subprocess.run([sys.executable, SCRIPT, "--program", self.program, "--folder",
                               self.folder / "examples", *more], capture_output=True, text=True)
        return done.returncode, done.stderr

    def differs(self, says=""):
        code, error = self.refresh("--check")
        self.assertEqual(code, 1, error)
        self.assertIn(says, error)

    def agrees(self):
        self.assertEqual(self.refresh("--check"), (0, ""))

    def test_what_is_printed_and_nothing_else(self):
        self.page("$ wafer rate", "rate     1,263.50 /s at 9.183e+05")
        self.agrees()
        self.page("$ wafer rate")
        self.differs("+rate")
        self.page("$ wafer rate", "rate     1,263.50 /s at 9.183e+05", "and more")
        self.differs("-and more")

    def test_the_last_digit_and_the_width_of_columns_may_differ(self):
        self.page("$ wafer rate", "rate  1,263.51 /s  at  9.184e+05")
        self.agrees()
        self.page("$ wafer rate", "rate  1,263.52 /s  at  9.183e+05")
        self.differs("1,263.50")
        self.page("$ wafer rate", "rate  1,263.50 /s  at  9.185e+05")
        self.differs()

    def test_words_may_not(self):
        self.page("$ wafer rate", "rate     1,263.50 /min at 9.183e+05")
        self.differs("/min")

    def test_pictures(self):
        self.page("$ wafer draw")
        self.differs("picture.svg is not there")
        (self.example / "picture.svg").write_text('<path d="M 1.25 2.49"/>\n')
        self.agrees()
        (self.example / "picture.svg").write_text('<path d="M 1.25 2.60"/>\n')
        self.differs("2.60")

    def test_a_command_that_fails(self):
        self.page("$ wafer fail")
        self.differs("exit code 3 of: wafer fail\nit does not fit")
        self.page("$ wafer fail | cat")
        self.differs("exit code 3")

    def test_check_writes_nothing_and_a_refresh_what_is_true(self):
        self.page("$ wafer rate", "rate 7", "$ echo a \\", "  b", "$ wafer draw")
        before = (self.example / "README.md").read_text()
        self.differs()
        self.assertEqual((self.example / "README.md").read_text(), before)
        self.assertEqual(self.refresh(), (0, ""))
        self.assertEqual((self.example / "README.md").read_text(),
                         "# It\n```console\n$ wafer rate\nrate     1,263.50 /s at 9.183e+05\n"
                         "$ echo a \\\n  b\na b\n$ wafer draw\n```\nWords.\n")
        self.agrees()

    def test_an_example_that_is_not_there(self):
        self.page("$ wafer rate", "rate     1,263.50 /s at 9.183e+05")
        code, error = self.refresh("--check", "02-other")
        self.assertEqual((code, error), (1, "no example 02-other; there are 01-it\n"))


if __name__ == "__main__":
    unittest.main()
