"""The macros that come with the engine, one module a subject."""
