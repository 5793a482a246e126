"""Makes reports with the program of the first argument, for the tests beside it."""
import pathlib
import subprocess
import sys

WAFER = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/wafer"

# Every kind of machine, of phase, and a comparison in which one machine cannot do it.
QUESTIONS = {
    "streamed": ["bert-large", "--batch", "8192", "--seq", "128", "--epoch-samples", "67350"],
    "compared": ["gpt3-13b", "--machines", "wse2,wse3x4,a100-80gbx256,v100-32gb", "--batch", "1024"],
    "cluster": ["gpt2", "--machine", "a100-80gb", "--systems", "8", "--batch", "256",
                "--price", "a100-80gb=2"],
    "serving": ["llama2-7b", "--machines", "h100,a100-80gbx8", "--phase", "infer", "--batch", "8"],
    "pipelined": ["bert-large-mlm", "--mode", "pipelined", "--seq", "128"],
    "resident": ["llama3-8b", "--machines", "wse2,h100,a100-80gbx8", "--phase", "infer", "--batch", "1",
                 "--seq", "4096"],
    "inference": ["bert-base", "--machine", "wse3", "--phase", "infer", "--batch", "64"],
    "convolutions": ["resnet50", "--batch", "256"],
    "one sample": ["gpt2", "--batch", "1"],
    "one rate": ["gpt3-6.7b", "--batch", "128"],  # of all layers, nearly
    "sparse": ["gpt3-1.3b", "--sparsity", "0.75", "--batch", "512", "--tokens", "3e10"],
}


def run(*args, **more):
    return subprocess.run([WAFER, *map(str, args)], capture_output=True, text=True, timeout=120, **more)


def make(folder, name):
    """The path of a report on one of QUESTIONS."""
    path = pathlib.Path(folder) / (name.replace(" ", "-") + ".html")
    done = run("report", *QUESTIONS[name], "-o", path)
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr}")
    return path
