"""Reading the project's own Markdown: fenced blocks, commands, links, headings."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMPT = "$ "

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```\s*$", re.M | re.S)
_TITLE = re.compile(r'title="([^"]+)"')
_LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is (`title="…"`), its text."""

    language: str
    title: str | None
    text: str


def documents() -> list[Path]:
    """Every Markdown file that a reader of the project meets."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*.md")])


def blocks(text: str) -> list[Block]:
    found = []
    for match in _FENCE.finditer(text):
        info = match["info"].strip()
        title = _TITLE.search(info)
        found.append(Block(info.split(" ")[0], title and title[1], match["body"]))
    return found


def console_commands(block: Block) -> list[str]:
    """Return the commands of a console block: the lines behind a prompt, continued where they end in a backslash."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def all_commands(text: str) -> list[list[str]]:
    """Return every `miai …` or `make …` command of a document, in words: console blocks and code in the text."""
    commands = [command for block in blocks(text) if block.language == "console" for command in console_commands(block)]
    commands += re.findall(r"`((?:miai|make) [^`\n]+)`", _FENCE.sub("", text))
    parts = [part.strip() for command in commands for part in command.split(" && ")]
    return [shlex.split(part, comments=True) for part in parts if part.startswith(("miai ", "make "))]


def links(text: str) -> list[str]:
    """Return the targets of a document's links and pictures, code left out."""
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text)))


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, spelt as GitHub does."""
    names = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}
