"""How long the exact part of `milsim exchange` takes, over random hands of ten cards.

    python benchmarks/exchange_speed.py [HANDS] [PRESET]

By one thread (CPU time) and by two (time on the wall): the median, and the longest.
"""

from __future__ import annotations

import random
import statistics
import sys
import time

from milsim.gifts import exchange


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rules = sys.argv[2] if len(sys.argv) > 2 else "mil"
    drawn = (random.Random(i).sample(range(24), 10) for i in range(count))
    hands = [sum(1 << card for card in cards) for cards in drawn]
    exchange(hands[0], rules=rules, top=1)  # compiles
    for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
        seconds, nodes = [], []
        for hand in hands:
            started = clock()
            found = exchange(hand, rules=rules, threads=threads)
            seconds.append(clock() - started)
            nodes.append(found.nodes)
        print(
            f"{rules}, {count} hands, {threads} threads: "
            f"median {statistics.median(seconds):.2f} s, "
            f"longest {max(seconds):.2f} s; nodes median {statistics.median(nodes):,.0f}, "
            f"most {max(nodes):,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
