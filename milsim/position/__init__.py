"""Positions: kernels that play cards (`state`, `playout`) and the checked value `Position`."""

from milsim.position.faults import PositionFault
from milsim.position.value import Act, Declaration, Position

__all__ = ["Act", "Declaration", "Position", "PositionFault"]
