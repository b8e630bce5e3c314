#!/usr/bin/python3
"""The smallest problem that each solver misses, by contacts, from stores of sweeps.

Missed: neither the sweep's verdict nor the residual of the solver's own model is within the tolerance at the end, whatever
the solver claims. Problems that it does not support are no failures; one that several stores have counts once.
"""

import argparse
import sqlite3

MODELS = {"CCP": "natural_map_ccp_scaled", "LCP": "natural_map_box_scaled", "NCP": "natural_map_scaled",
          "model": "natural_map_raisim_scaled"}


def residual_of(solver, formulation):
    return "natural_map_facets_scaled" if solver.startswith("LEMKE") else MODELS[
        {"ccp": "CCP", "lcp": "LCP", "ncp": "NCP"}.get(formulation.lower(), "model")]


def read(path, tolerance, misses, tried):
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    values = {}
    for cell, name, value in store.execute("SELECT cell, name, value FROM residuals"):
        values[cell, name] = value
    for cell, key, problem, contacts, solver, formulation, label, status, iterations, solved, compliant in store.execute(
            "SELECT c.id, p.hash, p.name, p.contacts, s.solver, s.formulation, s.label, c.status, c.iterations, c.solved,"
            " c.ccp_compliant"
            " FROM cells c JOIN problems p ON p.hash = c.problem JOIN settings s ON s.hash = c.setting"
            " WHERE c.tolerance = ? AND c.status NOT IN ('unsupported', 'skipped') AND p.error = '' AND p.contacts > 0",
            (tolerance,)):
        name = residual_of(solver, formulation)
        if (cell, "natural_map_scaled") in values and (cell, name) not in values:
            continue  # a store from before that residual
        tried.setdefault(label, set()).add(key)
        value = compliant if compliant is not None else values.get((cell, name))
        if not solved and (value is None or value > tolerance):
            misses.setdefault(label, {})[key] = (contacts, problem, status, iterations, value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", type=float, default=1e-8, help="of the cells looked at (%(default)g)")
    parser.add_argument("stores", nargs="+", metavar="STORE.sqlite", help="of `conebench run`")
    arguments = parser.parse_args()
    misses, tried = {}, {}
    for path in arguments.stores:
        read(path, arguments.tolerance, misses, tried)
    print("| solver | missed | smallest, contacts | how | own model's residual |\n| --- | --- | --- | --- | --- |")
    for label in sorted(tried):
        missed = list(misses.get(label, {}).values())
        line = "none | | |"
        if missed:
            contacts, problem, status, iterations, value = min(missed)
            error = "–" if value is None else f"{value:.1e}"
            line = f"{problem}, {contacts} | {status}, {iterations} iterations | {error} |"
        print(f"| {label} | {len(missed)} of {len(tried[label])} | {line}")


if __name__ == "__main__":
    main()
