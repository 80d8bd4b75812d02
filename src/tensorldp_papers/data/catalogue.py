"""Data sets and weights by name: addresses, checksums, licences. Light, as the workflow imports it at every start."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar

from tensorldp.errors import InputError, check_whole, unknown
from tensorldp.registry import Registry
from tensorldp_papers.registries import PARSERS

__all__ = [
    "Copies",
    "Dataset",
    "File",
    "Source",
    "Weights",
    "find",
    "get",
    "names",
    "register_dataset",
    "weights_names",
    "whole_of",
]


KINDS = ("image", "tabular", "text")
RESOLVED = 1e-6  # of a range: the largest step of float32 that still resolves it


def float32_resolves(low: float, high: float) -> bool:
    """Returns whether float32, in which records are kept, resolves a millionth of a range of elements."""
    largest = max(abs(low), abs(high))
    step = math.ldexp(1.0, max(math.frexp(largest)[1] - 24, -149))  # between neighbours
    return largest < 2.0**127 and step <= RESOLVED * (high - low)


@dataclass(frozen=True)
class File:
    """One file as its publisher or a mirror offers it.

    Attributes:
        path: where a mirror folder holds it, `folder/name`.
        checksum: `sha256:<hex>`, `md5:<hex>` or `sha256-prefix:<hex>`; None where neither bytes nor a published hash
            exist, then the user supplies the file and its SHA-256 is recorded at first use.
        urls: the publisher's addresses, tried in order; none if the user has to supply the file.
        optional: the data set can be prepared without it.
    """

    path: str
    checksum: str | None
    urls: tuple[str, ...] = ()
    optional: bool = False

    @property
    def name(self) -> str:
        """Returns the file name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Source:
    """A set of files that is enough for a data set.

    Attributes:
        label: the name of the source in source.json and in the metadata of prepared files.
        files: all of them are needed except the optional ones.
        deviation: how the bytes differ from the publisher's release; empty if they do not.
    """

    label: str
    files: tuple[File, ...]
    deviation: str = ""

    @property
    def required(self) -> tuple[File, ...]:
        """Returns the files that the source cannot do without."""
        return tuple(file for file in self.files if not file.optional)

    @property
    def downloadable(self) -> bool:
        """Returns whether every required file has an address."""
        return all(file.urls for file in self.required)


@dataclass(frozen=True)
class Copies:
    """How many records of a prepared data set equal others in every element.

    Attributes:
        seen: test records that are also in training.
        relabelled: of those, the ones that have no training record with the same label.
        repeated: training records that repeat an earlier one.
    """

    seen: int
    relabelled: int
    repeated: int

    def __str__(self) -> str:
        return (
            f"test records that are also in training: {self.seen:,} (only with another label: {self.relabelled:,}); "
            f"training records that repeat another: {self.repeated:,}"
        )


@dataclass(frozen=True)
class Dataset:
    """One data set and what `prepare` makes of it.

    Attributes:
        name: the key in config and folders.
        kind: image, tabular or text.
        classes: number of classes; labels are 0 .. classes - 1.
        shape: the shape of one record; for `darknet` an upper bound, because columns that are constant in training are
            dropped.
        low, high: public range of one element; infinite where standardising leaves none.
        sizes: records in train and test.
        homepage: the publisher's page.
        note: licence and citation.
        deviation: how the prepared tensors differ from the release or from the papers' preparation.
        sources: where the files come from, the best first; empty if embedded.
        embedded: it comes inside a library that is installed, nothing is fetched.
        part_of: the data set of which it is a part; empty if it is whole.
        copies: what `prepare` reports with seed 0; None where nobody has counted. It is no part of `deviation`, which
            stands in the prepared files: their bytes are in the keys of results.

    Raises:
        InputError: if a value is out of range.
    """

    name: str
    kind: str
    classes: int
    shape: tuple[int, ...]
    low: float
    high: float
    sizes: tuple[int, int]
    homepage: str
    note: str
    deviation: str = ""
    sources: tuple[Source, ...] = ()
    embedded: bool = False
    part_of: str = ""
    copies: Copies | None = None

    def __post_init__(self) -> None:
        what = f"the data set {self.name}"
        if self.kind not in KINDS:
            raise unknown(f"kind of {what}", self.kind, KINDS)
        check_whole(f"classes of {what}", self.classes, low=2)
        for size in (*self.shape, *self.sizes):
            check_whole(f"shape and sizes of {what}", size, low=1)
        if not self.shape or len(self.sizes) != 2:
            raise InputError(f"{what} needs the shape of a record and two sizes, got {self.shape} and {self.sizes}")
        if not self.low < self.high:
            raise InputError(f"{what} needs low < high, got low {self.low} and high {self.high}")
        if math.isfinite(self.high - self.low) and not float32_resolves(self.low, self.high):
            raise InputError(
                f"{what} has the range [{self.low}, {self.high}], which float32, in which records are kept, does not "
                "resolve: scale them in float64 before"
            )
        if self.embedded == bool(self.sources):
            raise InputError(f"{what} must either be embedded or have sources")

    @property
    def files(self) -> tuple[File, ...]:
        """Returns the files of all sources."""
        return tuple(file for source in self.sources for file in source.files)


