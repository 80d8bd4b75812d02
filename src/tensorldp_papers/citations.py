"""The five sources that the project reproduces, with their bibliographic data (`docs/references.bib` has the same)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source.

    Attributes:
        short: the name by which code and figures call it.
        title: its full title.
        authors: in the order of the source, "First Last" each.
        year: the year of publication.
        venue: journal, archive or occasion.
        identifier: its DOI or archive number; empty where there is none.
        citation: its key in `docs/references.bib`.
    """

    short: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int = 0
    venue: str = ""
    identifier: str = ""
    citation: str = ""

    @property
    def reference(self) -> str:
        """Authors, title, venue, year and identifier in one line; empty where nothing is known."""
        if not self.title:
            return ""
        return ", ".join(
            filter(None, (f"{', '.join(self.authors)}: {self.title}. {self.venue}", str(self.year), self.identifier))
        )

    @property
    def address(self) -> str:
        """Where the source is on the web; empty where it has no DOI and no archive number."""
        kind, _, number = self.identifier.partition(":")
        resolvers = {"doi": "https://doi.org/", "arXiv": "https://arxiv.org/abs/"}
        return resolvers[kind] + number if kind in resolvers else ""


PAPERS: dict[str, Paper] = {
    "tldp": Paper(
        "TLDP",
        "Local Differential Privacy for Tensors in Distributed Computing Systems",
        ("Yachao Yuan", "Xiao Tang", "Yu Huang", "Yingwen Wu", "Jin Wang"),
        2025,
        "preprint, version 3",
        "arXiv:2502.18227",
        "yuan2025",
    ),
    "tvg": Paper(
        "TVG",
        "Differential Privacy for Tensor-Valued Queries",
        ("Jungang Yang", "Liyao Xiang", "Ruidong Chen", "Weiting Li", "Baochun Li"),
        2022,
        "IEEE Transactions on Information Forensics and Security 17",
        "doi:10.1109/TIFS.2021.3089884",
        "yang2022",
    ),
    "pldp-fl": Paper(
        "PLDP-FL",
        "PLDP-FL: Federated Learning with Personalized Local Differential Privacy",
        ("Xiaoying Shen", "Hang Jiang", "Yange Chen", "Baocang Wang", "Le Gao"),
        2023,
        "Entropy 25(3)",
        "doi:10.3390/e25030485",
        "shen2023",
    ),
    "latent": Paper(
        "LATENT",
        "Local Differential Privacy for Deep Learning",
        ("M. A. P. Chamikara", "P. Bertok", "I. Khalil", "D. Liu", "S. Camtepe"),
        2019,
        "preprint, before version 3",
        "arXiv:1908.02997",
        "chamikara2019",
    ),
    "dp-lecture": Paper(
        "DP lecture",
        "Lecture 13: Differential Privacy (Cont'd)",
        ("Qi Lei", "Aoran Chen"),
        2024,
        "lecture notes, scribe Aoran Chen",
        "",
        "lei2024",
    ),
}


def paper(key: str) -> Paper:
    """The source behind a key; a key that is not known is its own short name, without a title.

    Args:
        key: as in a study's `paper`, such as "tldp".
    """
    return PAPERS.get(key, Paper(key))
