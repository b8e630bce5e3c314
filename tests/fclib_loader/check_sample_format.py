#!/usr/bin/python3
"""Reads samples by docs/sample_format.md alone and checks that their two descriptions of the problem agree.

Usage: check_sample_format.py FILE... Prints the first fault and exits with 1; exits with 77 without h5py.
"""
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "sample_format.md"


def check(condition, message):
    if not condition:
        sys.exit(message)


def matrix(group):
    m, n, nz = (int(group[name][0]) for name in ("m", "n", "nz"))
    check(nz == -1, "not compressed columns")
    dense = np.zeros((m, n))
    columns = np.repeat(np.arange(n), np.diff(group["p"][()]))
    np.add.at(dense, (group["i"][()], columns), group["x"][()])
    return dense


def documented():
    """Type and shape of each dataset beside an FCLIB part, as the document's table has them."""
    table = {}
    for line in DOCUMENT.read_text(encoding="utf-8").partition("## Version 4")[0].splitlines():
        row = re.match(r"\| `([^`]+)` \| (\w+) \| ([^|]+) \|", line)
        if row:
            table[row[1]] = (row[2], row[3].strip())
    return table


def check_types(extension, sizes):
    table = documented()
    found = []
    extension.visititems(lambda name, item: found.append((name, item)) if isinstance(item, h5py.Dataset) else None)
    for name, dataset in found:
        key = name if name in table else re.sub(r"/[^/]+$", "/*", name)
        check(key in table, f"{name} is not in the document")
        kind, shape = table[key]
        if kind == "text":
            string = h5py.check_string_dtype(dataset.dtype)
            check(string is not None and dataset.shape == (), f"{name} is no text")
            check(string.encoding == "utf-8" and string.length is not None, f"{name} is not UTF-8 of a fixed length")
            continue
        check(dataset.dtype == np.dtype(kind), f"{name} is {dataset.dtype}, the document says {kind}")
        if shape in sizes:
            check(dataset.shape == (sizes[shape],), f"{name} has shape {dataset.shape}, the document says {shape}")


def check_file(path):
    with h5py.File(path, "r") as file:
        extension = file["conebench"]
        check(extension["version"][0] == 3, "version")
        part = file["fclib_global"] if "fclib_global" in file else file["fclib_local"]
        vectors = part["vectors"]
        d = int(part["spacedim"][0])
        limits = int(extension["limits"][0]) if "limits" in extension else 0
        mu = vectors["mu"][()]
        contacts = len(mu) - limits
        joint_vector = vectors.get("b", vectors.get("s"))
        joints = 0 if joint_vector is None else len(joint_vector)
        rows = joints + d * contacts + limits
        compliance = extension["compliance"][()] if "compliance" in extension else np.zeros(rows)

        # The rows of the group among l and r of FCLIB's part.
        limit_rows = joints + d * (contacts + np.arange(limits))
        index = np.concatenate([np.arange(joints + d * contacts), limit_rows]).astype(int)
        tangents = np.setdiff1d(np.arange(joints + d * len(mu)), index)
        check(np.all(mu[contacts:] == 0.0), "a limit with friction")

        if "M" in part:
            jacobian = np.hstack([matrix(part["G"]), matrix(part["H"])]) if joints else matrix(part["H"])
            mass = matrix(part["M"])
            whole = jacobian.T @ np.linalg.solve(mass, jacobian)
            free = np.concatenate([joint_vector[()] if joints else np.zeros(0), vectors["w"][()]])
            free += jacobian.T @ np.linalg.solve(mass, vectors["f"][()])
            velocities = len(extension["v_free"])
            added = np.count_nonzero(compliance) + (d - 1) * limits
            check(mass.shape[0] == velocities + added, "velocities that were added")
            rigid = mass[:velocities, :velocities]
            delassus = (jacobian[:velocities].T @ np.linalg.solve(rigid, jacobian[:velocities]))[np.ix_(index, index)]
            check(np.allclose(rigid @ extension["v_free"][()], vectors["f"][:velocities], rtol=0, atol=1e-13), "v_free")
        else:
            whole = matrix(part["W"])
            if joints:
                coupling = matrix(part["V"])
                whole = np.block([[matrix(part["R"]), coupling.T], [coupling, whole]])
            free = np.concatenate([joint_vector[()] if joints else np.zeros(0), vectors["q"][()]])
            velocities = 0
            delassus = whole[np.ix_(index, index)] - np.diag(compliance)
        if "delassus" in extension:
            kept = matrix(extension["delassus"])
            check(np.allclose(kept, delassus, rtol=0, atol=1e-12 * np.abs(kept).max(initial=0)), "delassus")
            delassus = kept
        scale = np.abs(delassus).max(initial=0)
        together = delassus + np.diag(compliance)
        check(np.allclose(whole[np.ix_(index, index)], together, rtol=0, atol=1e-11 * scale), "FCLIB's part is not G + R")
        apart = whole - np.diag(np.diag(whole))
        check(not apart[tangents].any() and not apart[:, tangents].any() and not free[tangents].any(), "tangents")
        own = np.repeat(np.diag(whole)[limit_rows], d - 1)
        check(np.allclose(np.diag(whole)[tangents], own, rtol=1e-11), "a tangent's diagonal is not the limit's")
        if "g" in extension:
            check(np.allclose(extension["g"][()], free[index], rtol=0, atol=1e-12), "g")

        # The stored reference satisfies FCLIB's own equations.
        solution = file["solution"]
        reaction = np.concatenate([solution["l"][()] if joints else np.zeros(0), solution["r"][()]])
        check(not reaction[tangents].any(), "a limit's tangential reaction")
        velocity = whole @ reaction + free
        check(np.allclose(velocity[joints:], solution["u"][()], rtol=0, atol=1e-9 * np.abs(velocity).max(initial=1)), "u")
        if "M" in part:
            momentum = jacobian @ reaction + vectors["f"][()] - mass @ solution["v"][()]
            check(np.abs(momentum).max() <= 1e-9 * np.abs(mass).max(), "M v is not H r + G l + f")

        bodies = int(extension["bodies"][0])
        check_types(extension, {"1": 1, "rows": rows, "n_v": velocities, "n_c": contacts, "n_l": limits, "n_b": bodies,
                                "rows + 1": rows + 1, "d² n_c": d * d * contacts})
        check(extension["category"][()].decode() == "dense constraints", "category")
        check(len(set(extension["contact_identities"][()])) == contacts, "identities")
        check(extension["scene"][()].decode() == "nunchuk links=2 größe=1" and extension["step"][0] == 17, "scene and step")
        check(int(extension["seed"][0]) == 0xFEDCBA9876543210, "seed")
    h5dump = shutil.which("h5dump")
    if h5dump:
        dumped = subprocess.run([h5dump, path], stdout=subprocess.PIPE, check=False, text=True)
        check(dumped.returncode == 0, "h5dump can't read it")
        check("H5T_CSET_UTF8" in dumped.stdout, "h5dump shows no UTF-8")
        check("contact_identities" in dumped.stdout and "H5T_STD_U64LE" in dumped.stdout, "h5dump shows less")


def main():
    for path in sys.argv[1:]:
        try:
            check_file(path)
        except SystemExit as fault:
            sys.exit(f"{path}: {fault}")


main()
