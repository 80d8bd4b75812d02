"""What every stage of a run needs: files written whole, devices, provenance, progress and clear errors."""
