"""The macro language of SillyTavern 1.19 (new and legacy engine) and the native dialect's subset.

`expand` is the door. The modules behind it::

    what a macro may see   view, registry, invocation, run, limits, engine
    the new engine         scanner, simple, nodes, parser, parses, blocks, evaluate, shorthand, steps
    the legacy engine      legacy, legacy_match, legacy_table
    the native dialect     native
    what macros answer     builtin, variables, js_numbers, hashing, dates, moments, durations
    about macros           mentions, help
    from files             scenario, rows
"""
