"""Presets: the model, the tolerant importer, the lossless exporter, the skeleton."""
