from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tensorldp.errors import InputError
from tensorldp_papers.data import catalogue


def test_every_set_of_the_design_is_there() -> None:
    embedded, fetched = "digits breast_cancer", "mnist fashion_mnist cifar10 svhn imdb darknet adult ctg credit"
    parts = {"svhn_10k": "svhn", "darknet_5k": "darknet", "creditcard_55k": "credit"}
    parts |= dict.fromkeys(("imdb_glove", "imdb_glove_short"), "imdb")
    assert set(catalogue.names()) == {*embedded.split(), *fetched.split(), *parts}
    assert {name: catalogue.whole_of(name) for name in [*parts, "mnist", "mine"]} == parts | {
        "mnist": "mnist",
        "mine": "mine",
    }
    assert {name for name in catalogue.names() if catalogue.get(name).embedded} == set(embedded.split())
    assert catalogue.weights_names() == ["mobilenet_v2", "efficientnet_lite2"]


def test_unknown_name_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown data set 'mnits': did you mean 'mnist'"):
        catalogue.get("mnits")
    with pytest.raises(InputError, match="did you mean 'mobilenet_v2'"):
        catalogue.find("mobilenetv2")


CHECKSUM = r"(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}|sha256-prefix:[0-9a-f]{8})?"


@pytest.mark.parametrize("name", [*catalogue.names(), *catalogue.weights_names()])
def test_entries_are_complete(name: str) -> None:
    entry = catalogue.find(name)
    assert entry.note
    assert entry.homepage.startswith("http")
    assert entry.embedded == (not entry.sources)
    for source in entry.sources:
        assert len({file.name for file in source.files}) == len(source.files)
        for file in source.files:
            assert re.fullmatch(r"[a-z0-9_-]+/[\w.-]+", file.path)
            assert re.fullmatch(CHECKSUM, file.checksum or ""), "a checksum, or none"
            assert file.checksum or not file.urls, "nothing is downloaded that cannot be checked"
            # a publisher's address without encryption comes last; the checksum decides either way
            assert not file.urls or file.urls[0].startswith("https://")


def test_checksums_are_torchvisions() -> None:
    from torchvision.datasets import MNIST, SVHN, FashionMNIST

    svhn = {file.name: file.checksum for file in catalogue.get("svhn").files}
    assert svhn == {name: f"md5:{md5}" for _, name, md5 in (SVHN.split_list[key] for key in ("train", "test"))}
    for name, theirs in (("mnist", MNIST), ("fashion_mnist", FashionMNIST)):
        assert {file.name for file in catalogue.get(name).files} == {file for file, _ in theirs.resources}


def test_the_catalogue_is_light() -> None:
    light = "sys.exit(any(m in sys.modules for m in ('pandas', 'torch', 'scipy')))"
    code = f"import sys, tensorldp_papers.data.catalogue; {light}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
