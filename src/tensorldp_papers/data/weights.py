"""The published weights of the catalogue: addresses, checksums and licences."""

from __future__ import annotations

from tensorldp_papers.data.source import File, Source, Weights

WEIGHTS = (
    Weights(
        "mobilenet_v2",
        "https://docs.pytorch.org/vision/stable/models/mobilenetv2.html",
        "ImageNet weights; torchvision BSD-3-Clause, ONNX model zoo Apache-2.0",
        (
            Source(
                "torchvision",
                (
                    File(
                        "mobilenetv2/mobilenet_v2-b0353104.pth",
                        "sha256-prefix:b0353104",
                        ("https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",),
                    ),
                ),
            ),
            Source(
                "ONNX model zoo",
                (
                    File(
                        "mobilenetv2/mobilenet_v2_onnxzoo_bnfolded_features_torchvision_keys.npz",
                        "sha256:210d464be2bbbfc407b3630be1a913cac048394ed453b6c659b22801a39b318c",
                    ),
                ),
                "another checkpoint than torchvision's: batch normalisation folded into float32 convolutions, "
                "no classifier",
            ),
        ),
    ),
)
