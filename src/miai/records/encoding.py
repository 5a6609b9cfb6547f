"""Which encoding a record is written in.

SGF says it in its CA property, inside the very text that is to be decoded; many files say nothing, and some say what is
not so. So: the declared encoding if it is known and the bytes obey it; else UTF-8 if the bytes obey that (text in
other encodings practically never does by accident); else a choice between GB18030 and Latin-1 by how the bytes
above 127 lie.
"""

from __future__ import annotations

import codecs
import re

DECLARED = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin-1", "latin1", "ascii", "us-ascii"), "latin-1"),
    **dict.fromkeys(("windows-1252", "cp1252"), "cp1252"),
    **dict.fromkeys(("gb18030", "gbk", "gb2312", "gb-2312", "gb_2312-80", "cp936", "euc-cn", "hz-gb-2312"), "gb18030"),
    **dict.fromkeys(("big5", "cp950"), "cp950"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "cp932", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-jp", "euc_jp"), "euc_jp"),
    **dict.fromkeys(("euc-kr", "euc_kr", "cp949"), "cp949"),
}
"""Names met in CA (lower case) and the codec that reads them. A superset stands for its subsets, since files say
GB2312 and use GBK. Python's other codecs are left out on purpose: some of them transform rather than decode."""

_CA = re.compile(rb"(?<![A-Za-z])CA\s*\[\s*([^\]\\]{1,40}?)\s*\]")
_CA_WITHIN = 65_536
"""CA stands in the root node, so near the beginning."""
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def decode(data: bytes) -> str:
    """Decode an SGF file. Never raises: Latin-1, the standard's default, reads any bytes."""
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    if data.isascii():
        return data.decode("ascii")
    match = _CA.search(data, 0, _CA_WITHIN)
    declared = DECLARED.get(match[1].decode("latin-1").lower()) if match else None
    for codec in (declared, "utf-8", "gb18030" if _looks_chinese(data) else None):
        if codec:
            try:
                return data.decode(codec)
            except UnicodeDecodeError:
                continue
    return data.decode("latin-1")


def _looks_chinese(data: bytes) -> bool:
    """Whether most bytes above 127 have a neighbour above 127, as in GB18030's pairs.

    In Latin-1 an accented letter mostly stands alone among plain ones.
    """
    runs = [len(run) for run in _HIGH_RUN.findall(data)]
    return sum(length for length in runs if length >= 2) >= 0.75 * sum(runs)
