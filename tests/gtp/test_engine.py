"""Whole sessions: the bytes that go in, and the bytes that must come out."""

import os
import queue
import subprocess
import sys
import threading
import time
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN
from miai.gtp.client import EngineFault, FaultKind, GtpClient
from miai.gtp.engine import GtpEngine
from miai.players import OWN_BUDGET, Budget, Decision, build_player


class Scripted:
    """A player that plays from a list, then passes."""

    name = "scripted"
    own_budget = OWN_BUDGET

    def __init__(self, *moves):
        self.moves = list(moves)
        self.games = 0
        self.budgets = []
        self.turns = []
        self.closed = False

    def new_game(self, game):
        self.games += 1

    def select_move(self, game, rng, budget):
        assert not game.is_over
        self.budgets.append(budget)
        self.turns.append(game.to_play)
        move = self.moves.pop(0) if self.moves else "pass"
        if isinstance(move, Exception):
            raise move
        return Decision(RESIGN if move == "resign" else game.parse_move(move))

    def close(self):
        self.closed = True


class Thinker(Scripted):
    """A player that reports for as long as it is let."""

    def analyse(self, game, rng, budget, on_progress):
        best, other = game.parse_move("C3"), game.parse_move("D4")
        visits = 0
        while True:
            visits += 100
            decision = Decision(
                best,
                {
                    "visits": {other: visits // 4, best: visits, PASS: 1},
                    "values": {other: 0.25, best: 0.5678},
                    "priors": {best: 0.75},
                    "pv": (best, other),
                },
            )
            if not on_progress(decision) or (budget is not None and visits >= 300):
                return decision
            time.sleep(0.002)


def session(text, player=None, **options):
    output = BytesIO()
    player = player or Scripted()
    GtpEngine(lambda: player, np.random.default_rng(0), **options).run(
        BytesIO(text if isinstance(text, bytes) else text.encode()), output
    )
    assert player.closed
    return output.getvalue().decode()


def ask(*commands, player=None, **options):
    """Return the responses to single commands, without their ends."""
    responses = session("\n".join(commands) + "\n", player, **options).split("\n\n")
    assert responses.pop() == ""
    assert len(responses) == len(commands)
    return responses


# --- The form of a session ---


def test_a_session():
    text = (
        "protocol_version\n"
        "1 name\n"
        "\n"
        "# a comment\n"
        "2\tboardsize  5 # small\r\n"
        "komi 0.5\n"
        "3 play B c3\n"
        "4 genmove white\n"
        "showboard\n"
        "5 final_score\n"
        "6 nonsense\n"
        "7 quit\n"
        "8 name\n"
    )
    assert session(text, Scripted("D4")) == (
        "= 2\n\n"
        "=1 Miai\n\n"
        "=2\n\n"
        "=\n\n"
        "=3\n\n"
        "=4 D4\n\n"
        "=\n"
        "   A B C D E\n"
        " 5 . . . . . 5\n"
        " 4 . . .(O). 4\n"
        " 3 . . X . . 3\n"
        " 2 . . . . . 2\n"
        " 1 . . . . . 1\n"
        "   A B C D E\n\n"
        "=5 W+0.5\n\n"
        "?6 unknown command\n\n"
        "=7\n\n"
    )


def test_the_end_of_the_input_ends_the_session():
    assert session("name") == "= Miai\n\n"
    assert session("") == ""


STANDARD = [
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "fixed_handicap", "place_free_handicap", "set_free_handicap"),
    *("play", "genmove", "reg_genmove", "undo", "time_settings", "time_left"),
    *("final_score", "final_status_list", "showboard", "loadsgf"),
]


def test_every_command_of_the_standard_is_known():
    listed = ask("list_commands")[0].removeprefix("= ").split("\n")
    assert set(STANDARD) <= set(listed)
    assert ask(*(f"known_command {name}" for name in STANDARD)) == ["= true"] * len(STANDARD)
    assert ask("known_command lz-analyze", "lz-analyze") == ["= false", "? unknown command"]
    assert ask("known_command lz-analyze", "known_command foo", player=Thinker()) == ["= true", "= false"]


