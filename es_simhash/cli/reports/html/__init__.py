"""Pages of HTML, each in one file."""
