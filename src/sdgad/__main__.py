"""`python -m sdgad`: the command line, where the `sdgad` script is not on the path."""

from sdgad.cli.main import main

if __name__ == "__main__":
    main()
