"""What a release consists of, built twice, tried and written into ``dist/``: ``make release-check``."""
