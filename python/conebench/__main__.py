"""python3 -m conebench COMMAND …: the command line of this package.
python3 -m conebench FILE.py [ID] REQUEST.json|-: a solver of FILE.py, as `--program "python3 -m conebench FILE.py"` starts
it, once for each worker of a sweep."""

import os
import pathlib
import shutil
import sys
from typing import Optional

from . import _core
from ._solver import answer_or_exit, class_of_file


def executable() -> Optional[str]:
    """That of a wheel, of a build folder or of a prefix, whichever the package lies in; else of PATH."""
    core = pathlib.Path(_core.__file__).resolve().parent
    above = [core, pathlib.Path(__file__).resolve().parent, core.parent.parent, *core.parents[3:4]]
    for file in [*(str(folder / "bin/conebench") for folder in above), shutil.which("conebench")]:
        # Scripts of that name start this module.
        if file and os.access(file, os.X_OK) and os.path.isfile(file) and not _is_script(file):
            return file
    return None


def _is_script(file: str) -> bool:
    with open(file, "rb") as opened:
        return opened.read(2) == b"#!"


def main() -> None:
    """Becomes the executable; peers that it starts are those of this Python."""
    words = sys.argv[1:]
    if 2 <= len(words) <= 3 and words[0].endswith(".py"):
        file, id = words[0], words[1] if len(words) == 3 else None
        return answer_or_exit(lambda: class_of_file(file, id), words[-1], file)
    found = executable()
    if found is None:
        sys.exit("conebench: no executable beside the package, and none in PATH; build it, or install the wheel")
    os.environ.setdefault("CONEBENCH_PYTHON", sys.executable)
    os.execv(found, ["conebench", *words])


if __name__ == "__main__":
    main()
