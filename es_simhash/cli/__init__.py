"""The command line: each command parses its options, calls one verb of the library, and prints what came of it."""
