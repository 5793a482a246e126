#!/usr/bin/env python3
"""Reports as headless Chromium shows them: charts with content, words that are not cut off, no console
message, no request beyond the file. Skipped where Chromium is not installed (scripts/setup screenshot).

usage: browser_test.py WAFER
"""
import functools
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reports

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-headless-shell")

# Run in a copy of the page: what each chart that is shown draws, and words that leave their chart.
LOOK = """
<script>
const seen = {charts: [], outside: [], overlap: [], wide: document.documentElement.scrollWidth, texts: []};
const page = getComputedStyle(document.body).backgroundColor;
for (const e of document.querySelectorAll('p, dt, dd, th, td, a, caption, figcaption, li, h1, h2, h3, code, summary'))
  seen.texts.push([e.tagName, getComputedStyle(e).color, page]);
for (const e of document.querySelectorAll('svg.chart text, svg.wafer-map > text'))
  seen.texts.push(['text', getComputedStyle(e).fill, page]);
for (const e of document.querySelectorAll('.kernel text'))
  seen.texts.push(['kernel', getComputedStyle(e).fill, getComputedStyle(e.parentNode.querySelector('rect')).fill]);
for (const e of document.querySelectorAll('text'))
  if (getComputedStyle(e).userSelect === 'none') seen.outside.push('not selectable: ' + e.textContent);
seen.texts = [...new Set(seen.texts.map(t => t.join('|')))].map(t => t.split('|'));
for (const svg of document.querySelectorAll('svg.chart, svg.wafer-map')) {
  const frame = svg.getBoundingClientRect();
  if (frame.width === 0) continue;
  const drawn = [...svg.querySelectorAll('path, rect, line')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width > 0.3 || box.height > 0.3;
  });
  seen.charts.push({title: svg.querySelector('title').textContent, width: frame.width,
                    height: frame.height, drawn: drawn.length});
  // The frame of a turned word is larger than the word.
  const level = e => !(e.getAttribute('transform') || '').includes('rotate');
  const words = [...svg.querySelectorAll('text')].filter(level).map(e => [e.textContent, e.getBoundingClientRect()]);
  for (const [text, box] of words) {
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
        box.bottom > frame.bottom + 1) seen.outside.push(text);
  }
  for (let i = 0; i < words.length; ++i) for (let k = i + 1; k < words.length; ++k) {
    const [a, b] = [words[i][1], words[k][1]];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 4) seen.overlap.push([words[i][0], words[k][0]]);
  }
}
parent.postMessage(JSON.stringify(seen), '*');
</script></body>
"""


# A page of its own width: a browser's window is never narrower than 500.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe id="page" style="border:0;width:%dpx;height:3000px"
srcdoc="%s"></iframe><pre id="seen"></pre>
<script>
addEventListener('message', e => { document.getElementById('seen').textContent = e.data; });
</script></body>"""


def browse(*args, width=1100):
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--window-size={width},3000", *args], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done


@functools.lru_cache
def look(path, width, dark=False):
    """What LOOK sees of a report at a width."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text())
    page = page.replace("</body>", LOOK)
    copy = path.with_suffix(".look.html")
    copy.write_text(FRAME % (width, html.escape(page)))
    dom = browse("--dump-dom", "--virtual-time-budget=5000", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                 f"file://{copy}", width=max(width, 500)).stdout
    return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', dom[dom.rindex("</iframe>"):]).group(1)))


def luminance(colour):
    """WCAG 2.2, relative luminance of "rgb(r, g, b)"."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = {n: reports.make(cls.folder.name, n) for n in ("compared", "serving", "streamed", "pipelined", "resident", "cluster")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_charts_have_content_and_whole_words_on_wide_and_narrow_screens(self):
        for name, path in self.paths.items():
            for width in (1100, 400):
                with self.subTest(name, width=width):
                    seen = look(path, width)
                    self.assertGreaterEqual(len(seen["charts"]), 3)
                    self.assertEqual([c["title"] for c in seen["charts"] if "all layers at once" in c["title"]] != [],
                                     name == "pipelined")
                    for chart in seen["charts"]:
                        self.assertGreaterEqual(chart["drawn"], 3, chart)
                        self.assertGreater(chart["height"], 50, chart)
                    self.assertEqual(seen["outside"], [])
                    self.assertEqual(seen["overlap"], [])
                    self.assertLessEqual(seen["wide"], width)

    def test_asks_for_nothing_and_has_no_message_on_the_console(self):
        path = self.paths["compared"]
        log = path.with_suffix(".net.json")
        done = browse("--enable-logging=stderr", f"--log-net-log={log}", "--disable-background-networking",
                      "--dump-dom", f"file://{path}")
        self.assertNotIn("CONSOLE", done.stderr)
        urls = set(re.findall(r'"url":"([^"]+)"', log.read_text()))
        # What the browser itself asks for has nothing to do with the page, which may ask for nothing.
        initiated = set(re.findall(r'"initiator":"file[^"]*"', log.read_text()))
        self.assertEqual(initiated, set())
        self.assertFalse([u for u in urls if u.startswith("file:") and not u.endswith(path.name)])

    def test_words_have_a_contrast_of_4_5_in_light_and_dark(self):
        for name, path in self.paths.items():
            pages = set()
            for dark in (False, True):
                with self.subTest(name, dark=dark):
                    texts = look(path, 1100, dark)["texts"]
                    self.assertGreater(len(texts), 5)
                    for what, ink, ground in texts:
                        self.assertGreaterEqual(contrast(ink, ground), 4.5, (what, ink, ground))
                    pages.add(texts[0][2])
            self.assertEqual(len(pages), 2)

    def test_prints_each_page_whole(self):
        for name, path in self.paths.items():
            with self.subTest(name):
                out = path.with_suffix(".pdf")
                browse("--no-pdf-header-footer", f"--print-to-pdf={out}", f"file://{path}")
                self.assertEqual(out.read_bytes()[:5], b"%PDF-")
                if shutil.which("pdftotext") is None:
                    continue
                text = subprocess.run(["pdftotext", "-layout", out, "-"], capture_output=True, text=True).stdout
                for words in ("Summary", "Memory", "Made by", "nothing here was measured"):
                    self.assertIn(words, text)
                # The last column of the widest table is there.
                self.assertEqual("[1]" in text, "[1]" in path.read_text())

    def test_takes_a_screenshot(self):
        shot = pathlib.Path(self.folder.name) / "shot.png"
        script = pathlib.Path(__file__).resolve().parents[2] / "scripts/screenshot-report"
        done = subprocess.run([script, self.paths["serving"], shot, "--dark", "--width", "400"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(shot.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: no chromium here; scripts/setup screenshot installs it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
