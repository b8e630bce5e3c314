"""What the tests of written reports share."""

import json
import subprocess
import sys
import tempfile
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
    return json.loads(page[begin:page.index("</script>", begin)])


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="conebench-report-")
