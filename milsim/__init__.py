"""milsim: simulation and analytics for the card game of Thousand."""
