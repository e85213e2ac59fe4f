"""Request logs: our own line, its writer, and readers for the shapes people have."""
