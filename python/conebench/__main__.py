"""python3 -m conebench FILE.py [ID] REQUEST.json|-: a solver of FILE.py, as `--program "python3 -m conebench FILE.py"`
starts it, once for each worker of a sweep."""

import sys
import traceback

from ._core import Error
from ._solver import answer_requests

if not 3 <= len(sys.argv) <= 4:
    sys.exit(__doc__)
try:
    answer_requests(sys.argv[1], sys.argv[2] if len(sys.argv) == 4 else None, sys.argv[-1])
except Error as error:
    sys.exit(f"conebench: {error}")
except SyntaxError as error:
    sys.exit(f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})")
except Exception as error:
    frames = traceback.extract_tb(error.__traceback__)
    location = ([one for one in frames if one.filename == sys.argv[1]] or frames)[-1]
    sys.exit(f"{type(error).__name__}: {error} ({location.filename}:{location.lineno})")
