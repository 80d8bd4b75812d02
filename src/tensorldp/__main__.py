"""`python -m tensorldp`: questions to the library from a terminal."""

from tensorldp.commands.main import main

if __name__ == "__main__":
    main()
