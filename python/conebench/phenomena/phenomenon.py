"""What is measured on an engine, and what is right (docs/phenomena.md)."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple


Curve = Tuple[Any, Any]  # x and y, numbers


@dataclass
class Measured:
    """`value` is right if |value - exact| <= allowed, or, with `upper_bound`, value <= exact + allowed. `allowed` is what the
    time step explains. Values in the phenomenon's unit."""

    value: float
    exact: float
    allowed: float
    scale: float = 1.0  # an error of this size is as wrong as can be: 1 of the colours
    upper_bound: bool = False  # the exact value is one
    curves: Dict[str, Curve] = field(default_factory=dict)  # by name: what is drawn; x and y
    facts: Dict[str, Any] = field(default_factory=dict)  # other numbers, by name with unit

    def only_if(self, happened: bool) -> "Measured":
        """Without a value where what should be measured did not happen: an engine at a standstill is not right."""
        return self if happened else replace(self, value=math.nan)

    @property
    def error(self) -> float:
        """Of the value, in its unit; NaN where it is none."""
        if not math.isfinite(self.value):
            return math.nan
        return max(0.0, self.value - self.exact) if self.upper_bound else abs(self.value - self.exact)

    @property
    def right(self) -> bool:
        return self.error <= self.allowed


@dataclass(frozen=True)
class Phenomenon:
    """What is measured on a scene, for some values of its parameters."""

    id: str
    group: str
    title: str
    law: str  # the exact value and where it comes from, a few sentences
    quantity: str  # what the value is
    unit: str
    cases: Mapping[str, Mapping[str, Any]]  # parameters by the case's name
    measure: Callable[..., Measured]  # (laboratory, **parameters)
    axes: Tuple[str, str] = ("time [s]", "")  # of the curves
    quick: Tuple[str, ...] = ()  # the cases of --quick; empty: the first