def test_nothing_else_gets_into_the_output():
    class Printing(Scripted):
        def select_move(self, game, rng, budget):
            print("thinking aloud")  # noqa: T201
            return super().select_move(game, rng, budget)

    assert session("genmove b\n", Printing("A1")) == "= A1\n\n"


def test_a_player_that_breaks_does_not_end_the_session(capsys):
    player = Scripted(
        RuntimeError("oops\n\nand more"), EngineFault(FaultKind.TIMEOUT, "no answer"), MiaiError("no."), "A1"
    )
    assert ask(*["genmove b"] * 4, player=player) == [
        "? internal error: RuntimeError: oops\nand more",
        "? no answer",
        "? no.",
        "= A1",
    ]
    assert "RuntimeError" in capsys.readouterr().err


def test_an_output_that_nobody_reads_ends_the_session():
    class Broken(BytesIO):
        def write(self, data):
            raise BrokenPipeError

    player = Scripted()
    GtpEngine(lambda: player, np.random.default_rng(0)).run(BytesIO(b"name\nname\n"), Broken())
    assert player.closed


def test_a_line_that_never_ends_is_cut():
    responses = ask("play b " + "x" * 200_000, "name")
    assert responses[0].startswith("? syntax error: 'xxx")
    assert len(responses[0]) < 200
    assert responses[1] == "= Miai"


# --- Errors, in the standard's words ---


@pytest.mark.parametrize(
    ("command", "response"),
    [
        ("boardsize", "? syntax error: 0 arguments, 1 needed"),
        ("boardsize x", "? syntax error: 'x' is not a whole number from 0 to 2147483647"),
        ("boardsize 20", "? unacceptable size"),
        ("boardsize 1", "? unacceptable size"),
        ("komi x", "? syntax error: 'x' is not a number"),
        ("komi 0.3", "? unacceptable komi: komi must be a whole or half number from -400 to 400, got 0.3"),
        ("play b", "? syntax error: 1 arguments, 2 needed"),
        ("play red D4", "? syntax error: 'red' is not a colour, which is b, black, w or white"),
        ("play b I5", "? syntax error: 'I5' is not a vertex of this board"),
        ("play b T1", "? syntax error: 'T1' is not a vertex of this board"),
        ("play b C3", "? illegal move: the point is occupied"),
        ("fixed_handicap 3", "? board not empty"),
        ("set_free_handicap A1 B2", "? board not empty"),
        ("place_free_handicap 2", "? board not empty"),
        ("final_status_list", "? syntax error: 0 arguments, 1 needed"),
        ("final_status_list sick", "? syntax error: 'sick' is not a status, which is alive, dead or seki"),
        ("time_settings 1 2", "? syntax error: 2 arguments, 3 needed"),
        ("time_left b x 0", "? syntax error: 'x' is not a whole number from 0 to 2147483647"),
        ("loadsgf", "? syntax error: 0 arguments, at least 1 needed"),
        ("loadsgf /no/such/file.sgf", "? cannot load file: no such file"),
        ("loadsgf /dev/zero", "? cannot load file: no such file"),
        ("genmove", "? syntax error: 0 arguments, 1 needed"),
        ("known_command", "? syntax error: 0 arguments, 1 needed"),
        ("Name", "? unknown command"),
    ],
)
def test_errors(command, response):
    assert ask("boardsize 9", "play b C3", command)[2] == response


# --- Set-up ---


def test_clear_board_keeps_size_and_komi():
    responses = ask("boardsize 5", "komi 3", "play b C3", "clear_board", "final_score", "play b C3", "final_score")
    assert responses[4] == "= W+3"
    assert responses[6] == "= B+22"


def test_handicaps():
    assert ask("boardsize 9", "fixed_handicap 5")[1] == "= C3 G7 C7 G3 E5"
    assert ask("boardsize 9", "fixed_handicap 10")[1] == "? invalid number of stones"
    assert ask("boardsize 5", "fixed_handicap 2")[1] == "? invalid number of stones"
    assert ask("boardsize 9", "fixed_handicap 1")[1] == "? invalid number of stones"
    free = ask("boardsize 5", "place_free_handicap 3", "place_free_handicap 2")
    assert len(free[1].split()) == 4
    assert free[2] == "? board not empty"
    assert ask("boardsize 2", "place_free_handicap 9", "final_status_list alive")[1].count(" ") == 3
    assert ask("place_free_handicap 1")[0] == "? invalid number of stones"
    player = Scripted("A1")
    responses = ask("boardsize 9", "set_free_handicap D4 F6", "genmove w", "final_status_list alive", player=player)
    assert responses[1:] == ["=", "= A1", "= F6\nD4\nA1"]
    assert player.turns == [-1]
    assert (
        ask("set_free_handicap D4 D4", "set_free_handicap D4", "set_free_handicap D4 pass") == ["? bad vertex list"] * 3
    )


