"""Stored results as pandas frames: the tables of `conebench report --format csv`, made by the same code."""

import io
from os import PathLike, fspath
from typing import Any, Sequence, Union

from . import _core

Stores = Union[str, "PathLike[str]", Sequence[Union[str, "PathLike[str]"]]]

_texts = ["criterion", "verdict", "start", "problem", "family", "solver", "label", "outcome", "status", "reason",
          "stage", "key", "command", "cost", "rho_cost", "origin", "peer_version", "peer_released", "peer_build", "looks",
          "doubts"]
_counts = ["contacts", "iterations", "factorizations", "operator_products", "repeats", "rounds", "peak_memory_kb", "open",
           "stick", "slip", "max_iterations", "limit_mb", "run", "rank", "problems", "false_claim", "failed",
           "unsupported", "not_run", "claimed_solved", "claimed_unsolved", "silent_solved", "silent_unsolved",
           "passes_relative_only", "with_compliance", "verdict_compliant_solved", "ccp_compliant_solved",
           "common_problems", "solved"]
_flags = ["headline", "claimed", "solved", "solved_symmetrised"]


def _frame(stores: Stores, table: str, all_cells: bool, force_time_profiles: bool, filter: str, by: str) -> Any:
    import pandas

    files = [stores] if isinstance(stores, (str, PathLike)) else list(stores)
    text = _core.report_table([fspath(file) for file in files], table, all_cells, force_time_profiles, filter, by)
    frame = pandas.read_csv(io.BytesIO(text), float_precision="round_trip", keep_default_na=False, na_values=[""],
                            dtype={name: str for name in _texts})
    for name in frame.columns:
        if name in _texts:
            frame[name] = frame[name].fillna("")
        elif name in _flags and table == "cells.csv":
            frame[name] = frame[name].astype(bool)
        elif name not in _counts:
            frame[name] = frame[name].astype(float)
    return frame


def read_store(stores: Stores, *, filter: str = "") -> Any:
    """One row a cell, those that suites no longer ask for included: cells.csv of a report."""
    return _frame(stores, "cells.csv", True, True, filter, "family")


def ranking(stores: Stores, *, filter: str = "", by: str = "family", force_time_profiles: bool = False) -> Any:
    """One row a tolerance, family ("(all)" first) and solver: ranking.csv of a report. `by`: family, category or
    conditioning."""
    return _frame(stores, "ranking.csv", False, force_time_profiles, filter, by)


def profile(stores: Stores, *, kind: str = "performance", filter: str = "", by: str = "family",
            force_time_profiles: bool = False) -> Any:
    """Corners of the curves, `rho` from `tau` on (kind "performance") or `share` from `budget` on ("data")."""
    if kind not in ("performance", "data"):
        raise _core.Error(f"kind: must be performance or data, not {kind}")
    return _frame(stores, f"{kind}_profiles.csv", False, force_time_profiles, filter, by)
