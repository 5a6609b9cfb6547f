import pytest

from miai.records import parse_sgf
from miai.records.encoding import decode

HU = "胡耀宇"
WEN = "文𠮷本"  # the second needs four bytes in GB18030


@pytest.mark.parametrize("declared", ["GB18030", "gb2312", "GBK", "cp936"])
def test_declared_chinese(declared):
    (record,) = parse_sgf(f"(;CA[{declared}]PB[{HU}]PW[{WEN}];B[aa])".encode("gb18030"))
    assert record.players == (HU, WEN)


def test_chinese_without_a_declaration():
    (record,) = parse_sgf(f"(;PB[{HU}]PW[文容];B[aa])".encode("gb18030"))
    assert record.players == (HU, "文容")


def test_a_bracket_that_is_half_a_character():
    # 淽 is 9C 5D and 琝 is AC 5C in GB18030: 5D is `]`, 5C is the escaping backslash.
    name = "淽琝"
    data = f"(;CA[GBK]PB[{name}];B[ba])".encode("gb18030")
    assert data.count(b"]") == 4
    (record,) = parse_sgf(data)
    assert record.players[0] == name
    assert record.moves == ((1, 1),)


@pytest.mark.parametrize("ca", ["", "CA[ISO-8859-1]", "CA[UTF-8]", "CA[no-such-thing]"])
def test_latin_1_declared_or_not_or_wrongly(ca):
    (record,) = parse_sgf(f"(;{ca}PB[Möller]PW[François Bée];B[aa])".encode("latin-1"))
    assert record.players == ("Möller", "François Bée")


@pytest.mark.parametrize("ca", ["", "CA[UTF-8]", "CA[utf8]"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_utf_8(ca, mark):
    (record,) = parse_sgf(mark + f"(;{ca}PB[Möller {HU}];B[aa])".encode())
    assert record.players[0] == f"Möller {HU}"


def test_codecs_that_transform_are_not_used():
    # `unicode_escape`, `idna` and the like are names that Python knows; as CA they are ignored.
    assert decode(b"(;CA[unicode_escape]C[\\u0041\xe9])") == "(;CA[unicode_escape]C[\\u0041é])"


def test_ca_inside_another_property_is_not_a_declaration():
    assert decode(f"(;RECA[gbk]PB[{HU}])".encode()) == f"(;RECA[gbk]PB[{HU}])"
