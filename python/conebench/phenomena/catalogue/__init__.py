"""All phenomena."""

from typing import Dict

from ..phenomenon import Phenomenon
from . import friction, impact, joints, numerics, rotation, structures

catalogue: Dict[str, Phenomenon] = {
    one.id: one for part in (friction, rotation, impact, structures, joints, numerics) for one in part.phenomena}