# --- Play ---


def test_either_colour_may_play_at_any_time():
    player = Scripted("E5", "D5", "C5")
    responses = ask(
        *(
            "boardsize 5",
            "play w A1",
            "play w B1",
            "genmove w",
            "genmove w",
            "reg_genmove b",
            "final_status_list alive",
        ),
        player=player,
    )
    assert responses[3:] == ["= E5", "= D5", "= C5", "= D5 E5\nA1 B1"]
    assert player.turns == [-1, -1, 1]


def test_passing_and_resigning():
    assert ask("genmove b", "genmove w", player=Scripted("pass", "resign")) == ["= pass", "= resign"]


def test_play_goes_on_after_two_passes_and_all_can_be_taken_back():
    player = Scripted("C3")
    responses = ask(
        *("boardsize 5", "komi 0", "play b B2", "play w pass", "play b pass", "genmove w", "final_status_list alive"),
        *("undo", "undo", "play b A1", "undo", "undo", "undo", "final_status_list alive", "undo"),
        player=player,
    )
    assert responses[5] == "= C3"
    assert responses[6] == "= C3\nB2"
    assert responses[7:13] == ["="] * 6
    assert responses[13] == "="
    assert responses[14] == "? cannot undo"
    assert player.turns == [-1]


def test_undo_does_not_take_handicap_stones():
    assert ask("boardsize 9", "fixed_handicap 2", "undo")[2] == "? cannot undo"


def test_a_ko_may_not_be_taken_back_at_once():
    #   A B C D      White takes the ko at B3, Black may not take back at once.
    # 4 . X O .
    # 3 X . X O
    # 2 . X O .
    setup = [f"play b {v}" for v in ("B4", "A3", "C3", "B2")] + [f"play w {v}" for v in ("C4", "D3", "C2")]
    responses = ask("boardsize 4", *setup, "play w B3", "play b C3")
    assert responses[-2:] == ["=", "? illegal move: ko"]


def test_final_score_counts_every_stone_as_alive():
    commands = ["boardsize 5", "komi 0.5", *(f"play b {c}3" for c in "ABCDE"), "play w A5"]
    responses = ask(
        *commands, "final_score", "final_status_list alive", "final_status_list dead", "final_status_list seki"
    )
    # The lone white stone makes the upper side neutral but for itself: 5 + 10 points to 1.
    assert responses[-4:] == ["= B+13.5", "= A5\nA3 B3 C3 D3 E3", "=", "="]


# --- Time ---


def test_the_clock_becomes_a_budget():
    player = Scripted()
    ask("boardsize 9", "genmove b", "time_settings 0 10 1", "genmove b", "time_left w 20 0", "genmove w", player=player)
    assert player.budgets[0] == OWN_BUDGET
    assert player.budgets[1] == Budget(seconds=8.5)
    assert player.budgets[2].seconds == pytest.approx(8.5)
    player = Scripted()
    player.own_budget = Budget(simulations=50)
    ask("genmove b", "time_settings 0 10 1", "genmove b", "reg_genmove b", player=player)
    assert player.budgets == [Budget(simulations=50), Budget(50, 8.5), Budget(simulations=50)]
    player = Scripted()
    player.own_budget = Budget(seconds=2.0)
    ask("time_settings 0 10 1", "genmove b", player=player)
    assert player.budgets == [Budget(seconds=2.0)]


# --- Files ---


