"""What is known of a problem beside its rows: the step, names and places of its blocks, an engine's own answers."""

import math
import operator
from dataclasses import dataclass, fields, replace
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import Array, Integers, array_of, bad_input, vector_of
from ._blocks import Blocks

unknown_identity = -2**63
_laws = ("ncp", "ccp")
_metrics = ("mass", "effective")


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine, or any solver, answered when the problem was captured; None: not known. NaN in r: it diverged."""

    r: Array  # impulses in the rows of the problem [N s]
    iterations: Optional[int] = None  # as it counts them
    seconds: Optional[float] = None  # that it took
    tolerance: Optional[float] = None  # of its own test
    status: Optional[str] = None  # in its words, or those of docs/program_protocol.md
    law: Optional[str] = None  # that it solved, "ncp" or "ccp"; None: the problem's


def one_of(name: str, value: Any, known: Tuple[str, ...]) -> Optional[str]:
    if value is None:
        return None
    if value not in known:
        raise _core.Error(f"{name}: is {value!r}, expected {' or '.join(map(repr, known))}")
    return str(value)


def number(name: str, value: Any, least: float = -math.inf, above: bool = False) -> Optional[float]:
    """Finite, and not below (or only above) `least`."""
    if value is None:
        return None
    try:
        given = float(value)
    except (TypeError, ValueError):
        raise _core.Error(f"{name}: is {value!r}, expected a number") from None
    if not math.isfinite(given) or given < least or (above and given == least):
        bound = "" if least == -math.inf else f" and {'above' if above else 'at least'} {least:g}"
        raise bad_input(f"{name}: is {given:g}, which must be finite{bound}")
    return given


def count(name: str, value: Any, least: int) -> Optional[int]:
    if value is None:
        return None
    try:
        given = operator.index(value)
    except TypeError:
        raise _core.Error(f"{name}: is {value!r}, expected an integer") from None
    if not least <= given < 2**63:
        raise bad_input(f"{name}: is {given}, which must be at least {least}")
    return given


def texts(name: str, given: Any, size: Optional[int] = None) -> List[str]:
    """Of one line each; None is the empty one."""
    listed = [given] if isinstance(given, str) else list(given)
    if isinstance(given, str) or (size is not None and len(listed) != size):
        raise _core.Error(f"{name}: has {len(listed)} texts, expected a list of {'them' if size is None else size}")
    for k, text in enumerate(listed):
        if text is not None and not (isinstance(text, str) and text.isprintable()):
            raise _core.Error(f"{name}: entry {k} is {text!r}, expected a text of one line")
    return ["" if text is None else str(text) for text in listed]


def identities(given: Any, table: Blocks) -> Integers:
    listed = given if isinstance(given, np.ndarray) else [unknown_identity if one is None else one for one in given]
    values = np.asarray(listed).ravel()
    if values.size != len(table):
        raise _core.Error(f"identity: has {values.size} entries, expected one for each of {len(table)} blocks")
    if values.size and (values.dtype.kind not in "iu" or values.max() >= 2**63):
        raise _core.Error("identity: must be integers of 64 bits; None where not known")
    values = values.astype(np.int64)
    sizes = np.diff(table.block_rows)
    for contact in (False, True):
        first: Dict[int, int] = {}
        for block in np.flatnonzero(((table.cone > 0) == contact) & (values != unknown_identity)):
            other = first.setdefault(int(values[block]), int(block))
            if other != block:
                raise bad_input(f"identity: blocks {other} and {block} have the same one, {values[block]}; give each "
                                "its own, or None")
            limit = not contact and (table.lower[table.block_rows[block]:table.block_rows[block + 1]] == 0).any()
            if limit and sizes[block] > 1:
                raise bad_input(f"identity: block {block} has {sizes[block]} rows that may be limits, which need a "
                                "number each; make each a block, or give it None")
    return values


def over_contacts(name: str, given: Any, table: Blocks, shape: Tuple[int, ...]) -> Array:
    values = array_of(name, given)
    contacts = int(np.sum(table.cone > 0))
    if values.shape not in ((contacts, *shape), (contacts, math.prod(shape))) and (values.size or contacts):
        raise _core.Error(f"{name}: has the shape {values.shape}, expected {(contacts, *shape)}, one a contact")
    values = np.array(values).reshape(contacts, *shape)
    for place in np.argwhere(np.isinf(values)):
        raise bad_input(f"{name}: contact {place[0]} has {values[tuple(place)]:g}, which must be finite or NaN")
    return values


def frames(given: Any, table: Blocks) -> Array:
    axes = over_contacts("frame", given, table, (3, 3))
    apart = np.abs(np.einsum("cik,cjk->cij", axes, axes) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    for k in np.flatnonzero(apart > 1e-6):
        raise bad_input(f"frame: that of contact {k} is not orthonormal, by {apart[k]:.2g}; "
                        "its rows are the axes n, t1, t2")
    return axes


def pairs_of_bodies(given: Any, names: Any, blocks: int) -> Tuple[Integers, List[str]]:
    """Indices, -1 for the world, and what they count."""
    known = None if names is None else texts("body_names", names)
    place: Dict[str, int] = {}
    for k, name in enumerate(known or ()):
        place.setdefault(name, k)
    pairs = list(given)
    if len(pairs) != blocks:
        raise _core.Error(f"bodies: has {len(pairs)} pairs, expected one for each of {blocks} blocks")
    made: List[int] = []
    for block, pair in enumerate(pairs):
        if isinstance(pair, str) or np.size(pair) != 2:
            raise _core.Error(f"bodies: block {block} has {pair!r}, expected two of them")
        for body in pair:
            if body is None or (isinstance(body, str) and body == ""):
                made.append(-1)
            elif isinstance(body, str):
                if known is None:
                    place.setdefault(texts("bodies", [body])[0], len(place))
                elif body not in place:
                    raise _core.Error(f"bodies: block {block} has {body!r}, which body_names lacks")
                elif known.count(body) > 1:
                    raise _core.Error(f"bodies: block {block} has {body!r}, which body_names has twice; give indices")
                made.append(place[body])
            else:
                made.append(_index(block, body, known))
    return np.array(made, dtype=np.int64), list(place) if known is None else known


def _index(block: int, body: Any, names: Optional[List[str]]) -> int:
    try:
        index = operator.index(body)
    except TypeError:
        raise _core.Error(f"bodies: block {block} has {body!r}, expected an index, a name or None") from None
    if index >= 0 and names is None:
        raise _core.Error(f"bodies: block {block} has the index {index}; give body_names, which it counts")
    if index < -1 or index >= len(names or ()):
        raise bad_input(f"bodies: block {block} has the index {index}, expected -1 (the world) to "
                        f"{len(names or ()) - 1}")
    return index


def answers_of(given: Any, rows: int) -> Dict[str, EngineAnswer]:
    if not isinstance(given, Mapping):
        raise _core.Error("answers: must be a dictionary of impulses by the engine's name")
    return {name: _answer_of(name, answer, rows) for name, answer in given.items()}


def _answer_of(name: Any, given: Any, rows: int) -> EngineAnswer:
    if not isinstance(name, str) or not name.isprintable() or "/" in name or name in ("", "."):
        raise _core.Error(f"answers: {name!r} must be a text of one line without '/'")
    known = [field.name for field in fields(EngineAnswer)]
    said = f"answers: {name!r}"
    parts = vars(given) if isinstance(given, EngineAnswer) else given if isinstance(given, Mapping) else {"r": given}
    for key in parts:
        if key not in known:
            raise _core.Error(f"{said}: {key!r} is not one of {', '.join(known)}")
    if parts.get("r") is None:
        raise _core.Error(f"{said}: has no r")
    r = np.array(array_of(f"{said}: r", parts["r"])).ravel()
    if r.size != rows:
        raise _core.Error(f"{said}: r has {r.size} entries, the problem {rows} rows")
    status = parts.get("status")
    return EngineAnswer(r, count(f"{said}: iterations", parts.get("iterations"), 0),
                        number(f"{said}: seconds", parts.get("seconds"), 0.0),
                        number(f"{said}: tolerance", parts.get("tolerance"), 0.0),
                        None if status is None else texts(f"{said}: status", [status])[0] or None,
                        one_of(f"{said}: law", parts.get("law"), _laws))


def known_of(table: Blocks, velocities: Optional[int], given: Mapping[str, Any]) -> Dict[str, Any]:
    """Checked, by the names of problem(); absent: not known. Answers have the rows of the table."""
    value = given.get
    result: Dict[str, Any] = {
        "metric": one_of("metric", value("metric"), _metrics), "law": one_of("law", value("law"), _laws),
        "time_step": number("time_step", value("time_step"), 0.0, above=True), "time": number("time", value("time")),
        "step": count("step", value("step"), 1)}
    if value("metric") is not None and velocities is None:
        raise _core.Error("metric: says what M is, and there is none")
    if value("velocity") is not None:
        result["velocity"] = vector_of("velocity", given["velocity"], velocities, "v_free {}")
    each = "expected one for each of {} blocks"
    if value("gap") is not None:
        result["gap"] = vector_of("gap", given["gap"], len(table), each, unknown=True)
    if value("point") is not None:
        result["point"] = over_contacts("point", given["point"], table, (3,))
    if value("frame") is not None:
        result["frame"] = frames(given["frame"], table)
    if value("identity") is not None:
        result["identity"] = identities(given["identity"], table)
    if value("names") is not None:
        result["names"] = texts("names", given["names"], len(table))
    if value("bodies") is not None:
        result["bodies"], result["body_names"] = pairs_of_bodies(given["bodies"], value("body_names"), len(table))
    elif value("body_names") is not None:
        result["body_names"] = texts("body_names", given["body_names"])
    result["answers"] = answers_of(given["answers"], table.rows) if value("answers") is not None else {}
    return {name: one for name, one in result.items() if one is not None and np.size(one)}


def in_rows(answers: Mapping[str, EngineAnswer], order: Integers) -> Dict[str, EngineAnswer]:
    """With r in another order of rows."""
    return {name: replace(answer, r=answer.r[order]) for name, answer in answers.items()}


def in_order(known: Mapping[str, Any], joints: int, blocks: int, contacts: int) -> Dict[str, Any]:
    """What the core knows of rows in Conebench's order, by blocks."""
    result = {name: value for name, value in known.items() if name not in (
        "gaps", "contact_identities", "limit_identities", "contact_frames")}
    if "gaps" in known:
        result["gap"] = np.concatenate([np.full(blocks - contacts, np.nan), known["gaps"]])
    if "contact_identities" in known or "limit_identities" in known:
        identity = np.full(blocks, unknown_identity, dtype=np.int64)
        limits = known.get("limit_identities", ())
        identity[joints:joints + len(limits)] = limits
        if "contact_identities" in known:
            identity[blocks - contacts:] = known["contact_identities"]
        result["identity"] = identity
    if "contact_frames" in known:
        axes = np.asarray(known["contact_frames"])
        frame = np.zeros((contacts, 3, 3))
        if axes.size == 9 * contacts:
            frame[:] = axes.reshape(contacts, 3, 3)[:, [2, 0, 1]]
        else:  # in the plane, out of which t2 points
            frame[:, :2, :2], frame[:, 2, 2] = axes.reshape(contacts, 2, 2)[:, ::-1], 1.0
        result["frame"] = frame
    return result
