"""What fills a preset: cards, personas, world books, regex scripts, bags of titled blocks.

The modules::

    values                   content, check, card, png
    bags, and ways to them   bags, segments, framing
"""
