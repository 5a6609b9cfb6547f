"""A Go engine that behaves, or does not: `python fake_engine.py KIND`. Not a test."""

import os
import subprocess
import sys
import time

KIND = sys.argv[1]
OPENING = ["C3", "C4", "D3", "D4", "E3", "E4", "F3", "F4"]


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(number: str, name: str, args: list[str]) -> str:
    if KIND == "refusing" and name == "play":
        return f"?{number} illegal move\n\n"
    if name in ("name", "version"):
        return f"={number} fake {KIND}\n\n"
    if name == "genmove":
        moves[0] += 1
        return f"={number} {genmove(moves[0])}\n\n"
    if name in ("boardsize", "clear_board", "komi", "play", "quit", "time_settings", "set_free_handicap"):
        moves[0] += name == "play"
        return f"={number}\n\n"
    return f"?{number} unknown command\n\n"


def genmove(number: int) -> str:
    if KIND == "occupied":
        return "C3"
    if KIND == "offboard":
        return "Z99"
    if KIND == "nonsense":
        return "I would rather not"
    if KIND == "resigning":
        return "resign"
    if KIND == "passing":
        return "PASS"
    if KIND == "crashing" and number >= 3:
        sys.stderr.write("segfault, or so\n")
        os._exit(3)
    if KIND == "dying":
        os.kill(os.getpid(), 9)
    if KIND == "hung" or (KIND == "slow" and number >= 3):
        time.sleep(3600)
    if KIND == "leaving":
        sys.exit(0)
    return OPENING[number - 1] if number <= len(OPENING) else "pass"


moves = [0]
if KIND == "children":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    sys.stderr.write(f"child {child.pid}\n")
    sys.stderr.flush()
if KIND == "deaf":
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    number, name, *args = line.split()
    if KIND == "deaf" and name == "quit":
        continue
    if KIND == "flooding" and name == "genmove":
        while True:
            write("x" * 65_536)
    if KIND == "silent_flood":
        sys.stderr.write("thinking about it\n" * 20_000)
        sys.stderr.flush()
    if KIND == "chatty":
        write("loading…\n\nmore chatter\r\n\x07=999 an answer to something else\n\nand\n")
    if KIND == "without_id":
        number = ""
    if KIND == "binary":
        sys.stdout.buffer.write(b"=\xff\xfe\x00 \x80\n\n")
        sys.stdout.flush()
        continue
    text = answer(number, name, args)
    if KIND == "dribbling":
        for letter in text:
            write(letter)
            time.sleep(0.005)
    elif KIND == "windows":
        write(text.replace("\n", "\r\n"))
    else:
        write(text)
    if name == "quit":
        break
if KIND == "deaf":
    time.sleep(3600)
