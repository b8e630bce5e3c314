"""What the tests of written reports share."""

import base64
import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def write_report(what, folder):
    """A report of the synthetic store `what` ("small", or a number of problems), by the program that argv names."""
    subprocess.run([sys.argv[1], str(what), str(folder)], check=True, stdout=subprocess.DEVNULL)
    return Path(folder)


def page_data(folder):
    """The data that the page carries."""
    page = (Path(folder) / "index.html").read_text(encoding="utf-8")
    begin = page.index('id="data">') + len('id="data">')
    text = page[begin:page.index("</script>", begin)]
    return json.loads(unpacked(text) if 'data-packed id="data"' in page else text)


def unpacked(text):
    """The text of an element that page.html unpacks."""
    return zlib.decompress(base64.b64decode(text)).decode()


def packed(text):
    return base64.b64encode(zlib.compress(text.encode())).decode()


def without_library(page):
    """The page of a build that lacks the charting library."""
    begin = page.index('id="plotly">') + len('id="plotly">')
    return page[:begin] + page[page.index("</script>", begin):]


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="conebench-report-")
