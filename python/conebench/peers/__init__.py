"""Other projects' solvers, for sweeps and for conebench.solve (docs/peers.md): ids, modules and what they need."""

import importlib
import importlib.metadata
import importlib.util
import json
import pathlib
from typing import Any, Dict, List, Optional

from .. import _core

PEERS: Dict[str, Dict[str, Any]] = json.loads(pathlib.Path(__file__).with_name("peers.json").read_text("utf-8"))
"""By id: `module` of this package, `extra` of pip install 'conebench[EXTRA]', and its `packages`: what each, by its name
on PyPI, is imported as."""


def installed(id: str) -> Dict[str, Optional[str]]:
    """The versions of its packages; None where one is not installed, "" where its version is not known. Imports none."""
    versions: Dict[str, Optional[str]] = {}
    for package, module in PEERS[id]["packages"].items():
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "" if importlib.util.find_spec(module) else None
    return versions


def missing(id: str) -> List[str]:
    """Its packages that are not installed."""
    return [package for package, version in installed(id).items() if version is None]


def load(id: str) -> Any:
    """Its class, which @conebench.solver marks. Error: a package is missing, or is not of a version that it takes."""
    if missing(id):
        raise _core.Error(f"{id}: needs {', '.join(missing(id))}: pip install 'conebench[{PEERS[id]['extra']}]'")
    module = importlib.import_module(f"{__name__}.{PEERS[id]['module']}")
    for marked in vars(module).values():
        if getattr(marked, "conebench", {}).get("id") == id:
            return marked
    raise _core.Error(f"{id}: {module.__name__} has no such solver")
