"""``python -m warmstack``: the command line."""

from warmstack.cli import main

main()
