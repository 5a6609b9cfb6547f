"""Feeds damaged inputs to a target, in a process of its own that can hang, crash or run out of memory.

Input NUMBER of a target and a seed is always the same, so that a finding can be had again:

    python -m chaos.fuzzing TARGET SEED NUMBER

Start reading at `fuzz`. The process that reads is `_serve`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import subprocess
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from chaos import damage, inputs

HANG_SECONDS = int(os.environ.get("CHAOS_HANG_SECONDS", "60"))
"""An input that takes longer counts as a hang. The slowest takes less than a second on an idle machine."""
MEMORY = 6 * 1024**3
"""Bytes that a reading process may have."""
BROKEN = 3
"""Exit code of the reading process if it is this program that is at fault."""
LONGEST_LINE = 2100
"""Characters of a refusal; more is no line."""

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen", "pickle.find_class")
"""Events of Python's audit hooks that no reading of any input may cause."""


@dataclass
class Findings:
    """What became of a target's inputs.

    Attributes:
        read, refused: how many were read, how many refused by one line.
        faults: what went wrong, in a few words, by the file that holds the input.
    """

    target: str
    read: int = 0
    refused: int = 0
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        return self.read + self.refused + len(self.faults)


def make_input(target: inputs.Target, samples: list[bytes], seed: int, number: int) -> bytes:
    rng = Random(f"{seed} {target.name} {number}")
    return damage.damage(rng.choice(samples), target.mutations, rng)


def fuzz(
    name: str, count: int, seed: int, folder: Path, deadline: float = float("inf"), most_faults: int = 20
) -> Findings:
    """Feed `count` inputs to a target.

    Args:
        folder: for its files; inputs that are findings stay in `folder/faults`.
        deadline: of `time.monotonic`; what has not been tried by then is left out.
        most_faults: enough is enough.
    """
    found = Findings(name)
    work = folder / name
    faults = folder / "faults"
    faults.mkdir(parents=True, exist_ok=True)
    number = 0
    while number < count and time.monotonic() < deadline and len(found.faults) < most_faults:
        seconds = min(deadline - time.monotonic(), 1e9)
        done = _read_some(name, seed, number, count, seconds, work)
        for line in done.stdout.splitlines():
            event = json.loads(line)
            number = event["number"] + 1
            if "fault" in event:
                found.faults[_keep(faults, name, seed, event["number"], event["input"])] = event["fault"]
            else:
                found.read, found.refused = found.read + event["read"], found.refused + event["refused"]
        if done.returncode:
            # It died: of the input that it had put down before it began to read.
            note = work.parent / f"{name}.current"
            current = json.loads(note.read_text()) if note.exists() else {"number": -1}
            if current["number"] < number or done.returncode == BROKEN:
                raise RuntimeError(f"{name}: inputs cannot be made\n{done.stderr}")
            number = current["number"] + 1
            found.read, found.refused = found.read + current["read"], found.refused + current["refused"]
            what = _last_words(done)
            found.faults[_keep(faults, name, seed, current["number"], current["input"])] = what
        elif number < count:
            break  # Out of time.
    return found


def _read_some(
    name: str, seed: int, first: int, count: int, seconds: float, work: Path
) -> subprocess.CompletedProcess[str]:
    inputs.clear(work)
    (work.parent / f"{name}.current").unlink(missing_ok=True)
    environment = {
        **os.environ,
        "MIAI_HOME": str(work),
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "chaos.fuzzing", name, str(seed), str(first), str(count), str(seconds)]
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    if "Timeout (" in done.stderr:
        where = [line.strip() for line in done.stderr.splitlines() if "/miai/" in line]
        return f"hangs: {where[0] if where else 'somewhere'}"
    words = done.stderr.strip().splitlines()
    return f"the process died ({done.returncode}): {words[-1] if words else ''}"


def _keep(folder: Path, name: str, seed: int, number: int, content: str) -> str:
    path = folder / f"{name}-{seed}-{number}"
    path.write_bytes(bytes.fromhex(content))
    return str(path)


# ---- in the process that reads ----


class _Forbidden:
    """Notes forbidden events while an input is being read."""

    def __init__(self) -> None:
        self.watching = False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _arguments: tuple) -> None:
        if self.watching and event in FORBIDDEN:
            self.seen.append(event)


def _serve(name: str, seed: int, first: int, count: int, seconds: float) -> None:
    """Read inputs `first` to `count` − 1; print an event for each fault, and one at the end."""
    work = Path.cwd()
    began = time.monotonic()
    target = inputs.target(name)
    samples, read = target.open(work)
    forbidden = _Forbidden()
    for sample in samples:
        _try(read, sample, forbidden, must_read=True)
    soft_end = began + seconds
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a library prints is not an event.
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    outcomes: Counter[str] = Counter()
    number = first
    current = work.parent / f"{name}.current"
    for number in range(first, count):
        try:
            content = make_input(target, samples, seed, number)
        except Exception:
            traceback.print_exc()
            sys.exit(BROKEN)
        current.write_text(json.dumps({"number": number, "input": content.hex(), **_counts(outcomes)}))
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        fault = _try(read, content, forbidden)
        faulthandler.cancel_dump_traceback_later()
        if fault in ("read", "refused"):
            outcomes[fault] += 1
        else:
            said.write(json.dumps({"number": number, "fault": fault, "input": content.hex()}) + "\n")
            said.flush()
        if time.monotonic() > soft_end:
            break
    said.write(json.dumps({"number": number, **_counts(outcomes)}) + "\n")
    said.flush()


def _counts(outcomes: Counter[str]) -> dict[str, int]:
    return {"read": outcomes["read"], "refused": outcomes["refused"]}


def _try(read: inputs.Reader, content: bytes, forbidden: _Forbidden, *, must_read: bool = False) -> str:
    """Read one input; say `read`, `refused`, or what is wrong."""
    from miai.errors import MiaiError

    forbidden.seen.clear()
    forbidden.watching = True
    try:
        read(content)
        outcome = "read"
    except MiaiError as error:
        outcome = "refused"
        text = str(error)
        if must_read:
            raise
        if not text or len(text.splitlines()) > 1 or len(text) > LONGEST_LINE:
            outcome = f"refused, but not in one line: {text[:300]!r}"
    except Exception as error:
        if must_read:
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome = f"{type(error).__name__}: {str(error)[:200]} ({Path(last.filename).name}:{last.lineno})"
    finally:
        forbidden.watching = False
    if forbidden.seen:
        outcome = f"it caused {', '.join(forbidden.seen)}"
    if Path(damage.CANARY).exists():
        Path(damage.CANARY).unlink()
        outcome = "it ran a planted command"
    return outcome


def _again(name: str, seed: int, number: int) -> None:
    """Read one input with a full traceback."""
    target = inputs.target(name)
    samples, read = target.open(Path.cwd())
    content = make_input(target, samples, seed, number)
    sys.stdout.write(f"{content[:2000]!r}\n")
    sys.stdout.flush()
    read(content)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            os.environ["MIAI_HOME"] = folder
            os.chdir(folder)
            _again(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        _serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
