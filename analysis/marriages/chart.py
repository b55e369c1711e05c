"""The pictures of the study: milsim's chart marriage-parts of each run of expert.

python analysis/marriages/chart.py
"""

from __future__ import annotations

from collect import HERE, PLAN, run_of

from milsim import reports


def main() -> None:
    for rules in PLAN["rules"]:
        figure = reports.CHARTS["marriage-parts"].build(
            run_of(rules, "expert"), replays=PLAN["expert"]["replays"], threads=1
        )
        reports.save(figure, HERE / f"parts-{rules}.png")


if __name__ == "__main__":
    main()
