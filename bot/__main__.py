"""`python -m bot` is `assay`."""

from bot.cli import main

if __name__ == "__main__":
    main()
