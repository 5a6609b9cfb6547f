"""`make bench`: takes every measure, prints a table, and writes benchmarks/results.json.

    python -m benchmarks.run [--only tables,go]

A section that is not asked for keeps its earlier results in the file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.measuring import Missing, machine

SECTIONS = {
    "tables": "benchmarks.tables",
    "sweeps": "benchmarks.sweeps",
    "overhead": "benchmarks.overhead",
    "report": "benchmarks.report",
    "scale": "benchmarks.scale",
    "tracking": "benchmarks.tracking_load",
    "go": "benchmarks.go.speed",
    "features": "benchmarks.go.features",
    "search": "benchmarks.go.search",
}
"""Modules with a `measure_all()`, by the section's name."""

RESULTS = Path(__file__).with_name("results.json")


def line(measure: Any) -> str:
    """Format a measure (`measuring.Measure`) or what is missing."""
    if isinstance(measure, Missing):
        return f"{measure.name:62s} not measured: {measure.reason}"
    peer = "" if measure.peer is None else f"{measure.peer:,.4g}"
    compared = f"{measure.ratio:,.4g}"
    spread = getattr(measure, "ratios", ())
    if spread and len(spread) > 1:
        compared += f" ({min(spread):,.4g}–{max(spread):,.4g})"
    goal = f"{'≥' if measure.at_least else '≤'} {measure.goal:,g}"
    mark = "yes" if measure.reached else "NO"
    return (
        f"{measure.name:62s} {measure.ours:>14,.4g} {peer:>12s} {measure.unit:14s} {compared:>26s} {goal:>10s}  {mark}"
    )


def as_json(measure: Any) -> dict[str, Any]:
    if isinstance(measure, Missing):
        return {"name": measure.name, "not_measured": measure.reason}
    ratios = getattr(measure, "ratios", ())
    return {
        "name": measure.name,
        "unit": measure.unit,
        "ours": _short(measure.ours),
        "peer": _short(measure.peer),
        "compared_with_goal": _short(measure.ratio),
        "ratio_min": _short(min(ratios)) if ratios else None,
        "ratio_max": _short(max(ratios)) if ratios else None,
        "goal": measure.goal,
        "goal_is": "at least" if measure.at_least else "at most",
        "reached": measure.reached,
        "note": getattr(measure, "note", ""),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"sections, by commas: {', '.join(SECTIONS)}")
    wanted = [name for name in parser.parse_args(arguments).only.split(",") if name]
    if unknown := sorted(set(wanted) - set(SECTIONS)):
        parser.error(f"no such section: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    print(f"{'measure':62s} {'ours':>14s} {'peer':>12s} {'unit':14s} {'ratio (min–max)':>26s} {'goal':>10s}  met")
    for name in wanted:
        measures = []
        for measure in importlib.import_module(SECTIONS[name]).measure_all():
            print(line(measure), flush=True)
            measures.append(as_json(measure))
        results[name] = {"machine": machine(), "measures": measures}
        temporary = RESULTS.with_suffix(".tmp")
        temporary.write_text(json.dumps(results, indent=2, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        temporary.replace(RESULTS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
