"""What runs long on a live index, which others use meanwhile: jobs, and what they show to operators."""
