"""Sweeps from Python: rows as the command line writes them, frames, progress, Ctrl-C, threads."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import openwafer


def cli(*args):
    done = subprocess.run([os.environ["WAFER_PROGRAM"], *map(str, args)], capture_output=True)
    return json.loads(done.stdout)


AXES = {"batch": [32, 64], "machine": ["wse2", "a100-80gbx8"]}


def test_rows_are_those_of_the_command_line():
    rows = openwafer.sweep("bert-tiny", AXES, frame=False)
    assert rows == cli("sweep", "bert-tiny", "--axis", "batch=32,64", "--axis",
                       "machine=wse2,a100-80gbx8", "--json", "-")
    assert rows == openwafer.sweep(
        "bert-tiny", ["batch=32,64", "machine=wse2,a100-80gbx8"], frame=False
    )


def test_numbers_of_a_machine_keep_their_name():
    rows = openwafer.sweep("bert-tiny", {"wse2.clock_hz": [8e8, 9e8]}, batch=64, frame=False)
    assert [row["wse2.clock_hz"] for row in rows] == [8e8, 9e8]
    assert rows[0]["samples_per_second"] < rows[1]["samples_per_second"]


def test_a_frame_has_a_column_a_key():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = openwafer.sweep("bert-tiny", AXES)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["batch"]) == [32, 32, 64, 64]
    assert "parallelism.tensor" in frame.columns
    compared = openwafer.compare("bert-tiny", ["wse2", "h100"], batch=8).frame()
    assert list(compared["name"]) == ["wse2", "h100"]


def test_numpy_values_are_values():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    rows = openwafer.sweep(
        "bert-tiny", {"sparsity": numpy.linspace(0, 0.5, 3), "batch": numpy.array([32])},
        frame=False,
    )
    assert [row["sparsity"] for row in rows] == [0, 0.25, 0.5]
    answer = openwafer.estimate("bert-tiny", batch=numpy.int64(32), sparsity=numpy.float32(0.5))
    assert (answer.batch, answer.sparsity) == (32, 0.5)


def test_pareto_keeps_the_front():
    keys = ["samples_per_second", "systems"]
    front = openwafer.sweep("bert-tiny", {"systems": [1, 2], "batch": [64, 128]}, pareto=keys,
                            frame=False)
    assert 0 < len(front) < 4
    assert front == cli("sweep", "bert-tiny", "--axis", "systems=1,2", "--axis", "batch=64,128",
                        "--pareto", ",".join(keys), "--json", "-")


def test_the_model_is_given_once():
    with pytest.raises(openwafer.InputError, match="twice"):
        openwafer.sweep("gpt2", {"model": ["gpt2"]})
    with pytest.raises(openwafer.InputError, match="expected a model"):
        openwafer.sweep(axis={"batch": [1]})
    rows = openwafer.sweep(axis={"model": ["bert-tiny", "gpt:layers=2,hidden=64,heads=2,vocab=99"]},
                           batch=8, frame=False)
    assert [row["model"] for row in rows] == ["bert-tiny", "gpt:layers=2,hidden=64,heads=2,vocab=99"]


def test_axes_are_refused_as_on_the_command_line():
    with pytest.raises(openwafer.InputError, match="--axis bach: no such axis; did you mean batch?"):
        openwafer.sweep("gpt2", {"bach": [1]})
    with pytest.raises(openwafer.InputError, match="--axis phase: expected train or infer"):
        openwafer.sweep("gpt2", {"phase": ["tain"]})


def test_warns_where_no_point_has_an_answer():
    with pytest.warns(UserWarning, match="none of 2 points has an answer"):
        rows = openwafer.sweep("gpt2", {"batch": [0, -1]}, frame=False)
    assert [row["samples_per_second"] for row in rows] == [None, None]
    assert "--batch" in rows[0]["reason"]


def test_progress_is_told_and_its_errors_end_the_sweep():
    heard = []
    openwafer.sweep("bert-tiny", {"batch": range(1, 301)}, frame=False,
                    progress=lambda done, of: heard.append((done, of)))
    assert heard[-1][1] == 300
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)

    def stop(done, of):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        openwafer.sweep("bert-tiny", {"batch": range(1, 301)}, progress=stop, threads=1)


def test_a_bar_that_is_not_there_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        openwafer.sweep("bert-tiny", {"batch": [1]}, progress=True)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        openwafer.sweep("bert-tiny", {"batch": [1]}, frame=True)
    assert isinstance(openwafer.sweep("bert-tiny", {"batch": [1]}), list)


def test_ctrl_c_ends_a_long_sweep():
    code = (
        "import openwafer\n"
        "def tell(done, of):\n"
        "    print(done, flush=True)\n"
        "try:\n"
        "    openwafer.sweep('gpt2', {'batch': range(1, 100001), 'seq': range(1, 101)},\n"
        "                    progress=tell)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()  # ten million points, and the first are done
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out.endswith("stopped\n")


def test_other_threads_run_while_one_computes():
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    before = ticks
    openwafer.estimate("gpt:layers=3000,hidden=1024,heads=16,vocab=50257", batch=512)  # half a second
    during = ticks - before
    done.set()
    ticker.join()
    assert during > 1
