"""English, the language of the pages."""
