"""What commands print: results, progress, findings, and how a run ends."""
