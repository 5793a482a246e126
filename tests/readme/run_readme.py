"""Runs every "$ wafer ..." of README.md with the program given, from the root of the checkout.

Fails if one ends with an error or says nothing, if what is shown under a command does not begin as the
program's answer does (up to the first number, which may change with a fit), or if there is none.
"""
import pathlib
import re
import shlex
import subprocess
import sys


def shown(text):
    """(command, first line shown under it or "") of each line "$ wafer ..." in a console block."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        lines = block.splitlines()
        for line, following in zip(lines, lines[1:] + [""]):
            if line.startswith("$ wafer "):
                yield line[2:], "" if following.startswith("$ ") else following


def problem_of(program, command, first):
    run = subprocess.run([program, *shlex.split(command)[1:]], capture_output=True, text=True)
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr.strip()}"
    if not run.stdout.strip():
        return "it says nothing"
    words = re.split(r"\d+ samples", first)[0]
    if not run.stdout.startswith(words):
        return f"it begins with {run.stdout.splitlines()[0]!r}, not with {words!r}"
    return ""


def main():
    commands = list(shown(pathlib.Path("README.md").read_text()))
    problems = [(c, problem_of(sys.argv[1], c, first)) for c, first in commands]
    for command, problem in problems:
        print(f"{'ok  ' if not problem else 'FAIL'} {command} {problem}")
    sys.exit(0 if commands and not any(p for _, p in problems) else 1)


main()
