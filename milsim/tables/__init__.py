"""The value of every hand: all 346,104 hands of seven cards, played by a fast policy.

`build_table` plays a `TablePlan` into a folder, part by part; `Table` reads it.
"""
