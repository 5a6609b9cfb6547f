"""`miai gtp` as a controller sees it: a program on two pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from miai.cli.main import main
from miai.gtp.client import GtpClient

MIAI = (sys.executable, "-c", "from miai.cli.main import main; raise SystemExit(main())", "gtp")
"""What the console script does."""
PATIENCE = 120.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def engine() -> Iterator[GtpClient]:
    client = GtpClient(
        (*MIAI, "player.num_simulations=50", "game.size=5", "game.komi=0.5"), timeout=PATIENCE, start_timeout=PATIENCE
    )
    yield client
    client.close()


def test_a_controller_plays_a_game_with_it(engine: GtpClient, home: Path) -> None:
    assert engine.send("protocol_version") == "2"
    assert engine.send("name") == "Miai"
    assert "uct num_simulations=50" in engine.send("version")
    assert {"genmove", "lz-analyze", "kata-analyze", "loadsgf"} <= set(engine.send("list_commands").split())
    moves = []
    while len(moves) < 150 and moves[-2:] != ["PASS", "PASS"]:
        moves.append(engine.send(f"genmove {'bw'[len(moves) % 2]}").upper())
    assert moves[-2:] == ["PASS", "PASS"]
    assert engine.send("final_score")[0] in "BW0"
    engine.send("boardsize 9")
    assert engine.send("showboard").count("\n") >= 9
    assert not (home / "mlruns").exists()


def test_nothing_but_the_protocol_goes_to_standard_output() -> None:
    commands = b"name\n\xff\xfe\nnonsense\n7 boardsize 4\n8 genmove b\nquit\n"
    done = subprocess.run([*MIAI, "player.num_simulations=20"], input=commands, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0
    responses = done.stdout.decode().split("\n\n")
    assert responses[0] == "= Miai"
    assert [response[:2] for response in responses[1:5]] == ["? ", "? ", "=7", "=8"]
    assert responses[5:] == ["=", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["player=human"], "miai gtp: player: a person cannot play over the protocol"),
        (["player=perfect"], "miai gtp: player perfect: plays small games, given by their rules, not go."),
        (["player=nobody"], "miai gtp: player: no such choice 'nobody'; allowed: apv_mcts, flat_mc,"),
        (["player.nope=1"], "miai gtp: player.nope: there is no such option"),
        (["player.c_uct=-1"], "miai gtp: player.c_uct: Input should be greater than or equal to 0, not -1"),
        (["game.size=20"], "miai gtp: game.size: Input should be less than or equal to 19, not 20."),
        (["seed=-1"], "miai gtp: seed: a whole number from 0 is allowed, not -1."),
        (["uct"], "miai gtp: 'uct' is not an override; write key=value, such as player=uct."),
    ],
)
def test_what_is_not_allowed_is_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gtp", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(message)
    assert output.err.count("\n") == 1


def test_its_help_says_how_to_attach_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gtp", "--help"]) == 0
    page = capsys.readouterr().out
    for word in ("GoGui", "Sabaki", "Lizzie", "player.num_simulations=3000", "game.komi=7.5"):
        assert word in page
