"""`sdgad`, and `python -m sdgad` where that script is not on the path: Ctrl-C is heard before all that takes long is imported."""

from sdgad.cli.interruption import leave_at_once


def main() -> None:
    """The entry point of the package."""
    leave_at_once()
    from sdgad.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
