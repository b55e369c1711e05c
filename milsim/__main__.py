"""``python -m milsim``: the command line."""

from milsim.cli.main import main

if __name__ == "__main__":
    main()
