"""The page docs/python.md runs as it stands; types hold; the version is the program's."""

import doctest
import os
import pathlib
import subprocess
import sys

import pytest

import openwafer

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "src/wafer/python/openwafer/__init__.py"])
def test_examples_run_as_shown(page):
    text = (ROOT / page).read_text().replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert examples.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(examples).failed == 0


def test_the_version_is_that_of_the_program():
    said = subprocess.run([os.environ["WAFER_PROGRAM"], "--version"], capture_output=True, text=True)
    assert said.stdout == f"wafer {openwafer.__version__}\n"


def test_types_hold():
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir",
         os.devnull],
        cwd=ROOT, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout


def test_everything_public_is_documented():
    for name in openwafer.__all__:
        assert getattr(openwafer, name).__doc__, name
