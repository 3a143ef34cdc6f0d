"""The options that commands share, and what they stand for: connections, indices, groups, files and runs."""
