"""The reproduction of five sources, built on the library `tensorldp`, which never imports it."""
