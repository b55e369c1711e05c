"""Charts: pictures of runs that a player understands without help, as matplotlib figures."""
