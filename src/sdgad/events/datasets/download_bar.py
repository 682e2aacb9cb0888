"""What a person sees of a download."""

from __future__ import annotations

from contextlib import AbstractContextManager


class DownloadBar(AbstractContextManager["DownloadBar"]):
    """A bar on stderr: how much of a file has arrived, how fast, how long it will take; nothing where nobody looks."""

    def __init__(self, name: str, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        console = Console(stderr=True)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(24),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (shown and console.is_terminal),
        )
        self.task = self.progress.add_task(name, total=None)

    def __enter__(self) -> DownloadBar:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def at(self, size: int, total: int | None) -> None:
        """So many bytes of `total` (None: the server does not say) have arrived."""
        self.progress.update(self.task, completed=size, total=total)