def test_loadsgf(tmp_path):
    file = tmp_path / "a game.sgf"
    file.write_text("(;SZ[5]KM[1.5]AB[aa]AW[ee];W[bb];B[cc];W[];B[];W[dd])")
    responses = ask(f"loadsgf {file}", "final_status_list alive", f"loadsgf {file} 3", "showboard", "genmove w", "undo")
    assert responses[:2] == ["=", "= A5\nB4\nC3\nD2\nE1"]
    assert responses[3].split("\n")[1:] == [
        "   A B C D E",
        " 5 X . . . . 5",
        " 4 . O . . . 4",
        " 3 . .(X). . 3",
        " 2 . . . . . 2",
        " 1 . . . . O 1",
        "   A B C D E",
    ]
    assert responses[4:] == ["= pass", "="]


def test_a_file_that_cannot_be_loaded_leaves_the_board_alone(tmp_path):
    damaged, illegal = tmp_path / "damaged.sgf", tmp_path / "illegal.sgf"
    damaged.write_text("(;SZ[5]")
    illegal.write_text("(;SZ[5];B[aa];W[aa])")
    responses = ask(
        *("boardsize 7", "play b A1", f"loadsgf {damaged}", f"loadsgf {illegal}", f"loadsgf {illegal} 2"),
        "final_status_list alive",
    )
    assert responses[2].startswith("? cannot load file: damaged.sgf: not SGF")
    assert responses[3] == "? cannot load file: move 2: illegal move: the point is occupied"
    assert responses[4:] == ["=", "= A5"]


# --- Analysis ---


def live(player):
    """Start a session in a thread; return (send, receive, finish)."""
    source, sink = os.pipe()
    lines: queue.Queue[bytes] = queue.Queue()

    class Output(BytesIO):
        def write(self, data):
            lines.put(data)
            return len(data)

    engine = GtpEngine(lambda: player, np.random.default_rng(0), size=5)
    stream = os.fdopen(source, "rb", buffering=0)
    thread = threading.Thread(target=engine.run, args=(stream, Output()))
    thread.start()

    def finish():
        os.close(sink)
        thread.join(10)
        stream.close()
        assert not thread.is_alive()

    return lambda text: os.write(sink, text.encode()), lambda: lines.get(timeout=10).decode(), finish


LZ = "info move C3 visits {} winrate 5678 prior 7500 order 0 pv C3 D4 info move D4 visits {} winrate 2500 order 1 pv D4"


def test_analysis_streams_until_the_next_command():
    send, receive, finish = live(Thinker())
    send("4 lz-analyze b 1\n")
    assert receive() == "=4\n"
    first = receive()
    assert first.startswith("info move C3 visits ")
    assert " order 0 pv C3 D4 info move D4 visits " in first
    assert first.endswith(" info move pass visits 1 order 2 pv pass\n")
    assert "winrate 5678 prior 7500" in first
    assert "winrate 2500 order 1" in first
    assert receive().startswith("info move C3")
    send("5 name\n")
    rest = receive()
    while rest != "\n":
        assert rest.startswith("info move C3")
        rest = receive()
    assert receive() == "=5 Miai\n\n"
    send("kata-analyze interval 1 maxmoves 1 ownership true\n")
    assert receive() == "=\n"
    line = receive()
    assert "winrate 0.5678 prior 0.7500" in line
    assert "D4 visits" not in line
    finish()


def test_an_empty_line_or_the_end_stops_an_analysis_too():
    send, receive, finish = live(Thinker())
    send("lz-analyze 1\n")
    assert receive() == "=\n"
    send("\n")
    while receive() != "\n":
        pass
    send("name\n")
    assert receive() == "= Miai\n\n"
    send("lz-analyze 1\n")
    finish()


def test_genmove_analyze_plays_the_move():
    output = session("1 kata-genmove_analyze w 1\nfinal_status_list alive\n", Thinker(), size=5)
    assert output.startswith("=1\ninfo move C3")
    assert output.endswith("\nplay C3\n\n= C3\n\n")
    player = Thinker()
    player.own_budget = Budget(simulations=300)
    output = session("lz-genmove_analyze b 1000000\n", player, size=5)
    assert output == f"=\n{LZ.format(300, 75)} info move pass visits 1 order 2 pv pass\nplay C3\n\n"