@dataclass(frozen=True)
class Weights:
    """Pretrained weights, fetched like a data set: one file in each source."""

    name: str
    homepage: str
    note: str
    sources: tuple[Source, ...]
    embedded: bool = False


def _files(folder: str, checksums: dict[str, str], *addresses: str) -> tuple[File, ...]:
    return tuple(
        File(f"{folder}/{name}", checksum, tuple(address + name for address in addresses))
        for name, checksum in checksums.items()
    )


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
HOUSE_NUMBERS = "://ufldl.stanford.edu/housenumbers/"
# GloVe has no published hash and 822 MB: whoever wants its indices supplies one of the two
GLOVE = (File("glove/glove.6B.100d.txt", None, optional=True), File("glove/glove.6B.zip", None, optional=True))
IMDB_LABELLED = {"aclImdb_labeled.tar.xz": "sha256:861e8603cf06c39caa18bb2a097add340247117e57eac1bdc663c48418fdae30"}
LABELLED = "the labelled reviews alone, put together from public copies, 8 of them restored from a second one"
GLOVE_50D = Source(
    "mirror subset",
    _files("imdb", IMDB_LABELLED)
    + _files(
        "glove",
        {"glove.6B.50d.first100000.txt.xz": "sha256:fe15ef72855f9838987d7da630b7fdc9f558f2725024c13e94bf157de5501e05"},
    ),
    LABELLED,
)
PART_OF_GLOVE = (
    "indices are lines of GloVe 6B 50d, of which the 100,000 most frequent of 400,000 words are used, others have "
    "index 0; vectors of 50 numbers, where the network has 100 and the papers name no number; spaCy English tokens in "
    "lower case, <br /> taken out; classes alternate"
)
WITH_GLOVE = "Maas et al. 2011; no formal licence, research use; GloVe: Pennington, Socher, Manning 2014, PDDL 1.0"
ADULT_NAMES = {"adult.names": "sha256:c248284c0b5de30c9e1958d6cdd168a34a654758b620e68f46aefa83fc0a576a"}
NO_COPIES = Copies(0, 0, 0)
TRAIN_ONLY = "standardised with the statistics of the training split alone"

# fmt: off
WEIGHTS = (
    Weights("mobilenet_v2",
            "https://docs.pytorch.org/vision/stable/models/mobilenetv2.html",
            "ImageNet weights; torchvision BSD-3-Clause, ONNX model zoo Apache-2.0",
            (Source("torchvision", _files(
                 "mobilenetv2",
                 {"mobilenet_v2-b0353104.pth": "sha256-prefix:b0353104"},
                 "https://download.pytorch.org/models/")),
             Source("ONNX model zoo", _files("mobilenetv2", {
                 "mobilenet_v2_onnxzoo_bnfolded_features_torchvision_keys.npz":
                 "sha256:210d464be2bbbfc407b3630be1a913cac048394ed453b6c659b22801a39b318c"}),
                 "another checkpoint than torchvision's: batch normalisation folded into float32 convolutions, "
                 "no classifier"))),
    Weights("efficientnet_lite2",
            "https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite",
            "ImageNet weights, Tan and Le 2019; Apache-2.0",
            (Source("mirror re-encoding", _files("efficientnet_lite2", {
                 "efficientnet_lite2_fp16conv.npz":
                 "sha256:64b63839c0bc67ebe5f6475a0ed35560e461f435e0a5913ff6016f030e82ba0e"}),
                 "a public PyTorch conversion; convolutions and classifier in float16"),)),
)

