"""``python -m milsim``: the command line."""

from milsim.cli.entry import main

if __name__ == "__main__":
    main()
