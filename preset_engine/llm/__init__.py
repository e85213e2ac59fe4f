"""What goes to a model and what comes back: requests, deltas, usage, adapters.

The modules::

    what goes to it     request, abort
    what comes back     stream, text
    a model for tests   scripted
"""
