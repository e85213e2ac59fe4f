"""What fills a preset: cards, personas, world books, regex scripts, bags of titled blocks."""
