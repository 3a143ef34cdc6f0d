"""Pages of HTML that are one file each: they need no network, follow the reader's light or dark, and fit a phone."""