def test_errors_of_an_analysis():
    responses = ask(
        *("lz-analyze b interval", "lz-analyze avoid b D4 3", "kata-analyze b -3", "lz-genmove_analyze red"),
        player=Thinker(),
    )
    assert responses == [
        "? syntax error: 'interval' needs a value",
        "? syntax error: 'avoid' is not supported; supported: interval, maxmoves",
        "? syntax error: '-3' needs a value",
        "? syntax error: 'red' needs a value",
    ]


def test_an_analysis_that_fails():
    class Failing(Thinker):
        def analyse(self, game, rng, budget, on_progress):
            raise MiaiError("nothing to see here.")

    assert ask("2 lz-genmove_analyze b", "name", player=Failing()) == ["?2 nothing to see here.", "= Miai"]


# --- Fuzz ---

COMMANDS = [
    *("boardsize 9", "boardsize 2", "clear_board", "komi 7.5", "fixed_handicap 4", "place_free_handicap 3"),
    *("set_free_handicap A1 B2 C3", "play b D4", "play w pass", "genmove b", "genmove w", "reg_genmove b", "undo"),
    *("time_settings 60 10 5", "time_left b 5 0", "final_score", "final_status_list alive", "showboard"),
    *("loadsgf x.sgf 3", "list_commands", "known_command play", "7 name", "version"),
    *("lz-analyze b 1", "kata-genmove_analyze w 1"),
]


def check_form(output: str, num_commands: int | None = None) -> None:
    """The output is a sequence of well-formed responses."""
    responses = output.split("\n\n")
    assert responses.pop() == ""
    assert all(response[0] in "=?" for response in responses)
    if num_commands is not None:
        assert len(responses) == num_commands


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=8))
def test_random_bytes(lines):
    check_form(session(b"\n".join(lines), size=5))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_commands(data):
    lines = []
    for command in data.draw(st.lists(st.sampled_from(COMMANDS), max_size=12)):
        text = bytearray(command.encode())
        if data.draw(st.booleans()):
            place = data.draw(st.integers(0, len(text)))
            text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        lines.append(bytes(text))
    player = build_player({"name": "random"}) if data.draw(st.booleans()) else Thinker()
    player.closed = True
    check_form(session(b"\n".join(lines), player, size=5))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(COMMANDS), max_size=25))
def test_every_sensible_command_gets_one_response(commands):
    player = Thinker()
    player.own_budget = Budget(simulations=1)
    check_form(session("\n".join(commands), player, size=5), len(commands))


# --- In a process of its own ---

PROGRAM = (
    "import sys, numpy as np\n"
    "from miai.gtp.engine import GtpEngine\n"
    "from miai.players import build_player\n"
    "GtpEngine(lambda: build_player({'name': 'random'}), np.random.default_rng(1), size=5)"
    ".run(sys.stdin.buffer, sys.stdout.buffer)\n"
)


def test_our_client_drives_our_engine():
    client = GtpClient([sys.executable, "-c", PROGRAM])
    assert client.send("protocol_version") == "2"
    client.send("boardsize 5")
    for colour in "bwbwbw":
        assert client.send(f"genmove {colour}")[0] in "ABCDE"
    assert client.send("showboard").count("\n") == 6
    with pytest.raises(EngineFault, match="unknown command"):
        client.send("lz-analyze")
    client.close()
    assert client._process.returncode == 0


def test_the_process_ends_with_its_input():
    # The reading thread sleeps on standard input when the session ends at `quit`: that must not break the interpreter.
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"name\nquit\n")
    process.stdin.flush()
    assert process.wait(30) == 0
    assert process.stdout.read() == b"= Miai\n\n=\n\n"
    process.stdin.close()
    process.stdout.close()
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=b"1 name", capture_output=True, check=True, timeout=30)
    assert done.stdout == b"=1 Miai\n\n"
    assert done.stderr == b""


def test_a_search_analyses_and_plays():
    player = build_player({"name": "uct", "num_simulations": 200})
    send, receive, finish = live(player)
    send("lz-analyze b 5\n")
    assert receive() == "=\n"
    first, second = receive(), receive()
    assert first.startswith("info move ")
    visits = [int(line.split()[4]) for line in (first, second)]
    assert visits[0] < visits[1]
    send("genmove b\n")
    while receive() != "\n":
        pass
    assert receive()[:3] in [f"= {column}" for column in "ABCDE"]
    finish()
