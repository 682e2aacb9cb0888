"""What every part is worth: SDGAD without one at a time, under the protocol; one JSON line per run.

python benchmarks/ablation.py --rows "payments S1,payments S3,uci S3 clean" --seeds 0,1 --out results/ablation.jsonl
python benchmarks/ablation.py --show results/ablation.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from detection import load
from lines import tell
from rows import ROWS

import sdgad

PARTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "without the residual": {"residual": False},
    "without the restriction": {"restriction": False},
    "without the boundary": {"boundary": "none"},
    "one boundary": {"boundary": "single"},
    "without the flow": {"without": ("flow",)},
    "without the forest": {"without": ("forest",)},
    "without the ellipse": {"without": ("ellipse",)},
    "without the ranks": {"without": ("ranks",)},
    "without the features": {"without": ("features",)},
    "without the contrast": {"without": ("contrast",)},
    "without newcomers": {"without": ("newcomer",)},
    "without strangers": {"without": ("strangers",)},
    "without sudden": {"without": ("sudden",)},
    "without all three": {"without": ("newcomer", "strangers", "sudden")},
    "without the network's odds": {"without": ("odds",)},
    "without trees on labels": {"without": ("trees", "level-trees")},
    "without the last word": {"last_word": False},
    "without floods": {"floods": False},
    "not measured locally": {"local": False},
    "without habits: the network alone": {"habits": False},
}
LABELLED = {
    "without the network's odds",
    "without trees on labels",
    "without the last word",
}  # nothing changes without labels


def show(place: Path) -> None:
    held: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for line in place.read_text().splitlines():
        found = json.loads(line)
        held[found["part"]][found["row"]].append([found["auroc"], found["ap"]])
    rows = list(held["everything"])
    print(f"| | {' | '.join(rows)} |\n|---|{'---|' * len(rows)}")
    for part, by_row in held.items():
        cells = [
            " / ".join(f"{100 * v:.1f}" for v in np.mean(by_row[row], 0)) if by_row[row] else ""
            for row in rows
        ]
        print(f"| {part} | {' | '.join(cells)} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="payments S1,payments S3,uci S3 clean")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--parts", default=",".join(PARTS), help="with commas")
    parser.add_argument("--out", type=Path, help="append to this file too")
    parser.add_argument("--show", type=Path, help="print a table of these lines, and no more")
    given = parser.parse_args()
    if given.show:
        show(given.show)
        return
    for row in map(ROWS.__getitem__, given.rows.split(",")):
        for seed in map(int, given.seeds.split(",")):
            protocol = sdgad.Protocol(row.setting, k=row.k, preset=row.preset, resamples=1)
            trial = protocol.trial(load(row.stream(seed)), seed)
            for part in given.parts.split(","):
                options = PARTS[part]
                if row.setting == "S3" and part in LABELLED:
                    continue
                result = trial.run(sdgad.SDGAD(seed=seed, **row.options, **options))
                figures = {name: result.metrics[name] for name in ("auroc", "ap", "f1")}
                tell({"row": row.name, "part": part, "seed": seed, **figures}, given.out)


if __name__ == "__main__":
    main()
