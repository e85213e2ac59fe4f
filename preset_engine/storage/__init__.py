"""Four back ends of the storage protocols: memory, files, SQLite, PostgreSQL."""
