"""The desk for review: groups as pages on this machine, and decisions of people about them."""
