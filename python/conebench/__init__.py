"""Frictional-contact problems, their solvers, a judge and stored results (docs/python.md).

Vectors over a problem's rows have joints first, then limits, intervals, and contacts with the tangents before the
normal: (t1, t2, n), in the plane (t, n), with rolling friction (t1, t2, n, m1, m2). Those of a problem that problem()
made have the rows as they were given, and those of a file by blocks the file's, with normals first. Impulses r in N s,
velocities in m/s.
"""

from . import capture
from ._core import Error, version as __version__
from ._answers import Answer, Judgement, judge, solve
from ._batch import Batch, BatchAnswers, solve_many
from ._blocks import Block, Blocks, bilateral, friction, interval, unilateral
from ._chrono import chrono
from ._known import EngineAnswer
from ._problems import Problem, load, problem, save
from ._recording import Recorder, Recording, record, recording
from ._simulate import Simulation, Step, simulate
from ._solver import option, solver
from ._stores import profile, ranking, read_store

__all__ = ["Answer", "Batch", "BatchAnswers", "Block", "Blocks", "EngineAnswer", "Error", "Judgement", "Problem",
           "Recorder", "Recording", "Simulation", "Step", "bilateral", "capture", "chrono", "friction", "interval",
           "judge", "load", "option", "problem", "profile", "ranking", "read_store", "record", "recording", "save",
           "simulate", "solve", "solve_many", "solver", "unilateral"]
