"""Tiny tasks that the tests of the runner run. Worker processes import this module by its name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from miai.errors import MiaiError
from miai.references import Reference
from miai.runner import RunContext, Task
from miai.runner.task import Config


def count(config: Config, context: RunContext) -> None:
    """Log a few rows; do whatever `config["trouble"]` says on the way; leave a file."""
    steps = int(config.get("steps", 3))
    for step in range(steps):
        context.log(step, {"count/value": float(step), "count/seed": float(context.seed)})
        context.progress(step + 1, steps)
        time.sleep(float(config.get("seconds", 0.0)) / steps)
    _make_trouble(config.get("trouble"), config, context)
    table = context.work / "table.npz"
    with table.open("wb") as file:
        np.savez(file, values=np.arange(steps) + context.seed)
    context.artifact(table)
    context.final({"value": float(steps)})


def _make_trouble(trouble: Any, config: Config, context: RunContext) -> None:
    if trouble == "error":
        raise RuntimeError("sparks\nand smoke")
    if trouble == "user":
        raise MiaiError("alpha: 2.0 is too large; allowed: 0 to 1.")
    if trouble == "nan":
        context.log(99, {"eval/rms_error": float("nan")})
    if trouble == "exit":
        raise SystemExit(3)
    if trouble == "suicide":
        os.kill(os.getpid(), signal.SIGKILL)
    if trouble == "suicide once":
        marker = Path(str(config["marker"]))
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def name_of(config: Config) -> str:
    return f"count-{config.get('seed', 0)}"


def inputs(config: Config) -> Mapping[str, Reference]:
    return {"init": Reference(str(config["init"]), "table.npz")} if config.get("init") else {}


COUNT = Task("count", sources=("errors.py",), run=count, name_of=name_of, inputs=inputs, irrelevant=("seconds",))


def resumable(config: Config, context: RunContext) -> None:
    """Count to `steps` with a checkpoint at each; die at `die_at` the first time."""
    loaded = context.load_checkpoint()
    start = 0 if loaded is None else int(loaded["step"]) + 1
    for step in range(start, int(config["steps"])):
        context.log(step, {"step": float(step)})
        context.save_checkpoint({"step": np.array(step)})
        if start == 0 and step == int(config.get("die_at", -1)):
            os.kill(os.getpid(), signal.SIGKILL)
    context.final({"start": float(start)})


RESUMABLE = Task("resumable", sources=("errors.py",), run=resumable, name_of=name_of)


def square(unit: Mapping[str, Any]) -> dict[str, Any]:
    """A unit of work; leaves a mark each time that it is done."""
    if unit.get("marks"):
        with Path(unit["marks"]).open("a") as file:
            file.write(f"{unit['x']} {os.getpid()}\n")
    if unit.get("die_once") and not Path(unit["die_once"]).exists():
        Path(unit["die_once"]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if unit.get("fail"):
        raise ValueError("a bad unit")
    return {"square": unit["x"] ** 2, "third": unit["x"] / 3}


def squares(config: Config, context: RunContext) -> None:
    results = context.map(square, {str(unit["x"]): unit for unit in config["units"]})
    context.final({f"square/{key}": float(result["square"]) for key, result in results.items()})
    if config.get("fail_after"):
        raise RuntimeError("after the units")


SQUARES = Task("squares", sources=("errors.py",), run=squares, name_of=name_of, irrelevant=("fail_after",))
