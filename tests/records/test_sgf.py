"""SGF files, small enough to be read by eye. On 9×9 the flat index of column x, row y (from the top) is 9y + x."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from miai.games.game import PASS
from miai.records import BLACK, WHITE, GameRecord, RecordError, Result, parse_sgf, write_sgf
from miai.records.sgf import MAX_FILE_BYTES

B, W = BLACK, WHITE
FULL = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]HA[2]AB[cg][gc]PB[Black One]PW[White: Two]BR[3d]WR[5 kyu]RU[Chinese]"
    "DT[2021-03-04]RE[W+4.5]C[a comment with \\] and ;B[aa\\];];W[ee]C[centre];B[aa];W[];B[tt])"
)


def only(text: str | bytes) -> GameRecord:
    (record,) = parse_sgf(text, "a.sgf")
    return record


def test_everything_of_an_ordinary_game():
    assert only(FULL) == GameRecord(
        size=9,
        komi=6.5,
        handicap=2,
        setup=((24, 56), ()),
        to_play=W,
        moves=((W, 40), (B, 0), (W, PASS), (B, PASS)),
        result=Result.parse("W+4.5"),
        players=("Black One", "White: Two"),
        ranks=("3d", "5 kyu"),
        rules="Chinese",
        date="2021-03-04",
        source="a.sgf",
    )


def test_what_is_missing_is_the_standards_default():
    assert only("(;)") == GameRecord(size=19, source="a.sgf")


def test_ff3_with_its_lower_case_letters():
    record = only("(;GaMe[1]FileFormat[3]SiZe[9]PlayerBlack[x]AddBlack[aa];White[ba];Black[tt])")
    assert (record.size, record.players[0], record.setup) == (9, "x", ((0,), ()))
    assert record.moves == ((W, 1), (B, PASS))


def test_the_main_line_of_variations():
    record = only("(;SZ[9];B[aa](;W[ba];B[ca](;W[da])(;W[ea]))(;W[fa];B[ga]))")
    assert record.moves == ((B, 0), (W, 1), (B, 2), (W, 3))


@pytest.mark.parametrize(("size", "value"), [(9, "tt"), (19, "tt"), (9, ""), (19, ""), (9, " ")])
def test_passes(size, value):
    assert only(f"(;SZ[{size}];B[{value}])").moves == ((B, PASS),)


def test_set_up_stones():
    # AB fills the rectangle from c3's mirror: columns b to c, rows a to b; AE takes one away, AW takes one over.
    record = only("(;SZ[9]AB[ba:cb]AE[bb]AW[ca]PL[W])")
    assert record.setup == ((1, 11), (2,))
    assert record.to_play == W


def test_set_up_over_several_nodes_before_the_first_move():
    assert only("(;SZ[9];AB[aa];AW[bb];PL[W];W[cc])").setup == ((0,), (10,))


def test_one_colour_twice_running():
    assert only("(;SZ[9]HA[2];B[aa];B[bb];W[cc])").moves == ((B, 0), (B, 10), (W, 20))


def test_white_begins_a_handicap_game_without_moves():
    assert only("(;SZ[9]HA[3]AB[aa][bb][cc])").to_play == W


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        ("7.5", 7.5),
        ("0", 0.0),
        ("-3", -3.0),
        ("6,5", 6.5),
        ("", None),
        ("zero", None),
        ("nan", None),
        ("inf", None),
        ("375", None),
    ],
)
def test_komi(text, komi):
    assert only(f"(;KM[{text}])").komi == komi


def test_a_file_of_several_games():
    records = parse_sgf("junk (;SZ[9];B[aa]) between (;SZ[13];B[bb]) after", "many.sgf")
    assert [(record.size, record.source) for record in records] == [(9, "many.sgf"), (13, "many.sgf#2")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not SGF"),
        ("hello", "not SGF"),
        ("(;SZ[9];B[aa];W[b", "not SGF"),
        ("(;SZ[9];B[aa]", "not SGF"),
        ("(;GM[2])", "not Go"),
        ("(;SZ[9:13])", "only square boards"),
        ("(;SZ[25])", "2 to 19"),
        ("(;SZ[1])", "2 to 19"),
        ("(;SZ[x])", "2 to 19"),
        ("(;SZ[9];B[ja])", r"move 1 \[ja\] is not on the 9×9 board"),
        ("(;SZ[9];B[aa];W[a])", r"move 2 \[a\]"),
        ("(;SZ[9];B[aa]W[bb])", "either colour"),
        ("(;SZ[9]AB[jj])", "set-up point"),
        ("(;SZ[9]AB[cc:aa])", "upper left"),
        ("(;SZ[9];B[aa];AB[bb])", "after move 1"),
        ("(;SZ[9])(;SZ[9];B[zz])", "a.sgf#2: move 1"),
    ],
)
def test_damage_is_named(text, reason):
    with pytest.raises(RecordError, match=reason) as caught:
        parse_sgf(text, "a.sgf")
    assert str(caught.value).startswith("a.sgf")
    assert "\n" not in str(caught.value)


def test_too_large_a_file_is_refused():
    with pytest.raises(RecordError, match="at most"):
        parse_sgf(b"(" * (MAX_FILE_BYTES + 1))


def test_deep_nesting_needs_no_deep_stack():
    assert len(only("(;B[aa]" * 50_000 + ")" * 50_000).moves) == 50_000


names = st.text(st.characters(exclude_categories=("C", "Z")), max_size=12)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    size = draw(st.integers(2, 19))
    points = st.integers(0, size * size - 1)
    moves = draw(st.lists(st.tuples(st.sampled_from((B, W)), st.one_of(points, st.just(PASS))), max_size=30))
    stones = draw(st.dictionaries(points, st.sampled_from((B, W)), max_size=10))
    return GameRecord(
        size=size,
        komi=draw(st.one_of(st.none(), st.integers(-8, 8).map(lambda halves: halves / 2))),
        handicap=draw(st.integers(0, 9)),
        setup=tuple(tuple(sorted(p for p, c in stones.items() if c == colour)) for colour in (B, W)),
        to_play=moves[0][0] if moves else draw(st.sampled_from((B, W))),
        moves=tuple(moves),
        result=Result.parse(draw(st.sampled_from(("B+R", "W+0.5", "B+T", "W+F", "0", "Void", "?", "B+")))),
        players=(draw(names), draw(names)),
        ranks=(draw(names), draw(names)),
        rules=draw(names),
        date=draw(names),
        source="a.sgf",
    )


@settings(deadline=None)
@given(records())
def test_writing_and_reading_are_inverse(record):
    assert only(write_sgf(record)) == record
    assert only(write_sgf(record).encode()) == record


def read_or_refuse(data: bytes | str) -> None:
    """Reading does one of two things, whatever it is given."""
    try:
        records_read = parse_sgf(data, "fuzz")
    except RecordError as error:
        message = str(error)
    else:
        assert all(isinstance(record, GameRecord) for record in records_read)
        return
    assert message.startswith("fuzz")
    assert "\n" not in message


@settings(deadline=None)
@given(st.binary(max_size=300))
@example(b"(;\xff\xff")
@example(b"(;CA[utf-16]\xd8\x00)")
def test_random_bytes(data):
    read_or_refuse(data)


@settings(deadline=None)
@given(st.text(max_size=100))
@example("(;PB[\ud800])")
def test_random_text(text):
    read_or_refuse("(;" + text + ")")


PUNCTUATION = ["(", ")", ";", "[", "]", "\\", ":", " ", "\n", "\x00"]
NAMES = ["B", "W", "AB", "AW", "AE", "PL", "SZ", "KM", "HA", "RE", "GM", "CA", "FF"]
VALUES = ["aa", "tt", "zz", "9", "19", "99", "-1", "1e9", "büb", "棋"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PUNCTUATION + NAMES + VALUES), max_size=40))
def test_random_pieces_of_sgf(pieces):
    read_or_refuse("(;" + "".join(pieces) + ")")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_games(data):
    text = bytearray(FULL.encode())
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(text)))
        if data.draw(st.booleans()):
            del text[place : place + data.draw(st.integers(1, 8))]
        else:
            text[place:place] = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from([b"]", b"(;", b"[", b"\\"])))
    read_or_refuse(bytes(text))


def test_a_file_by_gnu_go():
    # As its `printsgf` writes two handicap stones and a white move: set-up stones of both colours, no moves.
    record = only(
        "(;GM[1]FF[4]\nSZ[9]\nGN[GNU Go 3.8 load and print]\nDT[2010-11-30]\n"
        "KM[0.0]HA[2]RU[Japanese]AP[GNU Go:3.8]AW[ee]\nAB[gc][cg]\nPL[W]\n)\n"
    )
    assert (record.setup, record.to_play, record.komi) == (((24, 56), (40,)), W, 0.0)
