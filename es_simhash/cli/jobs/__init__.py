"""The long jobs of the command line, without options or terminal output."""