# name, kind, classes, shape, low, high, sizes; homepage; note; deviation; sources
ENTRIES = (
    Dataset("digits", "image", 10, (8, 8), 0, 16, (1437, 360),
            "https://scikit-learn.org/stable/datasets/toy_dataset.html",
            "the test part of UCI Optical Recognition of Handwritten Digits (Alpaydin, Kaynak 1998), CC BY 4.0",
            "stratified 80/20 split of the 1797 images",
            embedded=True,
            copies=NO_COPIES),
    Dataset("breast_cancer", "tabular", 2, (30,), -math.inf, math.inf, (455, 114),
            "https://scikit-learn.org/stable/datasets/toy_dataset.html",
            "UCI Breast Cancer Wisconsin (Diagnostic) (Wolberg, Mangasarian, Street 1995), CC BY 4.0",
            f"stratified 80/20 split; {TRAIN_ONLY}",
            embedded=True,
            copies=NO_COPIES),
    # torchvision states the MD5 of the same bytes; the SHA-256 were taken from copies that match it
    Dataset("mnist", "image", 10, (28, 28), 0, 255, (60000, 10000),
            "http://yann.lecun.com/exdb/mnist/",
            "LeCun, Cortes, Burges; CC BY-SA 3.0 as commonly stated",
            sources=(Source("publisher", _files("mnist", {
                "train-images-idx3-ubyte.gz": "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "train-labels-idx1-ubyte.gz": "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "t10k-images-idx3-ubyte.gz": "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "t10k-labels-idx1-ubyte.gz": "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
                "http://yann.lecun.com/exdb/mnist/")),),
            copies=NO_COPIES),
    Dataset("fashion_mnist", "image", 10, (28, 28), 0, 255, (60000, 10000),
            "https://github.com/zalandoresearch/fashion-mnist",
            "Xiao, Rasul, Vollgraf 2017; MIT",
            sources=(Source("publisher", _files("fashion-mnist", {
                "train-images-idx3-ubyte.gz": "sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                "train-labels-idx1-ubyte.gz": "sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                "t10k-images-idx3-ubyte.gz": "sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                "t10k-labels-idx1-ubyte.gz": "sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"},
                "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/")),),
            copies=NO_COPIES),
    # the binary version: the python version is a pickle; its MD5 is on the publisher's page.
    # Raw uint8 images and labels are what a mirror may hold in place of the archive.
    Dataset("cifar10", "image", 10, (32, 32, 3), 0, 255, (50000, 10000),
            "https://www.cs.toronto.edu/~kriz/cifar.html",
            "Krizhevsky 2009; no formal licence, research use",
            sources=(Source("publisher", _files(
                         "cifar10",
                         {"cifar-10-binary.tar.gz": "md5:c32a1d4ab5d03f1284b67883e8d87530"},
                         "https://www.cs.toronto.edu/~kriz/")),
                     Source("mirror re-encoding", _files("cifar10", {
                         "data_batch_1_images_u8_10000x32x32x3.bin.xz":
                         "sha256:a2df580f73535a37c1b5260f2c37112d9305181af8a91b18c1ead7b3273d6fc4",
                         "data_batch_2_images_u8_10000x32x32x3.bin.xz":
                         "sha256:aa9d9ed9fbcb5af2062c9189001d712d9baf3206cb61ed86c02119a63b41a429",
                         "data_batch_3_images_u8_10000x32x32x3.bin.xz":
                         "sha256:ba30b8381c17899f2df53a2cd77a4cbcecfcfe9317844d3e68ba7f256953d347",
                         "data_batch_4_images_u8_10000x32x32x3.bin.xz":
                         "sha256:9884c5b4b8cee34c6cbd7d0aed0b461723a5e0ac8131c6eef2a7478faa1f210d",
                         "data_batch_5_images_u8_10000x32x32x3.bin.xz":
                         "sha256:fdb09d23ca893d909ff5f9615bd3d0c93dcbec7a0b85d0e300bad80086f28896",
                         "test_batch_images_u8_10000x32x32x3.bin.xz":
                         "sha256:93b12c38a37b5fe8876670cfc3f560788b289a6ba73a1374e8967aa6da971076",
                         "train_labels_u8_50000.bin":
                         "sha256:2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
                         "test_labels_u8_10000.bin":
                         "sha256:cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5"}),
                         "raw pixels put together from public copies; 114 training and 25 test images are JPEG copies, "
                         "the others are lossless")),
            copies=NO_COPIES),
    Dataset("svhn", "image", 10, (32, 32, 3), 0, 255, (73257, 26032),
            "http://ufldl.stanford.edu/housenumbers/",
            "Netzer et al. 2011; non-commercial use",
            "label 10 of the release is class 0",
            (Source("publisher", _files("svhn", {
                "train_32x32.mat": "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
                "test_32x32.mat": "md5:eb5a983be6a315427106f1b164d9cef3"},
                f"https{HOUSE_NUMBERS}", f"http{HOUSE_NUMBERS}")),)),
    Dataset("svhn_10k", "image", 10, (32, 32, 3), 0, 255, (8000, 2000),
            "http://ufldl.stanford.edu/housenumbers/",
            "Netzer et al. 2011; non-commercial use",
            "10,000 of SVHN's 99,289 images: the first of its test file, of which the first 8,000 train and the last "
            "2,000 test; label 10 of the release is class 0",
            (Source("mirror subset", _files("svhn", {
                "test_first10000_images_u8_10000x32x32x3.bin.xz":
                "sha256:73d41d012a45d8d07b595a7be4500416db7b42a972185c90639e397317d97635",
                "test_first10000_labels_u8_10000.bin":
                "sha256:7fe9bcc87dca833901548fff86f3af5d1dccf069e726ecef367b4a1476542ddf"}),
                "the first 10,000 of the test images, lossless pixels put together from a public copy"),),
            part_of="svhn",
            copies=NO_COPIES),
    Dataset("imdb", "text", 2, (500,), 0, 400_000, (25000, 25000),
            "https://ai.stanford.edu/~amaas/data/sentiment/",
            "Maas et al. 2011; no formal licence, research use",
            "spaCy English tokens in lower case, <br /> taken out, the first 500 of a review, padded with index 0; "
            "classes alternate",
            (Source("publisher", (*_files(
                 "imdb",
                 {"aclImdb_v1.tar.gz": "md5:7c2ac02c03563afcf9b574c7e56c153a"},
                 "https://ai.stanford.edu/~amaas/data/sentiment/"), *GLOVE)),
             Source("mirror subset", (*_files("imdb", IMDB_LABELLED), *GLOVE), LABELLED)),
            copies=Copies(123, 0, 99)),
    Dataset("imdb_glove", "text", 2, (500,), 0, 100_000, (25000, 25000),
            "https://ai.stanford.edu/~amaas/data/sentiment/",
            WITH_GLOVE,
            f"the first 500 tokens of a review, padded with index 0; {PART_OF_GLOVE}",
            (GLOVE_50D,),
            part_of="imdb",
            copies=Copies(123, 0, 99)),
    Dataset("imdb_glove_short", "text", 2, (50,), 0, 100_000, (25000, 1000),
            "https://ai.stanford.edu/~amaas/data/sentiment/",
            WITH_GLOVE,
            "the last 50 tokens of a review in the place of the first 500, padded with index 0; the first 1,000 of "
            f"25,000 test reviews; {PART_OF_GLOVE}",
            (GLOVE_50D,),
            part_of="imdb",
            copies=Copies(15, 0, 112)),
    Dataset("darknet", "tabular", 4, (79,), -math.inf, math.inf, (113184, 28297),
            "https://www.unb.ca/cic/datasets/darknet2020.html",
            "CIC-Darknet2020, Habibi Lashkari, Kaur, Rahali 2020; research use, cite the paper",
            "rows with NaN or infinite values dropped; Tor cut into 200 segments among the shuffled rest, first 80 % "
            f"for training (reconstructed); columns that are constant in training dropped; {TRAIN_ONLY}",
            (Source("publisher", (File("darknet/Darknet.CSV", None),)),)),
    Dataset("darknet_5k", "tabular", 8, (9,), -math.inf, math.inf, (4000, 1000),
            "https://www.unb.ca/cic/datasets/darknet2020.html",
            "CIC-Darknet2020, Habibi Lashkari, Kaur, Rahali 2020; research use, cite the paper",
            "5,000 of CIC-Darknet2020's 141,530 flows, drawn at random, with 9 of their features; classes are the "
            "eight applications, as the four kinds of traffic are merged into two there, of which one has 83 % of the "
            f"flows; stratified 80/20 split; {TRAIN_ONLY}",
            (Source("mirror subset", _files("darknet2020", {
                "darknet2020_sample5000.csv.xz":
                "sha256:1c15532ce38c0e775749f825070f74153f2e0b6c32a21d3a16c218f7685e00ee"}),
                "a public sample, whose infinite and missing values its publisher replaced"),),
            part_of="darknet",
            copies=Copies(94, 16, 202)),
    Dataset("adult", "tabular", 2, (105,), 0, math.inf, (32561, 16281),
            "https://archive.ics.uci.edu/dataset/2/adult",
            "UCI Adult, Becker, Kohavi 1996; CC BY 4.0",
            "continuous columns divided by twice their training mean (the source takes the mean over train and test); "
            "unknown categories are all zero",
            (Source("publisher", _files("adult", {
                "adult.data": "sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                "adult.test": "sha256:a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                **ADULT_NAMES}, f"{UCI}adult/")),
             Source("mirror re-encoding", (*_files("adult", {
                "adult.data.xz": "sha256:03c5722d4eaeaa2962f81284344def3c5150dadc6ddf841fcbb57f233371445c",
                "adult.test.xz": "sha256:45248f451a46bace9a234ece542aeadb66ea52e3c078f136d4b2c069cb38b1cd"}),
                *_files("adult", ADULT_NAMES, f"{UCI}adult/")),
                "the same text, compressed")),
            copies=Copies(26, 3, 25)),
    Dataset("ctg", "tabular", 3, (21,), -1, 1, (1700, 426),
            "https://archive.ics.uci.edu/dataset/193/cardiotocography",
            "UCI Cardiotocography, Campos, Bernardes 2000; CC BY 4.0",
            "stratified 80/20 split; columns scaled to [-1, 1] by their training range, test values clipped to it",
            (Source("publisher", _files(
                "ctg",
                {"CTG.xls": "sha256:d6aa62e82625e59f9d5b05bc8fc52af9ea67bdf2a23f1faca8511d5618fcb421"},
                f"{UCI}00193/")),),
            copies=Copies(2, 0, 12)),
    Dataset("credit", "tabular", 2, (28,), -math.inf, math.inf, (199364, 85443),
            "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud",
            "Dal Pozzolo et al. 2015; Open Database License",
            f"V1 to V28; stratified 70/30 split; {TRAIN_ONLY}",
            (Source("publisher", (File("credit/creditcard.csv", None),)),)),
    Dataset("creditcard_55k", "tabular", 2, (28,), -math.inf, math.inf, (25619, 10980),
            "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud",
            "Dal Pozzolo et al. 2015; Open Database License",
            "36,599 of 284,807 rows of the credit card data: all 492 frauds and a near uniform sample of the others, "
            f"so 1.3 % are frauds and not 0.17 %; V1 to V28; stratified 70/30 split; {TRAIN_ONLY}",
            (Source("mirror subset", _files("creditcard", {
                "creditcard_subset.csv.xz": "sha256:8bdbc4b6e9009b8b6c01252fbbe927d5e1f0eb800ddb71ec43d14b144f2fd7b8",
                "part_u8.bin": "sha256:c03c3c13b5cfb715b8c300ee18ce7c2531befd856380164e3ede687a8b56814d"}),
                "55,307 rows put together from partial public copies, of which those that are no random sample of the "
                "rows without fraud are left out"),),
            part_of="credit",
            copies=Copies(135, 0, 184)),
)
# fmt: on


P = TypeVar("P")
DATASETS: Registry[Dataset] = Registry("data set", group="tensorldp.datasets")
for _entry in ENTRIES:
    DATASETS.add(_entry.name, _entry)
_WEIGHTS = {weights.name: weights for weights in WEIGHTS}


def register_dataset(entry: Dataset) -> Callable[[P], P]:
    """Makes a data set known, from outside the package; use as a decorator of its parser.

    The parser is called with the data set's files by name and `data.split.Options`, and gives a `Parsed`.

    Raises:
        InputError: if a data set of that name is known already.
    """

    def register(parser: P) -> P:
        PARSERS.add(entry.name, parser)
        DATASETS.add(entry.name, entry)
        return parser

    return register


def names() -> list[str]:
    """Returns the names of all data sets, sorted."""
    return DATASETS.names()


def weights_names() -> list[str]:
    """Returns the names of all pretrained weights."""
    return list(_WEIGHTS)


def get(name: str) -> Dataset:
    """Returns the data set of that name."""
    return DATASETS.get(name)


def whole_of(name: str) -> str:
    """Returns the data set of which one is a part; the name itself if it is whole or not in the catalogue."""
    return (name in names() and get(name).part_of) or name


def find(name: str) -> Dataset | Weights:
    """Returns the data set or the weights of that name."""
    if name in _WEIGHTS:
        return _WEIGHTS[name]
    if name not in names():
        raise unknown("data set", name, [*names(), *_WEIGHTS])
    return get(name)
