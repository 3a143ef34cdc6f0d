"""What runs long on a live index, which others use meanwhile: jobs, a gate, and what they show to operators."""
