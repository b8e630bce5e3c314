#!/usr/bin/python3
"""Paper 001's Table I from a store of the suite `lemke`: how each variant ends, for all LCPs and for parts of them.

An LCP is a problem of the store that is loaded, no copy of another, not answered by zero impulse, and within max_rows.
It is redundant where G's rank is below its rows. Success: the variant ends with an answer whose residual
max |min(z, M z + q)|, of the LCP as assembled, is at most e_max.
"""

import argparse
import json
import sqlite3
import statistics

E_MAX = 1e-3
ROWS = ["LCPs", "success", "failure", "no solution", "cycle", "error", "queue", "time, pivots", "facet verdict",
        "NCP verdict", "NCP median", "pivots", "ms, median", "s, all"]


def variant(solver, options):
    name = solver
    if solver == "LEMKE-LEX":
        name += f" {options['threshold']:g}"
    if options.get("smallest_pivot", 0) > 0:
        name += f", pivots > {options['smallest_pivot']:g}"
    if solver == "LEMKE-ROBUST" and not options["frictionless_first"]:
        name += ", from 0"
    return name


def ending(status, reason):
    if status in ("time_limit", "timeout", "max_iterations", "out_of_memory"):
        return "time, pivots"
    if status == "breakdown":
        return reason.split(":")[0].split(",")[0].strip().replace("_", " ").replace("queue exhausted", "queue")
    return "error"  # an answer above e_max, or none


def read(path):
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    residual = {}
    for cell, value in store.execute("SELECT cell, value FROM residuals WHERE name = 'natural_map_scaled'"):
        residual[cell] = value
    lcps = {}
    cells = []
    for row in store.execute(
            "SELECT p.hash, p.name, p.contacts, p.rows, p.rank, p.zero_impulse, s.solver, s.options, c.status, c.reason,"
            " c.own_residual, c.verdict_value, c.iterations, c.total_median_s, c.id FROM cells c"
            " JOIN problems p ON p.hash = c.problem JOIN settings s ON s.hash = c.setting"
            " WHERE p.duplicate_of = '' AND p.error = '' AND p.rows > 0 AND c.status != 'unsupported'"
            " AND s.solver LIKE 'LEMKE%'"):
        (problem, name, contacts, rows, rank, zero, solver, options, status, reason, own, facets, pivots, seconds,
         cell) = row
        if json.loads(zero).get("natural_map_facets_scaled", 1.0) <= E_MAX:
            continue
        lcps[problem] = {"contacts": contacts, "redundant": rank is not None and rank < rows}
        options = json.loads(options)
        success = status in ("converged", "stalled") and own is not None and own <= E_MAX
        cells.append({"problem": problem, "name": name, "variant": variant(solver, options),
                      "scaled": options["scaled"], "success": success, "facets": facets, "ncp": residual.get(cell),
                      "ending": "success" if success else ending(status, reason), "own": own, "pivots": pivots,
                      "seconds": seconds, "status": status, "reason": reason})
    return lcps, cells


def column(cells):
    solved = [c for c in cells if c["success"]]
    out = {"LCPs": len(cells), "success": len(solved), "failure": len(cells) - len(solved)}
    for key in ("no solution", "cycle", "error", "queue", "time, pivots"):
        out[key] = sum(c["ending"] == key for c in cells)
    out["facet verdict"] = sum(c["facets"] is not None and c["facets"] <= E_MAX for c in cells)
    out["NCP verdict"] = sum(c["ncp"] is not None and c["ncp"] <= E_MAX for c in cells)
    if solved:
        out["NCP median"] = f"{statistics.median(c['ncp'] for c in solved):.1e}"
        out["pivots"] = f"{statistics.median(c['pivots'] for c in solved):.0f}"
        out["ms, median"] = f"{1e3 * statistics.median(c['seconds'] for c in solved):.2g}"
    out["s, all"] = f"{sum(c['seconds'] or 0.0 for c in cells):.0f}"
    return out


def table(cells, title):
    variants = sorted({c["variant"] for c in cells})
    columns = {v: column([c for c in cells if c["variant"] == v]) for v in variants}
    print(f"\n{title}\n\n| | " + " | ".join(variants) + " |\n| --- |" + " --- |" * len(variants))
    for row in ROWS:
        print(f"| {row} | " + " | ".join(str(columns[v].get(row, "–")) for v in variants) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE.sqlite", help="of `conebench run lemke`")
    lcps, cells = read(parser.parse_args().store)
    if not lcps:
        parser.error("no LCP that a LEMKE… has tried is in this store")
    redundant = {p for p, lcp in lcps.items() if lcp["redundant"]}
    small = {p for p, lcp in lcps.items() if lcp["contacts"] <= 16}
    print(f"{len(lcps)} LCPs, {len(redundant)} with redundant contacts, {len(small)} with at most 16 contacts")
    for scaled in (True, False):
        part = [c for c in cells if c["scaled"] == scaled]
        how = "scaled" if scaled else "unscaled"
        table(part, f"All, {how}")
        table([c for c in part if c["problem"] in redundant], f"Redundant, {how}")
        table([c for c in part if c["problem"] in small], f"At most 16 contacts, {how}")


if __name__ == "__main__":
    main()
