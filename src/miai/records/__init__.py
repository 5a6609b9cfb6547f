"""Game records: SGF in and out.

Start in `reader.RecordReader` for whole collections, in `sgf.parse_sgf` for one file, in `writer.write_sgf` for the
way back, in `play` for replaying. `record.GameRecord` is what they all speak of.
"""

from miai.records.index import read_index
from miai.records.play import finish_record, record_game, replay, start_record
from miai.records.reader import Damage, RecordReader
from miai.records.record import BLACK, WHITE, GameRecord, RecordError
from miai.records.result import Result
from miai.records.sgf import parse_sgf
from miai.records.writer import write_sgf

__all__ = [
    "BLACK",
    "WHITE",
    "Damage",
    "GameRecord",
    "RecordError",
    "RecordReader",
    "Result",
    "finish_record",
    "parse_sgf",
    "read_index",
    "record_game",
    "replay",
    "start_record",
    "write_sgf",
]
