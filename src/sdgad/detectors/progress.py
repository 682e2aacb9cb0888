"""What a person sees of a long training."""

from __future__ import annotations

from contextlib import AbstractContextManager


class EpochBar(AbstractContextManager["EpochBar"]):
    """A bar for the epoch that is running, on stderr, and a line with loss parts and validation figures for each that is done."""

    def __init__(self, epochs: int, num_batches: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.epochs = epochs
        self.task = self.progress.add_task("", total=num_batches, epoch=f"1/{epochs}")

    def __enter__(self) -> EpochBar:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def step(self) -> None:
        """One more batch."""
        self.progress.advance(self.task)

    def epoch(self, entry: dict[str, float]) -> None:
        """The end of an epoch."""
        shown = "  ".join(
            f"{name} {value:.3f}" for name, value in entry.items() if name not in ("epoch", "select")
        )
        number = int(entry["epoch"])
        self.progress.console.print(f"epoch {number}: {shown}", highlight=False, soft_wrap=True)
        self.progress.update(self.task, completed=0, epoch=f"{min(number + 1, self.epochs)}/{self.epochs}")
