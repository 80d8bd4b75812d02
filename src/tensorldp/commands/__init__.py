"""The commands of `tensorldp`, one module each."""
