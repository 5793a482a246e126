"""Parts of Markdown documents that scripts write: <!-- NAME --> to <!-- /NAME -->, a line each."""
import pathlib
import sys


def write_section(path: pathlib.Path, name: str, text: str) -> None:
    """Replaces what stands between the two lines of a section; all else is kept."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    document = path.read_text()
    if document.count(start) != 1 or document.count(end) != 1:
        sys.exit(f"{path} needs the lines {start.strip()} and {end.strip()}, once each")
    before, rest = document.split(start)
    path.write_text(before + start + text + end + rest.split(end)[1])
