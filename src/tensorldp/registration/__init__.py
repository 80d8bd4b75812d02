"""How mechanisms, models, data sets, methods and claims become known by name; imports no torch."""
