"""Presets: the model, the tolerant importer, the lossless exporter, the skeleton.

`importer` tells the story of one import. The modules by their part in it::

    the model           model, builtin
    bytes to JSON       decode, parse, json_slips, json_repairs, truncation, values
    which file it is    kinds, kind_marks, forms
    JSON to the model   importer, entries, orders, assembly_settings, generation, scripts, native, meanings
    what is odd         notebook, note_codes, review, macro_review, census, regex_check, secrets, diagnostics
    what takes part     skeleton, sanitise
    back to a file      exporter, to_native, to_sillytavern, native_schema, editing
"""
