"""The campaign in short: a few kills, and some damaged inputs of each kind. `make chaos` is the long version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chaos import campaign, fuzzing, inputs, kills, surroundings

SEED = 7
SOME = 200
FEW = 40
"""Inputs of a target that takes tens of milliseconds for each."""


@pytest.mark.parametrize("name", [target.name for target in inputs.TARGETS])
def test_damaged_inputs_are_refused_in_one_line_or_read(tmp_path: Path, name: str) -> None:
    number = FEW if name == "conf" else SOME
    found = fuzzing.fuzz(name, number, SEED, tmp_path)
    assert found.faults == {}
    assert found.refused + found.read == number


def test_a_sweep_that_is_killed_again_and_again_is_complete_when_it_is_started_once_more(tmp_path: Path) -> None:
    said = kills.sweep_under_kills(8, 4, SEED, tmp_path)
    found = re.match(r"8 runs, (\d) kills", said)
    assert found, said
    assert int(found[1]) >= 2, said  # A kill may come when the last run has just been finished.


def test_an_upload_that_is_killed_again_and_again_brings_each_run_once(tmp_path: Path) -> None:
    assert kills.sync_under_kills(5, 5, SEED, tmp_path).startswith("5 runs, ")


@pytest.mark.slow
@pytest.mark.parametrize("name", surroundings.SCENES)
def test_hostile_surroundings(tmp_path: Path, name: str) -> None:
    if surroundings.why_not():
        pytest.skip(surroundings.why_not())
    assert surroundings.play(name, tmp_path / "scene")


def test_the_campaign_reports_what_it_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    def burn(_chance: campaign.Chance) -> str:
        raise AssertionError("it burns")

    def skip(_chance: campaign.Chance) -> str:
        raise campaign.SkippedError("no matches")

    faults = [campaign.Fault("fire", "it does not burn", 1.0, burn), campaign.Fault("rain", "dry", 1.0, skip)]
    monkeypatch.setattr(campaign, "FAULTS", (*faults, campaign.Fault("sun", "warm", 1.0, lambda chance: "1 day")))
    assert campaign.run(["fire", "rain", "sun"], SEED, 1.0, tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "fire: it does not burn."
    assert lines[1].startswith("  FAULT: AssertionError: it burns")
    assert lines[3].startswith("  SKIPPED: no matches")
    assert lines[5].startswith("  1 day")
    assert [path.name for path in tmp_path.iterdir()] == ["fire"]


@pytest.mark.parametrize(
    ("order", "what"),
    [("HANG", "hangs"), ("DIE", "the process died"), ("RAISE", "ValueError: no"), ("RUN", "it caused os.system")],
)
def test_fuzzing_sees_what_goes_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, what: str) -> None:
    if order == "HANG":  # The others might wait that long for a busy machine.
        monkeypatch.setenv("CHAOS_HANG_SECONDS", "1")
    found = fuzzing.fuzz(f"chaos.misbehaving:{order}", 1, SEED, tmp_path)
    [(path, fault)] = found.faults.items()
    assert fault.startswith(what)
    assert Path(path).read_bytes() == order.lower().encode()
