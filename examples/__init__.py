"""Documents to try things on."""
