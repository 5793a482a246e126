#!/usr/bin/env python3
"""Reports as headless Chromium shows them: charts with content, words that are not cut off, no console
message, no request beyond the file. Skipped where Chromium is not installed (scripts/setup screenshot).

usage: browser_test.py WAFER
"""
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
<pre id="seen"></pre>
<script>
const seen = {charts: [], outside: [], overlap: [], wide: document.documentElement.scrollWidth};
for (const svg of document.querySelectorAll('svg.chart')) {
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
document.getElementById('seen').textContent = JSON.stringify(seen);
</script></body>
"""


def browse(*args, width=1100):
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--window-size={width},3000", *args], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done


def look(path, width):
    """What LOOK sees of a report at a width."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text())
    copy = path.with_suffix(".look.html")
    copy.write_text(page.replace("</body>", LOOK))
    seen = re.search(r'<pre id="seen">(.*?)</pre>', browse("--dump-dom", f"file://{copy}", width=width).stdout)
    text = seen.group(1)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, char)
    return json.loads(text)


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = {n: reports.make(cls.folder.name, n) for n in ("compared", "serving")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_charts_have_content_and_whole_words_on_wide_and_narrow_screens(self):
        for name, path in self.paths.items():
            for width in (1100, 500):
                with self.subTest(name, width=width):
                    seen = look(path, width)
                    self.assertGreaterEqual(len(seen["charts"]), 3)
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
