"""Lines of JSON to answers: one for every line, whatever it holds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sdgad.detectors.base import Detector
from sdgad.detectors.explaining.findings import Findings
from sdgad.detectors.live import LiveScorer
from sdgad.errors import InputError
from sdgad.events.lines import LineReader, Row, parse_line
from sdgad.events.stream import EventStream
from sdgad.serving.ahead import Ahead
from sdgad.serving.line_source import LONGEST, Line

Answer = dict[str, Any]

DROPPED = "older than the newest event, so it was dropped"
KEYS = ("line", "score", "anomaly", "p_value", "note", "error")  # of answers
WHY = "why"  # of answers with explanations
_MOST = 300  # characters of an error
_ROW = re.compile(r"^Row \d+ ")  # of a batch that nobody has seen


class LineScorer:
    """Scores lines against a live history, which every good line becomes part of.

    An answer is `{"line": 7, "score": 0.93, "anomaly": 1, "p_value": 0.002}`, or `{"line": 7, "error": "…"}` for a
    line that cannot be used and that changes nothing. `echo` are keys of the line that the answer repeats.
    `ahead` refuses events that are too far in the future. With `explain`, answers of events that reach the threshold say `why`.
    """

    def __init__(
        self,
        live: LiveScorer,
        *,
        echo: Sequence[str] = (),
        ahead: Ahead | None = None,
        explain: bool = False,
    ) -> None:
        taken = next((name for name in echo if name in KEYS or (explain and name == WHY)), None)
        if taken is not None:
            raise InputError(f"Key {taken!r} cannot be repeated, since answers use it themselves.")
        self._live, self._detector = live, live.detector
        self._echo, self._explain = tuple(echo), explain
        self.ahead = ahead
        self._reader = reader_for(live.detector)

    def answer(self, lines: Sequence[Line], first: int) -> list[Answer]:
        """An answer per line, in their order; `first` is the number of the first line."""
        answers, rows, places = [], [], []
        for place, line in enumerate(lines):
            answer: Answer = {"line": first + place}
            answers.append(answer)
            try:
                fields = self._parse(line)
                answer |= {name: _echoed(fields.get(name)) for name in self._echo}
                rows.append(self._reader.row(fields))
                places.append(place)
            except InputError as problem:
                answer |= _error(problem)
        for place, result in zip(places, self._results(rows), strict=True):
            answers[place] |= result
        return answers

    def _parse(self, line: Line) -> dict[str, Any]:
        if line is None:
            raise InputError(f"The line is longer than {LONGEST >> 20} MiB.")
        return parse_line(line)

    def _results(self, rows: list[Row]) -> list[Answer]:
        """All rows in one go where that means the same; else those that cannot be read are told apart, and the rest goes
        in as few pieces as mean the same."""
        if len(rows) <= 1:
            return self._together(rows) if rows else []
        when = self._reader.when(rows)
        pieces = _pieces(range(len(rows)), when)
        if len(pieces) == 1:
            try:
                return self._scored(self._read(rows))
            except InputError:
                pass  # nothing has changed
        results: list[Answer | None] = [None] * len(rows)
        for piece in pieces:
            self._sift(rows, piece, results)
        left = [i for i, result in enumerate(results) if result is None]
        for piece in _pieces(left, when):
            for i, result in zip(piece, self._together([rows[i] for i in piece]), strict=True):
                results[i] = result
        return [result for result in results if result is not None]

    def _sift(self, rows: list[Row], places: list[int], results: list[Answer | None]) -> None:
        """Answer rows that cannot be read, found by halves: they change nothing, wherever they stand."""
        try:
            self._read([rows[i] for i in places])
        except InputError as problem:
            if len(places) == 1:
                results[places[0]] = _error(problem)
            else:
                self._sift(rows, places[: len(places) // 2], results)
                self._sift(rows, places[len(places) // 2 :], results)

    def _together(self, rows: list[Row]) -> list[Answer]:
        """Scores of rows that are alike; where the model refuses any of them, by halves, in their order."""
        try:
            return self._scored(self._read(rows))
        except InputError as problem:
            if len(rows) == 1:
                return [_error(problem)]
        half = len(rows) // 2
        return self._together(rows[:half]) + self._together(rows[half:])

    def _read(self, rows: list[Row]) -> EventStream:
        try:
            events = self._reader.events(rows)
            if self.ahead is not None:
                self.ahead.check(events)
            return events
        except InputError:
            raise
        except Exception as problem:  # a line that stops the process would stop it again after every restart
            raise InputError(f"The line cannot be read: {type(problem).__name__}.") from problem

    def _scored(self, events: EventStream) -> list[Answer]:
        if self.ahead is not None:
            self.ahead.check_order(events, self._live.newest)
        if self._explain:
            return self._explained(self._live.findings(events, update=True))
        scores = self._live.score_and_update(events)
        known = ~np.isnan(scores)
        p_values = np.full(len(scores), np.nan)
        p_values[known] = self._detector.p_value(scores[known])
        return [self._result(float(score), float(p)) for score, p in zip(scores, p_values, strict=True)]

    def _explained(self, found: Findings) -> list[Answer]:
        answers = [
            self._result(float(s), float(p)) for s, p in zip(found.scores, found.p_values, strict=True)
        ]
        flagged = np.flatnonzero(found.scores >= self._detector.threshold_)
        for row, explanation in zip(flagged.tolist(), found.explanations(flagged), strict=True):
            answers[row][WHY] = str(explanation)
        return answers

    def _result(self, score: float, p_value: float) -> Answer:
        if math.isnan(score):
            return {"score": None, "anomaly": None, "p_value": None, "note": DROPPED}
        return {"score": score, "anomaly": int(score >= self._detector.threshold_), "p_value": p_value}


def reader_for(detector: Detector) -> LineReader:
    """Lines as a detector means them."""
    return LineReader(detector.columns, detector.feature_names, detector.clock, detector.bipartite)


def _pieces(places: Iterable[int], when: Sequence[float | None]) -> list[list[int]]:
    """Neighbours that mean together what they mean alone: of the usual kind (others have no time), and in order."""
    pieces: list[list[int]] = []
    before: float | None = None
    for i in places:
        now = when[i]
        if pieces and now is not None and before is not None and now >= before:
            pieces[-1].append(i)
        else:
            pieces.append([i])
        before = now
    return pieces


def _error(problem: InputError) -> Answer:
    """One sentence, without the middle of an overlong value in it."""
    text = _ROW.sub("The event ", " ".join(str(problem).split()))
    return {"error": text if len(text) <= _MOST else f"{text[: _MOST - 100]} … {text[-97:]}"}


def _echoed(value: Any) -> Any:
    """A value as it came; None for what JSON cannot hold (NaN, infinities, bottomless nesting)."""
    try:
        json.dumps([[value]], allow_nan=False)  # somewhat deeper than it will stand in the answer
    except (ValueError, RecursionError):
        return None
    return value
