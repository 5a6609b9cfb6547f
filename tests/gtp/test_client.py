import gc
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.gtp.client import MAX_LINE, MAX_TRANSCRIPT_LINES, EngineFault, FaultKind, GtpClient, Transcript

ENGINE = Path(__file__).with_name("fake_engine.py")
GNUGO = shutil.which("gnugo", path=f"{os.environ.get('PATH', '')}:/usr/games")


def start(kind, **options):
    return GtpClient([sys.executable, str(ENGINE), kind], **options)


@pytest.fixture
def client(request):
    engine = start(request.param)
    yield engine
    engine.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def eventually(condition) -> bool:
    for _ in range(1_500):
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    "client", ["good", "chatty", "silent_flood", "without_id", "dribbling", "windows"], indirect=True
)
def test_engines_that_may_be_odd_but_answer(client):
    assert client.send("boardsize 9") == ""
    assert client.send("genmove b") == "C3"
    assert client.send("genmove w") == "C4"
    assert client.is_alive


@pytest.mark.parametrize("client", ["good"], indirect=True)
def test_a_refusal_is_a_fault_after_which_the_engine_still_works(client):
    with pytest.raises(EngineFault, match="refused `foo`: unknown command") as caught:
        client.send("foo")
    assert caught.value.kind is FaultKind.REFUSED
    assert client.send("genmove b") == "C3"


@pytest.mark.parametrize(
    ("kind", "fault", "message"),
    [
        ("hung", FaultKind.TIMEOUT, r"no answer to `genmove b` in 0.5 s"),
        ("flooding", FaultKind.PROTOCOL, "no end of the answer"),
        ("crashing", FaultKind.DIED, "ended with status 3 at `genmove b`: segfault, or so"),
        ("dying", FaultKind.DIED, "ended by signal 9"),
        ("leaving", FaultKind.DIED, "ended with status 0"),
    ],
)
def test_engines_that_break_down(kind, fault, message):
    engine = start(kind)
    engine.send("name")
    if kind == "crashing":
        engine.send("genmove b")
        engine.send("genmove w")
    with pytest.raises(EngineFault, match=message) as caught:
        engine.send("genmove b", timeout=0.5 if kind == "hung" else 60)
    assert caught.value.kind is fault
    assert "genmove b" in caught.value.transcript
    assert not engine.is_alive
    assert not is_running(engine._process.pid)
    with pytest.raises(EngineFault, match=message):
        engine.send("name")
    engine.close()


def test_bytes_that_are_no_text_do_no_harm():
    engine = start("binary")
    assert "�" in engine.send("name")
    engine.close()


def test_an_engine_that_ignores_quit_is_killed():
    engine = start("deaf")
    engine.send("name")
    engine.close()
    assert not is_running(engine._process.pid)
    engine.close()


def test_what_the_engine_has_started_goes_with_it():
    engine = start("children")
    engine.send("name")
    assert eventually(lambda: "! child" in engine.transcript)
    child = int(engine._transcript.last("!").split()[1])
    assert is_running(child)
    engine.close()
    assert eventually(lambda: not is_running(child))


def test_an_engine_that_nobody_holds_is_killed():
    engine = start("good")
    engine.send("name")
    process = engine._process
    del engine
    gc.collect()
    assert eventually(lambda: process.poll() is not None)


def test_the_engine_does_not_outlive_the_interpreter():
    code = (
        "import sys; from miai.gtp.client import GtpClient;"
        f"c = GtpClient([sys.executable, {str(ENGINE)!r}, 'deaf']); c.send('name'); print(c._process.pid)"
    )
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert eventually(lambda: not is_running(pid))


def test_the_transcript():
    engine = start("crashing")
    engine.send("name")
    engine.forget()
    engine.send("genmove b")
    engine.send("genmove w")
    with pytest.raises(EngineFault):
        engine.send("genmove b")
    engine.close()
    assert engine.transcript.splitlines() == [
        "> 2 genmove b",
        "< =2 C3",
        "> 3 genmove w",
        "< =3 C4",
        "> 4 genmove b",
        "! segfault, or so",
    ]


def test_the_transcript_is_bounded():
    transcript = Transcript()
    transcript.add("<", "\n".join(["x" * 10_000] * (MAX_TRANSCRIPT_LINES + 5)))
    lines = str(transcript).splitlines()
    assert len(lines) == MAX_TRANSCRIPT_LINES
    assert len(lines[0]) == MAX_LINE + 2


def test_programs_that_cannot_be_started(tmp_path):
    with pytest.raises(MiaiError, match="cannot be started"):
        GtpClient([str(tmp_path / "nothing")])
    with pytest.raises(MiaiError, match="cannot be started"):
        GtpClient([str(tmp_path)])
    with pytest.raises(ValueError, match="empty"):
        GtpClient([])
    with pytest.raises(ValueError, match="more than 0"):
        GtpClient(["true"], timeout=0)


@pytest.mark.parametrize("client", ["good"], indirect=True)
@pytest.mark.parametrize("command", ["", "play b\nquit", "name # x", " name"])
def test_what_is_no_command_is_not_sent(client, command):
    with pytest.raises(ValueError, match="not one plain command line"):
        client.send(command)


@pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed (Debian: apt install gnugo)")
def test_a_real_engine():
    engine = GtpClient([GNUGO, "--mode", "gtp", "--level", "1", "--seed", "1"])
    assert engine.send("name") == "GNU Go"
    assert engine.send("protocol_version") == "2"
    engine.send("boardsize 5")
    engine.send("clear_board")
    assert engine.send("genmove b") == "C3"
    assert "X" in engine.send("showboard")
    with pytest.raises(EngineFault, match="illegal move"):
        engine.send("play w C3")
    engine.close()
    assert not is_running(engine._process.pid)
