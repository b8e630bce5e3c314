"""Recordings: one file of a simulation's steps (docs/sample_format.md)."""

from importlib import import_module
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Type, Union, overload

from . import _core
from ._problems import Problem, load

Path = Union[str, "PathLike[str]"]


class Recorder:
    """A file that grows by a step with each add(), as record() opens it.

    Readers may open it meanwhile. Each step that add() returned from stays readable, whatever happens to the process."""

    def __init__(self, path: Path) -> None:
        self._core = _core.Recorder(fspath(path))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __len__(self) -> int:
        """Steps so far."""
        return self._core.steps

    def add(self, step: Union[Problem, Mapping[str, Any]]) -> None:
        """Appends a problem, or a dictionary of arrays by the names of the format, with a contact's normal first.
        Matrices are arrays, of scipy.sparse, or (values, columns, row starts, shape).

        Error: the step can't be held (sizes, NaN, bounds, mu, an M without symmetry), is of another model than the first
        one (number of velocities, bodies), or can't be written. The steps before are in the file, and others may follow."""
        parts: Mapping[str, Any] = step._step() if isinstance(step, Problem) else step
        self._core.add(parts if isinstance(parts, dict) else dict(parts))

    def mujoco(self, model: Any, data: Any, *, pyramid: str = "edges") -> None:
        """Appends the step that MuJoCo has just made, as capture.mujoco() reads it."""
        self._add_captured("mujoco", model, data, pyramid=pyramid)

    def pinocchio(self, *args: Any, **options: Any) -> None:
        """Appends what capture.pinocchio() would make of the same arguments."""
        self._add_captured("pinocchio", *args, **options)

    def newton(self, *args: Any, **options: Any) -> None:
        """Appends what capture.newton() would make of the same arguments."""
        self._add_captured("newton", *args, **options)

    def drake(self, *args: Any, **options: Any) -> None:
        """Appends what capture.drake() would make of the same arguments."""
        self._add_captured("drake", *args, **options)

    def close(self) -> None:
        """Nothing can be added after it."""
        self._core.close()

    def _add_captured(self, engine: str, *args: Any, **options: Any) -> None:
        step: Dict[str, Any] = import_module(f".capture._{engine}", __package__).step_of(*args, **options)
        self._core.add(step)


class Recording(Sequence[Problem]):
    """The steps of a recording as problems, each read when it is asked for, as recording() opens it."""

    def __init__(self, path: Path) -> None:
        self.path = fspath(path)
        self._addresses: List[str] = _core.recording_steps(self.path)
        if not self._addresses:
            raise _core.Error(f"{self.path}: is no recording; conebench.load reads a file of one step")

    def __len__(self) -> int:
        return len(self._addresses)

    @overload
    def __getitem__(self, k: int) -> Problem: ...

    @overload
    def __getitem__(self, k: slice) -> List[Problem]: ...

    def __getitem__(self, k: Union[int, slice]) -> Union[Problem, List[Problem]]:
        if isinstance(k, slice):
            return [load(address) for address in self._addresses[k]]
        return load(self._addresses[k])

    def __iter__(self) -> Iterator[Problem]:
        return map(load, self._addresses)

    def __repr__(self) -> str:
        return f"<conebench.Recording {self.path}: {len(self)} steps>"


def record(path: Path) -> Recorder:
    """Begins a recording; a file of that name is overwritten.

        with conebench.record("robot.hdf5") as record:
            for _ in range(1000):
                mujoco.mj_step(model, data)
                record.mujoco(model, data)
    """
    return Recorder(path)


def recording(path: Path) -> Recording:
    """The steps that a recording has now, also while it is written. Error: no recording, or one without a step."""
    return Recording(path)
