"""Frictional-contact problems, their solvers, a judge and stored results (docs/python.md).

Vectors over a problem's rows have joints first, then limits, intervals, and contacts with the tangents before the
normal: (t1, t2, n), in the plane (t, n), with rolling friction (t1, t2, n, m1, m2). Of a problem that is made with
problem(blocks=…) or loaded from a file by blocks, they have the rows as they were given. Impulses r in N s, velocities
in m/s.
"""

from ._core import Error
from ._answers import Answer, Judgement, judge, solve
from ._blocks import Block, Blocks, bilateral, friction, interval, unilateral
from ._problems import Problem, load, problem, save
from ._simulate import Simulation, Step, simulate
from ._solver import option, solver
from ._stores import profile, ranking, read_store

__all__ = ["Answer", "Block", "Blocks", "Error", "Judgement", "Problem", "Simulation", "Step", "bilateral", "friction",
           "interval", "judge", "load", "option", "problem", "profile", "ranking", "read_store", "save", "simulate",
           "solve", "solver", "unilateral"]
