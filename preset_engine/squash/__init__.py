"""Shaping message lists: the boolean squash, the post-processing modes, the zones.

The modules::

    what is shaped       zones, parts, names
    the boolean          system
    the modes            mode, post_process, grouping, shaped
    the native dialect   native, runs
    Anthropic's shape    anthropic_shape, cache_marks
"""
