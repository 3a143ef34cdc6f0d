"""The long jobs of the command line, without its options and its output."""
