"""The two stages: reduce (mutations to a transcript) and convert (transcript to a request). Pure."""
