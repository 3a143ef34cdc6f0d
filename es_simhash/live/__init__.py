"""What runs long on a live index, which others use in the meantime: jobs, and what they show to operators."""
