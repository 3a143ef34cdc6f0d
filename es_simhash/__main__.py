"""``python -m es_simhash``: the command line."""

from es_simhash.cli.process import main

if __name__ == "__main__":
    main()
