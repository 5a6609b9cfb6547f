"""What a job of Slurm's does: calls, in a pool of its own, whose events it writes into a file that the sender reads.

A file is JSON, a line an event, so that nothing that a job leaves behind can run code in whoever reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from miai.errors import MiaiError
from miai.runner import stopping
from miai.runner.execute import Outcome
from miai.runner.launchers.station import Station
from miai.runner.pool import Call, Died, Done, Event, Key, Message, Raised

FILES = "said.*.jsonl"
"""One file each time that Slurm starts the job."""

PATIENCE = 20.0
"""Seconds that calls have to end, once the job has been asked to (SIGTERM)."""

SAY_SECONDS = 1.0
"""A call's progress is written down no more often."""

REFUSED = "refused"
"""Kind of a line: there can be no work here, for this `reason`."""

UNBEGUN = "unbegun"
"""Kind of a line: the job ends, and has not begun the calls of these `keys`."""

Line = dict[str, Any]


def work(station: Station, calls: Sequence[Call], folder: Path) -> None:
    """Do the calls. A job that Slurm has started anew leaves out what is done."""
    earlier = sorted(folder.glob(FILES))
    done = {line["key"] for file in earlier for line in _lines(file) if line["kind"] in ("done", "raised")}
    with (folder / FILES.replace("*", f"{len(earlier):04}")).open("w", encoding="utf-8") as file:
        diary = _Diary(file)
        with stopping.listening((signal.SIGTERM,)):
            try:
                pool = station.open()
            except MiaiError as error:
                diary.write({"kind": REFUSED, "reason": str(error)})
                return
            with pool:
                for call in calls:
                    if call.key not in done:
                        pool.submit_call(call)
                try:
                    while pool.unfinished:
                        for event in pool.events(timeout=1.0):
                            diary.note(event)
                except stopping.Stopped:
                    stopping.forget()
                    diary.write({"kind": UNBEGUN, "keys": pool.cancel_waiting()})
                    pool.terminate_running()
                    deadline = time.monotonic() + PATIENCE
                    while pool.unfinished and time.monotonic() < deadline:
                        for event in pool.events(timeout=0.1):
                            diary.note(event)


def _lines(file: Path) -> Iterator[Line]:
    for line in file.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):  # The last one may be half there.
            yield json.loads(line)


class _Diary:
    """Writes events down, so that another machine can read them at once."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._said: dict[Key, float] = {}

    def note(self, event: Event) -> None:
        if isinstance(event, Message) and event.content[0] == "progress":
            now = time.monotonic()
            if now - self._said.get(event.key, -SAY_SECONDS) < SAY_SECONDS:
                return
            self._said[event.key] = now
        self.write(line_of(event))

    def write(self, line: Line) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def line_of(event: Event) -> Line:
    """An event as JSON can hold it. Values are outcomes of runs, or what JSON can hold by itself."""
    if isinstance(event, Message):
        return {"kind": "said", "key": event.key, "content": list(event.content)}
    if isinstance(event, Raised):
        return {"kind": "raised", **asdict(event)}
    if isinstance(event, Died):
        return {"kind": "died", **asdict(event)}
    if isinstance(event.value, Outcome):
        return {"kind": "done", "key": event.key, "outcome": asdict(event.value)}
    return {"kind": "done", "key": event.key, "value": event.value}


def event_of(line: Line) -> Event:
    """The event that a line holds; of a message, the content is a list."""
    key, kind = line["key"], line["kind"]
    if kind == "said":
        return Message(key, line["content"])
    if kind == "raised":
        return Raised(key, line["reason"], line["details"], line["expected"])
    if kind == "died":
        return Died(key, line["reason"], line["given_up"])
    return Done(key, Outcome(**line["outcome"]) if "outcome" in line else line["value"])
