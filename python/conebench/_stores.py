"""Stored results as pandas frames: the tables of `conebench report --format csv`, made by the same code."""

import io
from os import PathLike, fspath
from typing import Any, Sequence, Union

from . import _core

Stores = Union[str, "PathLike[str]", Sequence[Union[str, "PathLike[str]"]]]


def _frame(stores: Stores, table: str, all_cells: bool, force_time_profiles: bool, filter: str, by: str) -> Any:
    import pandas

    files = [stores] if isinstance(stores, (str, PathLike)) else list(stores)
    text, kinds = _core.report_table([fspath(file) for file in files], table, all_cells, force_time_profiles, filter,
                                     by)
    frame = pandas.read_csv(io.BytesIO(text), float_precision="round_trip", keep_default_na=False, na_values=[""],
                            dtype={name: str for name, kind in kinds.items() if kind == "text"})
    for name, kind in kinds.items():
        if kind == "text":
            frame[name] = frame[name].fillna("")
        elif kind == "flag":
            frame[name] = frame[name].astype(bool)
        elif kind == "number":
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
