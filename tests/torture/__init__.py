"""Writers that are killed with -9: what `make torture` runs, and the suite in small."""
