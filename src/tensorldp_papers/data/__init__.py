"""Data sets: what there is, how its files are fetched and checked, and how they become tensors.

The modules are imported one by one: only the catalogue is light, while preparing needs pandas, scipy and spaCy.
"""
