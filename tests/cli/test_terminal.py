"""Nothing that is shown can command the terminal, whatever draws it."""

from __future__ import annotations

import io

import pytest
from rich.markdown import Markdown
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from miai.cli import terminal

EVIL = "a\x1b]0;owned\x07\x1b[2Jb\x9b31m\rc\u202ed"


def table() -> Table:
    made = Table(EVIL, title=EVIL)
    made.add_row(EVIL)
    return made


@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("thing", [EVIL, Text(EVIL), table(), Markdown(f"# {EVIL}\n\n{EVIL} `{EVIL}`")])
def test_texts_from_elsewhere_do_not_command_the_terminal(thing, colours):
    system = "truecolor" if colours else None
    out = terminal._SafeConsole(file=io.StringIO(), width=200, force_terminal=colours, color_system=system)
    out.print(thing, markup=False, style="red")
    said = out.file.getvalue()
    assert "owned" in said
    for command in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\u202e"):
        assert command not in said
    assert ("\x1b[" in said) == colours, "rich's own colours stay"


def test_say_shows_what_there_is(capsys):
    terminal.say(terminal.console(), "x\x1b[2Jy [red]z[/red] α", style="red")
    assert capsys.readouterr().out == "x�[2Jy [red]z[/red] α\n"


def test_a_progress_bar_still_moves():
    out = terminal._SafeConsole(file=io.StringIO(), width=80, force_terminal=True)
    with Progress(console=out) as bar:
        bar.update(bar.add_task(EVIL, total=2), advance=1)
    said = out.file.getvalue()
    assert "\x1b[?25l" in said, "rich hides the cursor"
    assert "\x1b]" not in said
