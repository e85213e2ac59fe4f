"""Shaping message lists: the boolean squash, the post-processing modes, the zones."""
