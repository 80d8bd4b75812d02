"""A pytest plugin (`-p shuffle`): files and the tests of each in an order that ORDER_SEED decides."""

import os
import random

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    source = random.Random(os.environ.get("ORDER_SEED", "0"))
    place = {path: source.random() for path in sorted({item.path for item in items})}
    items.sort(key=lambda item: (place[item.path], source.random()))
