"""Positions: kernels that play cards (`state`, `playout`) and the checked value `Position`."""

from milsim.position.state import perft, play_card, start

__all__ = ["perft", "play_card", "start"]
