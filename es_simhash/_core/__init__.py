"""Arrays, digits and threads: what every other folder is built on, with no idea of fingerprints."""
