"""Frictional-contact problems, their solvers, a judge and stored results (docs/python.md).

Vectors over a problem's rows have joints first, then limits, then contacts with the tangents before the normal:
(t1, t2, n), in the plane (t, n), with rolling friction (t1, t2, n, m1, m2). Impulses r in N s, velocities in m/s.
"""

from ._core import Error
from ._answers import Answer, Judgement, judge, solve
from ._problems import Problem, load, problem, save
from ._solver import option, solver
from ._stores import profile, ranking, read_store

__all__ = ["Answer", "Error", "Judgement", "Problem", "judge", "load", "option", "problem", "profile", "ranking",
           "read_store", "save", "solve", "solver"]
