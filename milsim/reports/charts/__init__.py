"""Charts: pictures of runs that a player understands without help, as matplotlib figures."""

from milsim.reports.charts.marriage_chart import marriages
from milsim.reports.charts.strength_chart import bid_strength
from milsim.reports.charts.style import SUFFIXES, check_picture_path, save

__all__ = ["SUFFIXES", "bid_strength", "check_picture_path", "marriages", "save"]
