#!/usr/bin/env python3
"""Runs the program as its users do and looks at what it prints and how it ends.

usage: cli_test.py WAFER [SUITE]
"""
import csv
import io
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tiny_onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WAFER = ""

INPUT, CAPACITY = 2, 3

KEYS = """model machine systems phase mode batch micro_batch seq_len precision samples_per_second
tokens_per_second step_seconds model_flops_per_step model_flops_per_second utilization bound
epoch_seconds train_seconds energy_joules_per_step expected_error extrapolated memory layers""".split()
BOUNDS = {"compute", "weights", "gradients", "layer_overhead", "memory", "network"}


def run(*args, **more):
    return subprocess.run([WAFER, *map(str, args)], capture_output=True, text=True, timeout=120, **more)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def ok(self, *args, **more):
        done = run(*args, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def answer(self, *args):
        return json.loads(self.ok(*args, "--json", "-"))

    def refused(self, code, *args, says=()):
        """Ends with the code, prints nothing, and tells one error with all of `says`."""
        done = run(*args)
        self.assertEqual(done.returncode, code, (args, done.stderr))
        self.assertEqual(done.stdout, "", args)
        self.assertTrue(done.stderr.startswith("wafer: "), done.stderr)
        self.assertNotIn("\nwafer: ", done.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)


class Estimate(Case):
    def test_json_begins_with_the_promised_keys(self):
        answer = self.answer("estimate", "bert-large", "--batch", 8192)
        self.assertEqual(list(answer)[: len(KEYS)], KEYS)
        self.assertIn(answer["bound"], BOUNDS)
        self.assertTrue({"weights_bytes", "activations_bytes"} <= set(answer["memory"]))
        for layer in answer["layers"]:
            self.assertTrue({"name", "seconds", "flops", "bytes", "bound"} <= set(layer))
            self.assertIn(layer["bound"], BOUNDS)

    def test_json_says_what_was_asked_and_what_was_chosen(self):
        answer = self.answer("estimate", "gpt3-1.3b", "--machine", "wse2", "--phase", "infer", "--mode",
                             "streamed", "--batch", 64, "--seq", 512, "--precision", "cb16",
                             "--systems", 2, "--micro-batch", 16)
        expected = {"model": "gpt3-1.3b", "machine": "wse2", "systems": 2, "phase": "infer",
                    "mode": "streamed", "batch": 64, "micro_batch": 16, "seq_len": 512,
                    "precision": "cb16"}
        self.assertEqual({key: answer[key] for key in expected}, expected)

    def test_quantities_agree_with_each_other(self):
        a = self.answer("estimate", "gpt2", "--batch", 256, "--epoch-samples", 1e6, "--tokens", 1e9)
        near = lambda x, y: self.assertAlmostEqual(x / y, 1, places=9)
        near(a["samples_per_second"] * a["step_seconds"], 256)
        near(a["tokens_per_second"], a["samples_per_second"] * 1024)
        near(a["model_flops_per_second"] * a["step_seconds"], a["model_flops_per_step"])
        near(a["epoch_seconds"] * a["samples_per_second"], 1e6)
        near(a["train_seconds"] * a["tokens_per_second"], 1e9)
        parts = a["hand_over_seconds"] + a["store_update_seconds"] + a["reduce_tree_seconds"]
        near(sum(layer["seconds"] for layer in a["layers"]) + parts, a["step_seconds"])
        self.assertTrue(0 < a["utilization"] < 1)

    def test_what_was_not_asked_is_null(self):
        answer = self.answer("estimate", "gpt2")
        self.assertIsNone(answer["epoch_seconds"])
        self.assertIsNone(answer["train_seconds"])

    def test_an_error_is_expected_only_where_measurements_count(self):
        known = self.answer("estimate", "bert-large", "--batch", 2048)
        self.assertTrue(0 < known["expected_error"] < 0.15)
        self.assertEqual(known["extrapolated"], [])
        unknown = self.answer("estimate", "bert-large", "--machine", "wse3")
        self.assertIsNone(unknown["expected_error"])
        self.assertIn("not calibrated", " ".join(unknown["extrapolated"]))
        beyond = self.answer("estimate", "gpt3-175b", "--systems", 16)
        for axis in ("layers 96", "hidden width 12288", "systems 16"):
            self.assertIn(axis, " ".join(beyond["extrapolated"]))

    def test_the_papers_roofline_is_printed_on_demand(self):
        self.assertIn("HPEC", self.ok("estimate", "bert-large", "--paper-roofline"))
        self.assertNotIn("HPEC", self.ok("estimate", "bert-large"))

    def test_is_the_same_in_every_run(self):
        args = ("estimate", "llama2-7b", "--batch", 64, "--json", "-")
        self.assertEqual(self.ok(*args), self.ok(*args))


class Compare(Case):
    LARGE = "gpt3-13b"

    def test_each_machine_has_a_row_that_equals_its_estimate(self):
        rows = self.answer("compare", "gpt2", "--machines", "wse2,wse3x4,a100-80gbx8", "--batch", 512)["rows"]
        self.assertEqual([row["name"] for row in rows], ["wse2", "wse3x4", "a100-80gbx8"])
        alone = self.answer("estimate", "gpt2", "--machine", "a100-80gb", "--systems", 8, "--batch", 512)
        for key in ("machine", "systems", "mode", "step_seconds", "energy_joules_per_step", "bound"):
            self.assertEqual(rows[2][key], alone[key])
        self.assertEqual(rows[2]["parallelism"]["data"], alone["parallelism"]["data"])
        self.assertAlmostEqual(rows[1]["ratio"], rows[1]["samples_per_second"] / rows[0]["samples_per_second"])
        self.assertEqual((rows[0]["knobs"], rows[0]["lines"]), ([], 565))

    def test_a_machine_that_cannot_do_it_says_why_and_the_rest_stand(self):
        text = self.ok("compare", self.LARGE, "--machines", "a100-80gb,wse2", "--batch", 64)
        self.assertIn("cannot do it", text)
        rows = self.answer("compare", self.LARGE, "--machines", "a100-80gb,wse2", "--batch", 64)["rows"]
        self.assertIn("does not fit", rows[0]["reason"])
        self.assertIsNone(rows[0]["step_seconds"])
        self.assertEqual((rows[1]["ratio"], rows[1]["reason"]), (1, None))

    def test_it_fails_only_where_all_fail(self):
        self.refused(CAPACITY, "compare", self.LARGE, "--machines", "a100-80gb,h100", "--batch", 64,
                     says=["a100-80gb: ", "h100: "])
        self.refused(INPUT, "compare", "bert-lagre", "--machines", "wse2,wse3", says="did you mean bert-large?")
        self.refused(INPUT, "compare", "gpt2", "--machines", "wse2,wse9", says="wse9")
        self.refused(INPUT, "compare", "gpt2", "--machines", "wse2:fast", says="fast")
        self.refused(INPUT, "compare", "gpt2", says="--machines")

    def test_files_of_ones_own_may_have_an_x_in_their_path(self):
        path = self.file("box4.toml", (ROOT / "machines/wse2.toml").read_text())
        rows = self.answer("compare", "gpt2", "--machines", f"{path},{path}x2:streamed")["rows"]
        self.assertEqual([row["systems"] for row in rows], [1, 2])


class Sweep(Case):
    AXES = ("--axis", "batch=32,64", "--axis", "machine=wse2,a100-80gbx8")

    def rows(self, text):
        return list(csv.DictReader(io.StringIO(text)))

    def test_rows_equal_single_answers_in_order(self):
        rows = self.rows(self.ok("sweep", "gpt2", *self.AXES))
        self.assertEqual([(row["batch"], row["machine"], row["systems"]) for row in rows],
                         [("32", "wse2", "1"), ("32", "a100-80gb", "8"), ("64", "wse2", "1"),
                          ("64", "a100-80gb", "8")])
        alone = self.answer("estimate", "gpt2", "--machine", "a100-80gb", "--systems", 8, "--batch", 64)
        for key in ("step_seconds", "energy_joules_per_step", "utilization"):
            self.assertEqual(float(rows[3][key]), alone[key])
        self.assertEqual(int(rows[3]["parallelism.data"]), alone["parallelism"]["data"])

    def test_all_formats_hold_the_same(self):
        files = [self.folder / name for name in ("a.csv", "a.json", "a.jsonl", "a.md", "a.svg")]
        self.assertEqual(self.ok("sweep", "gpt2", *self.AXES, "--csv", files[0], "--json", files[1],
                                 "--markdown", files[3], "--plot", files[4]), "4 points: 4 answered\n")
        self.ok("sweep", "gpt2", *self.AXES, "--json", files[2])
        rows = json.loads(files[1].read_text())
        self.assertEqual(rows, [json.loads(line) for line in files[2].read_text().splitlines()])
        steps = [float(row["step_seconds"]) for row in self.rows(files[0].read_text())]
        self.assertEqual(steps, [row["step_seconds"] for row in rows])
        self.assertEqual(len(files[3].read_text().splitlines()), 6)
        self.assertTrue(files[4].read_text().startswith("<svg"))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(f.name for f in files))

    def test_threads_change_nothing(self):
        args = ("sweep", "bert-tiny", "--axis", "batch=1..200", "--axis", "seq=32,64,128", "--threads")
        self.assertEqual(self.ok(*args, 1), self.ok(*args, 5))

    def test_a_point_that_cannot_be_answered_has_a_reason(self):
        rows = self.rows(self.ok("sweep", "gpt3-13b", "--batch", 64, "--axis", "machine=h100,wse2",
                                 "--axis", "seq=0,512"))
        self.assertEqual(["--seq" in row["reason"] for row in rows], [True, False, True, False])
        self.assertIn("does not fit", rows[1]["reason"])
        self.assertEqual((rows[1]["step_seconds"], rows[3]["reason"]), ("", ""))

    def test_it_fails_where_no_point_has_an_answer(self):
        done = run("sweep", "gpt3-175b", "--axis", "machine=h100,a100-80gb")
        self.assertEqual((done.returncode, len(self.rows(done.stdout))), (CAPACITY, 2))
        self.assertIn("none of 2 points", done.stderr)
        self.assertEqual(run("sweep", "gpt2", "--axis", "batch=0,-1").returncode, INPUT)

    def test_numbers_of_machines_are_axes(self):
        rows = self.rows(self.ok("sweep", "gpt3-1.3b", "--axis", "wse2.clock_hz=8e8..9e8:5e7"))
        self.assertEqual([float(row["wse2.clock_hz"]) for row in rows], [8e8, 8.5e8, 9e8])
        rates = [float(row["samples_per_second"]) for row in rows]
        self.assertEqual(rates, sorted(rates))

    def test_a_front_holds_what_nothing_beats(self):
        args = ("sweep", "gpt3-1.3b", "--batch", 512, "--axis", "machine=a100-80gb", "--axis",
                "systems=8..64:x2", "--axis", "micro-batch=1,2")
        front = self.rows(self.ok(*args, "--pareto", "samples_per_second,energy_joules_per_step"))
        keys = lambda row: (float(row["samples_per_second"]), float(row["energy_joules_per_step"]))
        every = [keys(row) for row in self.rows(self.ok(*args))]
        best = [a for a in every
                if not any(b[0] >= a[0] and b[1] <= a[1] and b != a for b in every)]
        self.assertEqual([keys(row) for row in front], best)

    def test_what_is_wrong_is_told_before_anything_is_written(self):
        path = self.file("a.csv", "old")
        for args, says in ((("--axis", "bach=1"), "batch"), (("--axis", "batch=1..1e8"), "10000000"),
                           (("--axis", "batch=1,2", "--pareto", "step_seconds"), "two keys"),
                           (("--axis", "batch=1,2", "--pareto", "step_seconds,bound"), "bound"),
                           (("--axis", "batch=1,2", "--axis", "model=gpt2"), "twice"),
                           (("--axis", "batch=1..30000", "--plot", "a.svg"), "20000"), ((), "--axis")):
            self.refused(INPUT, "sweep", "gpt2", *args, "--csv", path, says=says)
        self.refused(INPUT, "sweep", "--axis", "batch=1,2", says="MODEL")
        self.assertEqual(path.read_text(), "old")

    def test_a_killed_sweep_leaves_the_old_file_and_nothing_else(self):
        path = self.file("a.csv", "old")
        sweeping = subprocess.Popen([WAFER, "sweep", "gpt2", "--axis", "batch=1..100000", "--csv", path])
        with self.assertRaises(subprocess.TimeoutExpired):
            sweeping.wait(0.5)
        sweeping.kill()
        sweeping.wait()
        self.assertEqual((path.read_text(), os.listdir(self.folder)), ("old", ["a.csv"]))

    def test_ctrl_c_writes_the_rows_that_are_there(self):
        path = self.folder / "a.csv"
        sweeping = subprocess.Popen([WAFER, "sweep", "gpt2", "--axis", "batch=1..1000000", "--csv", path],
                                    stderr=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        with self.assertRaises(subprocess.TimeoutExpired):
            sweeping.wait(0.5)
        sweeping.send_signal(signal.SIGINT)
        said = sweeping.communicate()[1]
        written = int(re.search("rows of the first ([0-9]+) of 1000000 points are written", said)[1])
        rows = self.rows(path.read_text())
        self.assertEqual((sweeping.returncode, len(rows)), (130, written))
        self.assertEqual([int(row["batch"]) for row in rows], list(range(1, written + 1)))

    def test_a_full_disk_is_an_error(self):
        self.refused(CAPACITY, "sweep", "gpt2", "--axis", "batch=8,16", "--csv", "/dev/full", says="/dev/full")


class Price(Case):
    def test_training_costs_hours_times_systems_times_price(self):
        args = ("--batch", 512, "--tokens", 1e10)
        alone = self.answer("estimate", "gpt2", "--machine", "h100", "--systems", 8, *args, "--price", "h100=2.5")
        self.assertAlmostEqual(alone["cost_usd"], alone["train_seconds"] / 3600 * 8 * 2.5)
        self.assertEqual(alone["cost_of"], "training")
        rows = json.loads(self.ok("compare", "gpt2", "--machines", "wse2,h100x8", *args, "--price", "h100=2.5",
                                  "--json", "-"))["rows"]
        self.assertEqual([row["cost_usd"] for row in rows], [None, alone["cost_usd"]])
        self.assertIn("the whole training", self.ok("compare", "gpt2", "--machines", "h100x8", *args,
                                                    "--price", "h100=2.5"))

    def test_it_is_a_column_and_an_objective_of_a_sweep_only_where_there_is_one(self):
        args = ("sweep", "gpt3-1.3b", "--axis", "machine=wse2,h100x8", "--axis", "batch=512,1024")
        self.assertNotIn("cost", self.ok(*args).splitlines()[0])
        front = ("--pareto", "samples_per_second,cost_usd")
        self.refused(INPUT, *args, *front, says="--price")
        done = self.ok(*args, *front, "--price", "wse2=100", "--price", "h100=2.5")
        self.assertTrue(all(float(row["cost_usd"]) > 0 for row in csv.DictReader(io.StringIO(done))))

    def test_one_error_tells_what_is_wrong(self):
        for price, says in (("h100", "MACHINE=USD"), ("h100=nan", "MACHINE=USD"), ("h100=-1", "MACHINE=USD"),
                            ("a100=1", "nothing is asked of that machine")):
            self.refused(INPUT, "estimate", "gpt2", "--machine", "h100", "--price", price, says=says)
        self.refused(INPUT, "estimate", "gpt2", "--price", "wse2=1", "--price", "wse2=2", says="twice")


class Options(Case):
    def test_help_explains_with_examples(self):
        self.assertIn("Examples:", self.ok("--help"))
        self.assertEqual(self.ok(), self.ok("--help"))
        for command in ("estimate", "compare", "sweep", "validate", "show", "models", "machines", "compile", "map", "fit"):
            text = self.ok(command, "--help")
            self.assertIn("Examples:", text)
            self.assertIn(f"wafer {command}", text)
        self.assertIn("default 1024", self.ok("estimate", "--help"))

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^wafer \d+\.\d+\.\d+\n$")

    def test_unknown_words_get_the_nearest_that_exists(self):
        self.refused(INPUT, "estimat", says=["estimat", "did you mean estimate?"])
        self.refused(INPUT, "estimate", "bert-lagre", says=["bert-lagre", "bert-large"])
        self.refused(INPUT, "estimate", "gpt2", "--machine", "wse22", says=["wse22", "wse2"])
        self.refused(INPUT, "estimate", "gpt:layer=2,hidden=64,heads=2,vocab=9", says="layers")
        self.refused(INPUT, "compile", "gpt2", "--print-after", "layer", says="layers")

    def test_a_command_needs_its_arguments(self):
        self.refused(INPUT, "estimate", says="MODEL")
        self.refused(INPUT, "validate", says="FILE")
        self.refused(INPUT, "estimate", "gpt2", "--batch", says="--batch")
        self.refused(INPUT, "estimate", "gpt2", "--bach", 3, says=["--bach", "--help"])
        self.refused(INPUT, "estimate", "gpt2", "gpt3", says="gpt3")

    def test_counts_are_whole_and_positive(self):
        for wrong in (0, -8, "many", "1.5", "", "1e30", 10**30, 10**13):
            self.refused(INPUT, "estimate", "gpt2", "--batch", wrong, says="--batch")
        for option in ("--systems", "--seq", "--micro-batch"):
            for wrong in (0, -1):
                self.refused(INPUT, "estimate", "gpt2", option, wrong, says=option)
        self.assertEqual(self.answer("estimate", "gpt2", "--batch", "2e3")["batch"], 2000)

    def test_a_huge_batch_is_answered(self):
        self.assertEqual(self.answer("estimate", "gpt2", "--batch", 10**12)["batch"], 10**12)

    def test_all_that_is_wrong_is_told_at_once(self):
        self.refused(INPUT, "estimate", "gpt2", "--batch", 0, "--systems", 0, "--tokens", 0,
                     says=["--batch", "--systems", "--tokens"])

    def test_a_sparsity_leaves_some_weights(self):
        for wrong in ("1.0", "1.5", "-0.1", "nan", "90", "100%", "0:4", "5:4", "2:"):
            self.refused(INPUT, "estimate", "gpt2", "--sparsity", wrong, says="--sparsity")
        self.assertEqual(self.answer("estimate", "gpt2", "--sparsity", 0.75)["sparsity"], 0.75)
        patterned = self.answer("estimate", "gpt2", "--sparsity", "2:4", "--sparsity-of", "mlp/*=90%")
        self.assertEqual(patterned["sparsity"], 0.5)
        self.assertEqual(patterned["sparsity_text"], "2:4, mlp/* 0.9")
        layer = next(l for l in patterned["layers"] if l["name"] == "layer")
        # A third of the weights is half zero, two thirds are nine tenths zero.
        self.assertAlmostEqual(layer["density"], (0.5 + 2 * 0.1) / 3)
        self.refused(INPUT, "estimate", "gpt2", "--sparsity-of", "mpl/*=0.5", says="layer/mlp/up")
        self.refused(INPUT, "estimate", "gpt2", "--sparsity-of", "mlp", says="PATTERN=VALUE")

    def test_words_are_of_their_list(self):
        for option in ("--phase", "--mode", "--precision", "--recompute"):
            self.refused(INPUT, "estimate", "gpt2", option, "odd", says=[option, "odd"])
        self.refused(INPUT, "show", "gpt2", "--format", "pdf", says=["--format", "pdf"])

    def test_what_contradicts_itself_is_refused(self):
        self.refused(INPUT, "estimate", "gpt2", "--batch", 4, "--systems", 8, says="8 systems")
        self.refused(INPUT, "estimate", "gpt2", "--batch", 4, "--micro-batch", 8,
                     says="--micro-batch")
        self.refused(INPUT, "estimate", "gpt2", "--seq", 4096, says=["4096", "1024"])
        self.refused(INPUT, "estimate", "resnet50", "--seq", 128, says="128")
        self.refused(INPUT, "estimate", "gpt2", "--dim", "n=4", says="--dim n")
        self.refused(INPUT, "estimate", "gpt2", "--dim", "n", says="--dim")

    def test_a_gpu_is_no_wafer(self):
        self.refused(INPUT, "estimate", "gpt2", "--machine", "a100-80gb", "--sparsity", "0.5", says="--sparsity")

    def test_what_fits_nowhere_ends_with_3(self):
        self.refused(CAPACITY, "estimate", "gpt:layers=400,hidden=65536,heads=64,vocab=50257",
                     says="store")
        self.refused(CAPACITY, "estimate", "llama3-8b", "--seq", 10**7, says="--seq")


class Resident(Case):
    """Measured rates are of WaferLLM (arXiv:2502.04563), Tables 3 and 4, at 4096 tokens."""

    def resident(self, model, *more):
        return self.answer("estimate", model, "--machine", "wse2", "--phase", "infer", "--mode", "resident",
                           "--batch", 1, "--seq", 4096, *more)

    def test_decoding_gets_slower_as_the_mesh_grows(self):
        rates = [self.resident("llama3-8b", "--cores", f"{p}x{p}")["decode_tokens_per_second"]
                 for p in (420, 540, 660)]
        for rate, measured in zip(rates, (2699.9, 2501.5, 2243.3)):
            self.assertAlmostEqual(rate / measured, 1, delta=0.15)
        self.assertEqual(rates, sorted(rates, reverse=True))

    def test_reading_a_prompt_gets_faster(self):
        rates = [self.resident("llama3-8b", "--cores", p)["prefill_tokens_per_second"] for p in (480, 600, 720)]
        for rate, measured in zip(rates, (20320.6, 25037.2, 27686.5)):
            self.assertAlmostEqual(rate / measured, 1, delta=0.15)
        self.assertEqual(rates, sorted(rates))

    def test_a_longer_cache_is_slower_and_larger(self):
        short, long = (self.answer("estimate", "llama3-8b", "--phase", "infer", "--cores", 420, "--batch", 1,
                                   "--seq", seq) for seq in (1024, 8192))
        self.assertLess(long["decode_tokens_per_second"], short["decode_tokens_per_second"])
        self.assertGreater(long["memory"]["cache_bytes"], 4 * short["memory"]["cache_bytes"])

    def test_quantities_agree_with_each_other(self):
        a = self.resident("llama3-8b", "--cores", "480x480")
        near = lambda x, y: self.assertAlmostEqual(x / y, 1, places=9)
        near(a["prefill_tokens_per_second"] * a["first_token_seconds"], 4096)
        near(a["decode_tokens_per_second"] * a["token_latency_seconds"], 1)
        for part in (a["resident"]["prefill"], a["resident"]["decode"]):
            near(sum(part[f"{key}_seconds"] for key in ("products", "exchange", "scalars", "hand_over", "head")),
                 part["latency_seconds"])
        self.assertLessEqual(a["memory"]["pe_used_bytes"], a["memory"]["pe_capacity_bytes"])

    def test_requests_in_flight_share_the_regions(self):
        """The fullest of 4 regions has 8 of 32 layers: it serves at most 4 times what one request asks."""
        one, many = (self.answer("estimate", "llama3-8b", "--phase", "infer", "--mode", "resident", "--cores",
                                 360, "--seq", 2048, "--batch", batch) for batch in (1, 8))
        ratio = many["decode_tokens_per_second"] / one["decode_tokens_per_second"]
        self.assertTrue(3 < ratio <= 4.2, ratio)
        self.assertEqual(many["token_latency_seconds"], one["token_latency_seconds"])
        near = self.assertAlmostEqual
        near(many["memory"]["layer_cache_bytes_of_pe"], 8 * one["memory"]["layer_cache_bytes_of_pe"])

    def test_a_network_of_several_wafers_says_so(self):
        """Each of 48 layers takes 6570 bytes of a PE on 480 x 480: 6 a region, 2 regions a wafer."""
        a = self.resident("codellama-34b", "--cores", "480x480")
        self.assertEqual((a["systems"], a["resident"]["wafers"]), (4, 4))
        self.assertIn("4 wafers in a row", " ".join(a["extrapolated"]))
        self.refused(CAPACITY, "estimate", "codellama-34b", "--phase", "infer", "--mode", "resident", "--batch", 1,
                     "--seq", 4096, "--cores", "480x480", "--systems", 3, says=["4 wafers", "--systems 4"])
        self.refused(CAPACITY, "estimate", "gpt3-175b", "--phase", "infer", "--mode", "resident", "--batch", 1,
                     says="--systems 16")

    def test_a_mesh_is_square_and_lies_on_the_wafer(self):
        for wrong in ("0", "-3", "480x481", "480x", "foo", "1e3", "9" * 30):
            self.refused(INPUT, "estimate", "llama3-8b", "--phase", "infer", "--batch", 1, f"--cores={wrong}",
                         says=["--cores", "480x480"])
        self.refused(INPUT, "estimate", "llama3-8b", "--phase", "infer", "--batch", 1, "--cores", "751x751",
                     says=["750 x 994", "1 to 750"])

    def test_it_goes_with_inference_of_tokens(self):
        self.refused(INPUT, "estimate", "gpt2", "--cores", 480, says="--phase infer")
        self.refused(INPUT, "estimate", "gpt2", "--mode", "resident", says="--phase infer")
        self.refused(INPUT, "estimate", "gpt2", "--phase", "infer", "--mode", "streamed", "--cores", 480,
                     says="--mode resident")
        self.refused(INPUT, "estimate", "gpt2", "--machine", "a100-80gb", "--phase", "infer", "--cores", 480,
                     says="--cores")
        self.refused(INPUT, "estimate", "resnet50", "--phase", "infer", "--mode", "resident",
                     says=["conv1", "--mode streamed"])

    def test_where_it_does_not_fit_weights_stream_and_the_reason_is_told(self):
        fits = self.answer("estimate", "gpt2", "--phase", "infer", "--batch", 1)
        self.assertEqual(fits["mode"], "resident")
        crowded = self.answer("estimate", "llama3-8b", "--phase", "infer", "--batch", 1024)
        self.assertEqual(crowded["mode"], "streamed")
        self.assertIn("--batch", crowded["mode_reason"])
        encoder = self.answer("estimate", "bert-large", "--phase", "infer")
        self.assertEqual(encoder["mode"], "streamed")
        self.assertIn("does not generate", encoder["mode_reason"])

    def test_cores_are_an_axis_of_a_sweep(self):
        rows = list(csv.DictReader(io.StringIO(self.ok(
            "sweep", "gpt2", "--phase", "infer", "--batch", 1, "--axis", "cores=100x100,200x200"))))
        self.assertEqual([row["resident.cores"] for row in rows], ["100", "200"])
        single = self.answer("estimate", "gpt2", "--phase", "infer", "--batch", 1, "--cores", 200)
        self.assertEqual(float(rows[1]["decode_tokens_per_second"]), single["decode_tokens_per_second"])
        self.refused(INPUT, "sweep", "gpt2", "--phase", "infer", "--axis", "cores=100x100,x", says="480x480")


class Files(Case):
    CONFIG = json.dumps({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12,
                         "n_positions": 1024, "vocab_size": 50257})

    def test_a_config_json_and_its_folder_are_the_model(self):
        path = self.file("config.json", self.CONFIG)
        named = self.answer("estimate", "gpt2")
        for model in (path, self.folder):
            self.assertEqual(self.answer("estimate", model)["step_seconds"], named["step_seconds"])

    def test_an_exported_model_is_answered_as_its_name(self):
        exported = subprocess.run([WAFER, "show", "bert-base", "--precision", "f32", "--format", "onnx"],
                                  capture_output=True, check=True).stdout
        path = self.file("bert.onnx", exported)
        file, name = (self.answer("estimate", model, "--batch", 4096) for model in (path, "bert-base"))
        self.assertEqual(file["model"], "bert.onnx")
        for key in ("step_seconds", "tokens_per_second", "model_flops_per_step"):
            self.assertAlmostEqual(file[key] / name[key], 1, delta=0.01, msg=key)

    def test_a_symbolic_dimension_is_bound_by_name(self):
        path = self.file("tiny.onnx", tiny_onnx.model(n="width"))
        self.refused(INPUT, "estimate", path, says=["width", "--dim"])
        self.answer("estimate", path, "--dim", "width=16")
        self.answer("estimate", self.file("fixed.onnx", tiny_onnx.model(n=16)))

    def test_a_length_that_the_file_fixes_is_not_ignored(self):
        path = self.file("fixed.onnx", tiny_onnx.model(n=16))
        self.refused(INPUT, "estimate", path, "--seq", 999, says=["--seq 999", "fixed.onnx"])

    def test_a_circle_of_links_is_refused(self):
        path = self.folder / "config.json"
        os.symlink(path, path)
        self.refused(INPUT, "estimate", path, says="config.json")

    def test_a_number_out_of_range_is_refused(self):
        path = self.file("config.json", '{"model_type": "gpt2", "n_layer": 1e999}')
        self.refused(INPUT, "estimate", path, says="config.json")

    def test_keys_of_endless_parts_are_refused(self):
        path = self.file("mine.toml", "[" + "a." * 40000 + "b]")
        self.refused(INPUT, "machines", "show", path, says="mine.toml:1")

    def test_an_unknown_op_is_named(self):
        path = self.file("odd.onnx", tiny_onnx.model(n=16, op="Frobnicate"))
        self.refused(INPUT, "estimate", path, says=["Frobnicate", "product"])

    def test_a_truncated_onnx_file_is_refused(self):
        whole = tiny_onnx.model(n=16)
        for length in (1, 10, len(whole) // 2, len(whole) - 1):
            self.refused(INPUT, "estimate", self.file("cut.onnx", whole[:length]), says="cut.onnx")
        self.refused(INPUT, "estimate", self.file("empty.onnx", b""), says="empty.onnx")
        self.refused(INPUT, "estimate", self.file("text.onnx", "not a model"), says="text.onnx")

    def test_a_truncated_config_is_refused(self):
        for text in ("", "{", self.CONFIG[:-1], self.CONFIG[:40], "[]", '{"model_type": "gtp2"}'):
            self.refused(INPUT, "estimate", self.file("config.json", text), says="config.json")

    def test_a_broken_machine_file_is_refused(self):
        good = (ROOT / "machines/wse2.toml").read_text()
        for text in ("", good[: len(good) // 2], "kind = 3", good.replace("0.85e9", "-1"), "\x00"):
            path = self.file("mine.toml", text)
            self.refused(INPUT, "estimate", "gpt2", "--machine", path, says="mine.toml")
            self.refused(INPUT, "machines", "show", path, says="mine.toml")

    def test_a_machine_of_ones_own_is_used_and_not_taken_for_a_validated_one(self):
        good = (ROOT / "machines/wse2.toml").read_text()
        path = self.file("wse2.toml", good.replace("value = 0.85e9", "value = 1.7e9"))
        mine = self.answer("estimate", "gpt3-1.3b", "--machine", path)
        ours = self.answer("estimate", "gpt3-1.3b")
        self.assertGreater(mine["samples_per_second"], 1.3 * ours["samples_per_second"])
        self.assertIsNone(mine["expected_error"])
        self.assertTrue(mine["extrapolated"])

    def test_what_is_missing_or_of_an_unknown_kind_is_refused(self):
        for args in (("estimate", "./none.onnx"), ("estimate", "none/config.json"),
                     ("estimate", "gpt2", "--machine", "./none.toml"), ("validate", "none.csv"),
                     ("fit", "none.csv"), ("show", "./none")):
            self.refused(INPUT, *args, says="none")
        self.refused(INPUT, "estimate", self.file("model.bin", b"x"), says="model.bin")

    def test_a_directory_is_no_file(self):
        self.refused(INPUT, "estimate", self.folder, says="config.json")
        self.refused(INPUT, "validate", self.folder)
        self.refused(INPUT, "estimate", "gpt2", "--machine", self.folder)
        (self.folder / "x.onnx").mkdir()
        self.refused(INPUT, "estimate", self.folder / "x.onnx")

    def test_a_broken_table_is_refused(self):
        self.refused(INPUT, "validate", self.file("m.csv", ""), says="m.csv")
        self.refused(INPUT, "validate", self.file("m.csv", "id,model\n1,gpt2\n"),
                     says=["m.csv:1", "column machine is missing", "column expect is missing"])
        whole = (ROOT / "validation/system.csv").read_text()
        header = whole.split("\n", 1)[0]
        self.refused(INPUT, "validate", self.file("m.csv", header + '\n1,"never closed'), says="m.csv:2")
        self.refused(INPUT, "validate", self.file("m.csv", header + "\n1,2,3\n"), says="m.csv:2")
        self.refused(INPUT, "validate", self.file("m.csv", b"\x7fELF\x00\x01"), says="m.csv")


class Output(Case):
    def test_json_goes_to_a_file_beside_the_text(self):
        path = self.folder / "out.json"
        text = self.ok("estimate", "gpt2", "--json", path)
        self.assertIn("samples/s", text)
        self.assertEqual(json.loads(path.read_text()), self.answer("estimate", "gpt2"))
        self.assertEqual(os.listdir(self.folder), ["out.json"])

    def test_a_file_is_replaced_whole_and_kept_when_the_command_fails(self):
        path = self.file("out.json", "old")
        self.refused(INPUT, "estimate", "gpt2", "--batch", 0, "--json", path)
        self.assertEqual(path.read_text(), "old")
        self.ok("estimate", "gpt2", "--json", path)
        self.assertNotEqual(path.read_text(), "old")

    def test_a_link_stays_and_its_file_keeps_its_permissions(self):
        path, link = self.file("out.json", "old"), self.folder / "link.json"
        os.chmod(path, 0o600)
        os.symlink(path, link)
        self.ok("estimate", "gpt2", "--json", link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(json.loads(path.read_text())["model"], "gpt2")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_a_pipe_that_nobody_reads_is_refused(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        self.refused(INPUT, "estimate", "gpt2", "--json", path, says="no process reads")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_standard_error_does_not_change_the_exit_code(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([WAFER, "estimate", "nope"], stderr=full)
        self.assertEqual(done.returncode, INPUT)

    def test_what_cannot_be_written_is_told(self):
        for target in (self.folder, self.folder / "none/out.json"):
            self.refused(INPUT, "estimate", "gpt2", "--json", target, says="cannot be written")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_ends_with_3(self):
        self.refused(CAPACITY, "estimate", "gpt2", "--json", "/dev/full", says="/dev/full")
        with open("/dev/full", "w") as full:
            for args in (["models"], ["--help"], ["estimate", "gpt2", "--json", "-"]):
                done = subprocess.run([WAFER, *args], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, CAPACITY)
                self.assertIn("standard output", done.stderr)
        self.assertTrue(os.path.exists("/dev/full"))

    def test_a_reader_that_has_had_enough_is_no_error(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([WAFER, "models"], stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_standard_error_is_silent_where_it_is_no_terminal(self):
        self.ok("fit", ROOT / "validation/system.csv", "--cross")


class Inspect(Case):
    def test_show_has_the_published_parameters(self):
        show = lambda model: json.loads(self.ok("show", model, "--format", "json"))
        self.assertEqual(show("bert-base")["encoder_parameters"], 109482240)
        self.assertEqual(show("bert-large")["encoder_parameters"], 335141888)
        self.assertEqual(show("gpt2")["parameters"], 124439808)
        self.assertIsNone(show("gpt2")["encoder_parameters"])
        self.assertEqual(show("resnet50")["parameters"], 25557032)

    def test_show_json_has_work_and_ops(self):
        shown = json.loads(self.ok("show", "bert-tiny", "--format", "json", "--phase", "train"))
        self.assertGreater(shown["flops"], 0)
        self.assertEqual(shown["ops"], sum(kind["ops"] for kind in shown["ops_by_kind"].values()))
        self.assertTrue(shown["functions"][0]["ops"])

    def test_show_has_text_and_dot(self):
        self.assertIn("dot_general", self.ok("show", "bert-tiny", "--format", "text"))
        self.assertTrue(self.ok("show", "bert-tiny", "--format", "dot").startswith("digraph"))
        self.assertIn("4386178 parameters", self.ok("show", "bert-tiny"))

    def test_models_and_machines_are_listed(self):
        models = {model["name"]: model for model in json.loads(self.ok("models", "--json", "-"))}
        self.assertEqual(models["llama2-7b"]["parameters"], 6738415616)
        self.assertEqual(models["llama3-8b"]["parameters"], 8030261248)
        self.assertIn("gpt3-175b", self.ok("models"))
        machines = {m["name"] for m in json.loads(self.ok("machines", "--json", "-"))}
        self.assertTrue({"wse1", "wse2", "wse3"} <= machines)
        self.assertIn("clock_hz", self.ok("machines", "show", "wse2"))
        self.assertEqual(json.loads(self.ok("machines", "show", "wse2", "--json", "-"))["name"], "wse2")

    def test_every_pass_of_compile_can_be_looked_at(self):
        for name in ("import", "outline", "training_step", "layers", "kernels", "plan"):
            self.assertTrue(self.ok("compile", "bert-tiny", "--print-after", name), name)
        self.assertEqual(self.ok("compile", "bert-tiny"),
                         self.ok("compile", "bert-tiny", "--print-after", "plan"))
        plan = json.loads(self.ok("compile", "bert-tiny", "--format", "json", "--batch", 64))
        self.assertEqual(plan["batch"], 64)
        self.refused(INPUT, "compile", "bert-tiny", "--print-after", "layers", "--format", "json")


class Validate(Case):
    FILE = ROOT / "validation/system.csv"

    @classmethod
    def setUpClass(cls):
        done = run("validate", cls.FILE, "--cross", "--json", "-")
        cls.report = json.loads(done.stdout)

    def scored(self, phase):
        rows = [row for row in self.report["rows"]
                if row["scored"] and row["mode"] == "streamed" and row["phase"] == phase]
        self.assertTrue(rows)
        return rows

    def test_every_row_of_the_file_is_there(self):
        import csv
        with open(self.FILE, newline="") as file:
            ids = [row["id"] for row in csv.DictReader(file)]
        self.assertEqual([row["id"] for row in self.report["rows"]], ids)
        for row in self.report["rows"]:
            self.assertEqual(row["predicted"] is None, row["reason"] is not None, row)

    def test_training_is_met_within_6_percent_and_nine_rows_in_ten_within_15(self):
        errors = sorted(abs(row["predicted"] / row["measured"] - 1) for row in self.scored("train"))
        self.assertLessEqual(sum(errors) / len(errors), 0.06)
        self.assertLessEqual(errors[int(0.9 * (len(errors) - 1))], 0.15)

    def test_a_model_left_out_of_the_fit_is_met_within_15_percent(self):
        self.assertLessEqual(self.report["cross"]["model_mean"], 0.15)

    def test_text_has_rows_groups_and_reasons(self):
        text = self.ok("validate", self.FILE)
        for part in ("bert-large-mlm", "within 15 %", "codellama-34b"):
            self.assertIn(part, text)
        reasons = [row["reason"] for row in self.report["rows"] if row["reason"]]
        self.assertEqual("Not predicted" in text, bool(reasons))
        self.assertFalse([reason for reason in reasons if "resident" in reason])

    def test_what_rests_on_the_measurements_is_up_to_date(self):
        """After a change of model, machine or measurements: scripts/validation-report."""
        coverage = self.folder / "coverage.json"
        report = self.file("validation.md", (ROOT / "docs/validation.md").read_bytes())
        run("validate", "validation/system.csv", "--cross", "--coverage", coverage, "--refresh", report,
            cwd=ROOT)
        self.assertEqual(coverage.read_text(), (ROOT / "validation/coverage.json").read_text())
        self.assertEqual(report.read_text(), (ROOT / "docs/validation.md").read_text())

    def test_the_machine_has_the_constants_that_are_fitted(self):
        """After a change of model or measurements: scripts/fit-constants."""
        for kind in json.loads(self.ok("fit", self.FILE, "--json", "-"))["kinds"]:
            for machine in kind["machines"]:
                numbers = self.ok("machines", "show", machine, "--json", "-")
                for key, value in kind["constants"].items():
                    self.assertIn(f'"{key}"', numbers)
                    self.assertIn(f'"value": {value}', numbers)

    def test_gpus_in_training_are_met_within_5_percent_and_none_is_15_off(self):
        errors = [abs(row["error"]) for row in self.report["rows"]
                  if row["scored"] and row["mode"] == "" and row["phase"] == "train"]
        self.assertGreater(len(errors), 20)
        self.assertLessEqual(sum(errors) / len(errors), 0.05)
        self.assertLessEqual(max(errors), 0.15)

    def test_gpus_in_inference_are_met_within_20_percent_on_rows_that_no_fit_has_seen(self):
        halves = {half["half"]: half for half in self.report["halves"]
                  if half["machine"] == "a100-80gb" and half["phase"] == "infer"}
        self.assertEqual(halves["fitted"]["rows"] + halves["held"]["rows"], 11)
        self.assertLessEqual(halves["held"]["mean"], 0.20)

    def test_resident_inference_is_met_within_15_percent_on_rows_that_no_fit_has_seen(self):
        rows = [row for row in self.report["rows"] if row["mode"] == "resident" and row["scored"]]
        self.assertEqual(len(rows), 12)
        self.assertTrue(all(row["predicted"] for row in rows))
        halves = {half["half"]: half for half in self.report["halves"] if half["mode"] == "resident"}
        self.assertEqual((halves["fitted"]["rows"], halves["held"]["rows"]), (7, 5))
        self.assertLessEqual(halves["held"]["mean"], 0.15)
        for row in rows:  # scaled from the layers that fit a wafer
            if row["model"] == "codellama-34b":
                self.assertIn("the time of a layer x 48 layers", " ".join(row["extrapolated"]))


class Pipelined(Case):
    BERT = ("bert-large-mlm", "--mode", "pipelined", "--seq", 128)

    def test_json_has_the_pipeline_and_its_parts_add_up(self):
        a = self.answer("estimate", *self.BERT, "--batch", 512)
        self.assertEqual((a["mode"], a["layers"]), ("pipelined", []))
        p = a["pipeline"]
        seconds = 512 * p["period_seconds"] + p["fill_seconds"] + p["update_seconds"]
        self.assertAlmostEqual(seconds / a["step_seconds"], 1, places=9)
        self.assertAlmostEqual(p["used_share"] * p["wafer_pes"], p["kernel_pes"] + p["fifo_pes"], places=3)
        self.assertEqual(sum(k["pes"] for k in p["kernels"]), p["kernel_pes"] + p["fifo_pes"])
        self.assertLess(p["pe_bytes"], p["pe_capacity_bytes"])

    def test_text_says_where_the_PEs_go(self):
        text = self.ok("estimate", *self.BERT)
        for part in ("layer-pipelined", "Where the PEs go", "attention/query", "to drain and fill again"):
            self.assertIn(part, text)

    def test_measured_rates_are_met_within_15_percent(self):
        rows = {row["id"]: row for row in json.loads(
            self.ok("validate", ROOT / "validation/system.csv", "--json", "-"))["rows"]}
        for row in ("128", "129"):
            self.assertLessEqual(abs(rows[row]["error"]), 0.15)
        self.assertIsNotNone(self.answer("estimate", *self.BERT)["expected_error"])

    def test_gpt2_has_the_rate_of_the_compile_report(self):
        args = ("estimate", "gpt2", "--mode", "pipelined", "--batch", 256, "--json", "-", "--region")
        answer = json.loads(self.ok(*args, "740x416"))
        self.assertAlmostEqual(answer["pipeline"]["period_seconds"] * 860.3, 1, delta=0.15)
        self.assertEqual(self.ok(*args, 307840), self.ok(*args, "740x416"))

    def test_map_is_one_svg(self):
        path = self.folder / "map.svg"
        self.assertEqual(self.ok("map", "gpt2", "--mode", "pipelined", "-o", path), f"{path}\n")
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        plan = json.loads(self.ok("compile", "gpt2", "--mode", "pipelined", "--format", "json"))
        kernels = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "kernel"]
        self.assertEqual(len(kernels), len(plan["pipeline"]["kernels"]))
        self.assertEqual(self.ok("map", "gpt2", "--mode", "pipelined"), path.read_text())

    def test_what_it_cannot_do_is_told_with_the_remedy(self):
        self.refused(INPUT, "map", "gpt2", says="use --mode pipelined")
        self.refused(INPUT, "estimate", *self.BERT, "--phase", "infer", says="--mode streamed")
        self.refused(INPUT, "estimate", *self.BERT, "--systems", 2, says="--systems 2")
        self.refused(INPUT, "estimate", *self.BERT, "--region", "740by416", says="WIDTHxHEIGHT")
        self.refused(INPUT, "estimate", *self.BERT, "--region", "1000x1000", says="745500 PEs")
        self.refused(INPUT, "estimate", "gpt2", "--region", 1000, says="--mode pipelined")
        self.refused(INPUT, "estimate", "resnet50", "--mode", "pipelined", says=["a convolution", "--mode streamed"])
        self.refused(CAPACITY, "estimate", "gpt3-13b", "--mode", "pipelined", says=["are lacking", "--mode streamed"])


class Speed(Case):
    def test_the_largest_gpt3_takes_50_ms_of_processor_time(self):
        """Reported; fails only far above, since a busy machine and a debug build are slower."""
        times = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.ok("estimate", "gpt3-175b", "--json", "-")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"estimate gpt3-175b: {1000 * min(times):.0f} ms of processor time (asked for: 50)")
        self.assertLess(min(times), 0.25)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    WAFER = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], "-v"] + sys.argv[2:])
