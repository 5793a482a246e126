#!/usr/bin/env python3
"""The file itself: well-formed, self-contained, safe, and with the numbers of --json.

usage: markup_test.py WAFER
"""
import base64
import html.parser
import json
import os
import pathlib
import re
import resource
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reports

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
SCHEMES = ("http:", "https:", "//", "file:", "ftp:")


class Page(html.parser.HTMLParser):
    """What is in a page; `problems` are elements that are not closed, or closed twice."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.ids, self.links, self.tags = [], [], [], [], []
        self.numbers, self.texts, self.script = [], [], ""
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if "id" in attrs:
            self.ids.append(attrs["id"])
        self.links += [v for k, v in attrs.items() if k in ("href", "src", "srcset", "action", "xlink:href")]
        if tag == "data":
            self.numbers.append((attrs["data-key"], float(attrs["value"])))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # <path/> of SVG
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.problems.append(f"</{tag}> where {self.open[-1:]} is open")

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.script += data
        elif self.open[-1:] == ["text"]:
            self.texts.append(data)


def numbers_in(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.text = {n: reports.make(cls.folder.name, n).read_text() for n in reports.QUESTIONS}
        cls.page = {n: Page(t) for n, t in cls.text.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_is_well_formed_with_unique_ids(self):
        for name, page in self.page.items():
            self.assertEqual(page.problems, [])
            self.assertEqual(len(page.ids), len(set(page.ids)))
            targets = [link[1:] for link in page.links if link.startswith("#")]
            self.assertTrue(targets and set(targets) <= set(page.ids), targets)

    def test_has_charts_that_are_xml_with_title_and_description(self):
        for name in self.page:
            charts = re.findall(r"<svg.*?</svg>", self.text[name], re.S)
            self.assertGreaterEqual(len(charts), 4)
            for chart in charts:
                root = xml.etree.ElementTree.fromstring(chart)
                tags = [child.tag.split("}")[-1] for child in root]
                self.assertEqual(tags[:2], ["title", "desc"])
                self.assertTrue(all(child.text for child in list(root)[:2]))
                self.assertNotRegex(chart, r"\b(nan|inf)\b")

    def test_needs_nothing_from_elsewhere_and_runs_no_script(self):
        for name, page in self.page.items():
            self.assertFalse([l for l in page.links if l.lower().startswith(SCHEMES)])
            scripts = [attrs for tag, attrs in page.tags if tag == "script"]
            self.assertEqual([s.get("type") for s in scripts], ["application/json"])
            self.assertFalse([a for _, attrs in page.tags for a in attrs if a.startswith("on")])

    def test_tables_have_headers_and_captions(self):
        for name, page in self.page.items():
            tags = [tag for tag, _ in page.tags]
            self.assertEqual(tags.count("table"), tags.count("caption"))
            scopes = {attrs.get("scope") for tag, attrs in page.tags if tag == "th"}
            self.assertEqual(scopes, {"col", "row"})

    def test_every_number_is_one_of_its_json(self):
        for name, page in self.page.items():
            answers = json.loads(page.script)
            known = set(numbers_in(answers))
            wholes = [answers["answer"]["step_seconds"]]
            if "pipeline" in answers["answer"]:  # kernels stand as parts of the wafer's PEs
                pipeline = answers["answer"]["pipeline"]
                wholes.append(pipeline["wafer_pes"])
                known.add(pipeline["period_seconds"] * answers["answer"]["batch"])
            for part in ("prefill", "decode"):
                times = answers["answer"].get("resident", {}).get(part)
                wholes += [times["latency_seconds"]] if times else []
            counts = {len(row["knobs"] or []) for row in answers["comparison"]["rows"]}
            self.assertGreater(len(page.numbers), 15)
            for key, value in page.numbers:
                if key.endswith("share"):  # of a step, of times that stand beside it
                    self.assertTrue(any(abs(value - t / w) < 1e-9 for t in known for w in wholes), value)
                elif key == "knobs":
                    self.assertIn(value, counts)
                else:
                    self.assertTrue(value in known, f"{name}: {key} {value} is not in the JSON")

    def test_json_is_that_of_estimate_and_compare_and_the_download(self):
        for name, page in self.page.items():
            answers = json.loads(page.script)
            link = next(l for l in page.links if l.startswith("data:application/json;base64,"))
            self.assertEqual(json.loads(base64.b64decode(link.split(",", 1)[1])), answers)
            if "--machines" in reports.QUESTIONS[name]:
                alone = reports.run("compare", *reports.QUESTIONS[name], "--json", "-").stdout
                self.assertEqual(answers["comparison"], json.loads(alone))
            else:
                alone = reports.run("estimate", *reports.QUESTIONS[name], "--json", "-").stdout
                self.assertEqual(answers["answer"], json.loads(alone))

    def test_both_axes_of_a_roofline_are_logarithmic(self):
        """Roofs are straight lines only there; an axis from nothing is not."""
        for name, text in self.text.items():
            for roofline in re.findall(r'<section id="roofline".*?</section>', text, re.S):
                self.assertNotRegex(roofline, r">0 FLOP", name)

    def test_a_resident_report_has_prefill_decode_and_the_cache(self):
        answer = json.loads(self.page["resident"].script)["answer"]
        self.assertEqual(answer["mode"], "resident")
        for key in ("prefill_tokens_per_second", "decode_tokens_per_second", "first_token_seconds",
                    "token_latency_seconds"):
            self.assertIn((key, answer[key]), self.page["resident"].numbers)
        # A key and a value of 128 x 8 elements of 2 bytes in each of 32 layers, at least for the prompt.
        least = 2 * 128 * 8 * 2 * 32 * answer["seq_len"]
        self.assertGreaterEqual(answer["memory"]["cache_bytes"], least)
        self.assertIn(("bytes", answer["memory"]["cache_bytes"]), self.page["resident"].numbers)
        parts = [v for k, v in self.page["resident"].numbers if k == "prefill_share"]
        self.assertAlmostEqual(sum(parts), 1)
        for chart in ("Prefill: a prompt", "Decode: one token"):
            self.assertIn(f"<title>{chart}</title>", self.text["resident"])

    def test_the_map_of_a_pipeline_has_every_kernel(self):
        pipeline = json.loads(self.page["pipelined"].script)["answer"]["pipeline"]
        kernels = sum(kind["count"] for kind in pipeline["kernels"])
        maps = re.findall(r'<svg class="wafer-map".*?</svg>', self.text["pipelined"], re.S)
        self.assertEqual(len(maps), 2)  # for wide and for narrow screens
        for drawn in maps:
            self.assertEqual(drawn.count('class="kernel"'), kernels)
        parts = [v for k, v in self.page["pipelined"].numbers if k == "seconds"]
        self.assertAlmostEqual(sum(parts), json.loads(self.page["pipelined"].script)["answer"]["step_seconds"])

    def test_a_cluster_stands_under_the_roof_of_its_data_sheet(self):
        # An A100 80 GB: 312 TFLOP/s in 16 bits and 2.039 TB/s (NVIDIA's data sheet, SXM).
        self.assertIn("peak 312 TFLOP/s", self.text["cluster"])
        self.assertIn("memory 2.039 TB/s", self.text["cluster"])
        roof = json.loads(self.page["cluster"].script)["answer"]["roofline"]
        fed = roof["memory_flops_per_byte"] * 2.039e12 * 8
        self.assertAlmostEqual(roof["memory_roof_flops_per_second"], min(fed, 8 * 312e12), delta=1e6)
        self.assertLess(roof["attained_flops_per_second"], roof["memory_roof_flops_per_second"])

    def test_shows_what_the_question_is_about(self):
        self.assertIn("comparison", self.page["compared"].ids)
        self.assertNotIn("comparison", self.page["streamed"].ids)
        self.assertIn("roofline", self.page["streamed"].ids)
        self.assertIn("prefill_tokens_per_second", dict(self.page["serving"].numbers))
        self.assertIn("epoch_seconds", dict(self.page["streamed"].numbers))
        self.assertIn("train_seconds", dict(self.page["sparse"].numbers))
        for key in ("speed_up", "energy_ratio", "weight_break_even_density", "gradient_break_even_density",
                    "density"):
            self.assertIn(key, dict(self.page["sparse"].numbers))
        self.assertNotIn("sparsity", self.page["streamed"].ids)
        self.assertIn("map", self.page["pipelined"].ids)
        self.assertNotIn("map", self.page["streamed"].ids)
        self.assertIn("roofline", self.page["cluster"].ids)
        self.assertIn("parallelism", self.text["cluster"])
        self.assertIn("cost_usd", dict(self.page["cluster"].numbers))
        self.assertIn("host_latency_seconds", dict(self.page["inference"].numbers))
        self.assertIn("row 22", self.text["streamed"])  # BERT-large of HPEC 2024, among the evidence
        self.assertIn("cannot do it", self.text["compared"])  # 13B parameters on one V100
        for name, page in self.page.items():
            self.assertIn("trust", page.ids)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, code, *args, says=(), **more):
        done = reports.run("report", *args, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("wafer: "), done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)

    def test_names_are_never_markup(self):
        evil = self.folder / "<script>alert(1)<"
        evil.mkdir()
        machine = evil / "\"&'<b>.toml"
        toml = (pathlib.Path(os.environ["WAFER_DATA_DIR"]) / "machines/wse2.toml").read_text()
        machine.write_text(toml)
        out = self.folder / "out.html"
        done = reports.run("report", "gpt2", "--machines", f"wse2,{machine}", "--batch", "64", "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = out.read_text()
        page = Page(text)
        self.assertEqual(page.problems, [])
        self.assertEqual([t for t, _ in page.tags].count("script"), 1)
        self.assertNotIn("<b>", text)
        self.assertIn("&lt;b&gt;", text)
        self.assertIn("<b>", json.loads(page.script)["comparison"]["rows"][1]["name"])

    def test_prints_the_path_or_the_page(self):
        out = self.folder / "r.html"
        self.assertEqual(reports.run("report", "gpt2", "--batch", "8", "-o", out).stdout, f"{out}\n")
        printed = reports.run("report", "gpt2", "--batch", "8", "-o", "-").stdout
        self.assertEqual(printed, out.read_text())
        numbers = reports.run("report", "gpt2", "--batch", "8", "-o", out, "--json", "-").stdout
        self.assertEqual(json.loads(numbers), json.loads(Page(printed).script))

    def test_tells_how_it_was_made(self):
        out = self.folder / "r.html"
        form = "gpt:layers=2,hidden=64,heads=2,vocab=100"
        reports.run("report", form, "--machines", "wse2,h100", "--batch", "8", "-o", out)
        self.assertIn(f"wafer report {form} --machines wse2,h100 --batch 8</code>", out.read_text())

    def test_tells_each_price_once(self):
        out = self.folder / "r.html"
        reports.run("report", "gpt2", "--machines", "wse2,h100", "--batch", "8", "--price", "wse2=9", "--price",
                    "h100=3", "-o", out)
        self.assertIn("--batch 8 --price wse2=9 --price h100=3</code>", out.read_text())

    def test_refuses_what_it_cannot_do(self):
        self.refused(2, "gpt2", "--machines", "wse9", "-o", self.folder / "r.html", says=["wse9"])
        self.refused(2, "gpt9", "-o", self.folder / "r.html", says=["gpt9"])
        self.refused(3, "gpt3-175b", "--machine", "v100-32gb", "-o", self.folder / "r.html")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_refuses_where_it_cannot_write(self):
        self.refused(2, "gpt2", "-o", self.folder / "none" / "r.html", says=["cannot be written"])
        self.refused(2, "gpt2", "-o", self.folder, says=["cannot be written"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_tells_a_full_disk(self):
        self.refused(3, "gpt2", "--batch", "8", "-o", "/dev/full", says=["/dev/full", "No space"])

    def test_keeps_the_old_report_where_the_new_has_no_room(self):
        out = self.folder / "r.html"
        out.write_text("old")
        few = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.refused(3, "gpt2", "--batch", "8", "-o", out, says=["cannot be written"], preexec_fn=few)
        self.assertEqual(out.read_text(), "old")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["r.html"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
