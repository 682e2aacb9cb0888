"""Tables of `rows.py`'s lines: all figures on the screen, and the tables of README.md and docs/protocol.md in their places.

python benchmarks/rows_table.py results/rows.jsonl
python benchmarks/rows_table.py results/rows.jsonl --write
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rows import OTHERS, OURS, ROWS

ROOT = Path(__file__).parents[1]
NAMES = {"mooc": "MOOC", "wikipedia": "Wikipedia", "uci": "UCI", "enron": "Enron", "darpa": "DARPA",
         "payments": "simulated payments"}  # fmt: skip
SHOWN = ("boosting", "isolation-forest", "classifier")
RULES = ("min-gap", "new-pair")
SAID = {"behind": "behind", "tie": "tie with"}


@dataclass(frozen=True)
class Rows:
    """Lines of runs by row and detector, and of comparisons by row and the other detector."""

    runs: dict[tuple[str, str], list[dict[str, Any]]]
    verdicts: dict[tuple[str, str], dict[str, Any]]

    @classmethod
    def read(cls, place: Path) -> Rows:
        runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        verdicts = {}
        for line in map(json.loads, place.read_text().splitlines()):
            if "detector" in line:
                runs[line["row"], line["detector"]].append(line)
            else:
                verdicts[line["row"], line["against"]] = line
        return cls(dict(runs), verdicts)

    def values(self, row: str, name: str, metric: str) -> list[float]:
        return [line[metric] or 0.0 for line in self.runs.get((row, name), [])]

    def everything(self) -> str:
        """Means and standard deviations of all detectors, and what the comparisons say."""
        lines = ["| row | detector | AUROC | AP | F1 | fit s | SDGAD is |", "|---|---|---|---|---|---|---|"]
        for row in ROWS:
            for name in (OURS, *OTHERS):
                found = self.runs.get((row, name))
                if not found:
                    continue
                cells = [
                    f"{np.mean(values):.4f} ± {np.std(values):.4f}"
                    for values in (self.values(row, name, metric) for metric in ("auroc", "ap", "f1"))
                ]
                against = self.verdicts.get((row, name))
                said = f"{against['auroc'][0]} / {against['ap'][0]}" if against else ""
                seconds = np.mean([line["seconds"]["fit"] for line in found])
                lines.append(
                    f"| {row} ({len(found)}) | {name} | {' | '.join(cells)} | {seconds:.0f} | {said} |"
                )
        return "\n".join(lines)

    def comparison(self) -> str:
        """AUROC ± std / AP in percent, as the README has it."""
        lines = ["| stream, setting (seeds) | sdgad | boosting | isolation forest | classifier | best rule | sdgad is (AUROC) |",
                 "|---|---|---|---|---|---|---|"]  # fmt: skip
        for row in ROWS:
            if (row, OURS) not in self.runs:
                continue
            best = max(RULES, key=lambda rule: np.mean(self.values(row, rule, "auroc") or [0.0]))
            cells = [self._cell(row, name) for name in (OURS, *SHOWN, best)]
            lines.append(
                f"| {title(row)} ({len(self.runs[row, OURS])}) | {' | '.join(cells)} | {self._said(row)} |"
            )
        return "\n".join(lines)

    def _cell(self, row: str, name: str) -> str:
        area, precision = (self.values(row, name, metric) for metric in ("auroc", "ap"))
        if not area:
            return ""
        spread = f" ± {100 * np.std(area):.1f}" if name not in RULES else ""
        return f"{100 * np.mean(area):.1f}{spread} / {100 * np.mean(precision):.2f}"

    def _said(self, row: str) -> str:
        found = {
            name: self.verdicts[row, name]["auroc"][0] for name in OTHERS if (row, name) in self.verdicts
        }
        rest = [f"{SAID[verdict]} {name}" for name, verdict in found.items() if verdict in SAID]
        if not found:
            return ""
        missing = [name for name in SHOWN if name not in found]
        unsaid = f" (not compared: {', '.join(missing)})" if missing else ""
        return (", ".join(rest) or ("ahead of the rest" if missing else "ahead of all")) + unsaid

    def fifths(self) -> str:
        """Percent of the normals above the validation quantile that leaves 1%, by fifths of the test part."""
        lines = ["| stream, setting | 1st fifth | 2nd | 3rd | 4th | 5th |", "|---|---|---|---|---|---|"]
        for row in ROWS:
            if (row, OURS) in self.runs and not row.startswith("darpa"):
                shares = np.mean([line["calibration"]["0.01"] for line in self.runs[row, OURS]], 0)
                lines.append(f"| {title(row)} | {' | '.join(f'{100 * share:.2f}' for share in shares)} |")
        return "\n".join(lines)


def title(row: str) -> str:
    first, *rest = row.split()
    return " ".join([NAMES[first], *rest])


def put(place: Path, mark: str, table: str) -> None:
    """Between two marks of a page."""
    page = place.read_text()
    new, count = re.subn(
        f"<!-- {mark} -->\n.*?<!-- /{mark} -->",
        lambda _: f"<!-- {mark} -->\n{table}\n<!-- /{mark} -->",
        page,
        flags=re.DOTALL,
    )
    assert count == 1, f"{place} has no place for {mark}"
    place.write_text(new)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", type=Path)
    parser.add_argument("--write", action="store_true", help="into README.md and docs/protocol.md as well")
    given = parser.parse_args()
    rows = Rows.read(given.place)
    print(rows.everything())
    if given.write:
        put(ROOT / "README.md", "rows", rows.comparison())
        put(ROOT / "docs" / "protocol.md", "fifths", rows.fifths())


if __name__ == "__main__":
    main()
