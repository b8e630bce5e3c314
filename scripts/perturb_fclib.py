#!/usr/bin/python3
"""Writes perturbed copies of FCLIB problems, for a set that no solver has been tuned on.

In each copy every component of the free term (q of a local problem; f and w of a global one) is multiplied by
1 + 0.1 N(0, 1) and every coefficient of friction by a number from [0.7, 1.3]. Guesses and solutions are left out: they
belong to the problem before. A copy goes to OUT/<family>/<name>-copy<k>.hdf5, family being the file's folder. Needs
h5py and numpy (Debian: python3-h5py).
"""
import argparse
import pathlib
import shutil
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="folder of the copies")
parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.hdf5")
parser.add_argument("--copies", type=int, default=4, help="of each file (%(default)s)")
parser.add_argument("--seed", type=int, default=1, help="of the random numbers (%(default)s)")
parser.add_argument("--free-term", type=float, default=0.1, help="relative standard deviation of g (%(default)s)")
parser.add_argument("--friction", type=float, default=0.3, help="largest relative change of mu (%(default)s)")
arguments = parser.parse_args()  # before the imports, so that --help needs none of them

import h5py
import numpy as np


def perturb(source, target, random, free_term, friction):
    shutil.copyfile(source, target)
    with h5py.File(target, "r+") as file:
        groups = [name for name in ("fclib_local", "fclib_global") if name in file]
        if not groups:
            raise ValueError("no local or global problem in it")
        for name in ("guesses", "solution"):
            if name in file:
                del file[name]
        for group in groups:
            vectors = file[group]["vectors"]
            for name in {"fclib_local": ("q",), "fclib_global": ("f", "w")}[group]:
                values = vectors[name][...]
                vectors[name][...] = values * (1.0 + free_term * random.standard_normal(values.shape))
            mu = vectors["mu"][...]
            vectors["mu"][...] = mu * random.uniform(1.0 - friction, 1.0 + friction, mu.shape)


def main():
    random = np.random.default_rng(arguments.seed)
    failed = 0
    for source in sorted(arguments.files):
        folder = arguments.out / source.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for copy in range(1, arguments.copies + 1):
            target = folder / f"{source.stem}-copy{copy}.hdf5"
            try:
                perturb(source, target, random, arguments.free_term, arguments.friction)
            except (OSError, KeyError, ValueError) as error:
                target.unlink(missing_ok=True)
                print(f"{source}: {error}", file=sys.stderr)
                failed = 1
                break
    return failed


if __name__ == "__main__":
    sys.exit(main())
