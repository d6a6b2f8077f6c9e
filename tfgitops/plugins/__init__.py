"""The way to the plugins: found, joined into one schema, asked in order, and no one of them able to break the rest."""
