"""The report's page: its templates, styles, scripts, and the stored curves of its calculator."""
