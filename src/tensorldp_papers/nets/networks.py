"""The small networks by the names that studies give them."""

from __future__ import annotations

import math

from torch import nn

from tensorldp.errors import InputError
from tensorldp_papers.nets.registry import register_model
from tensorldp_papers.nets.small import FCN, MLP, BiLSTM, PldpCNN, SmallCNN
from tensorldp_papers.nets.task import Task, image_layout


@register_model("small_cnn")
def small_cnn(task: Task) -> nn.Module:
    """`SmallCNN` for the task's images."""
    return SmallCNN(*image_layout(task.shape), task.classes)


@register_model("fcn")
def fcn(task: Task) -> nn.Module:
    """`FCN` on flat records."""
    return nn.Sequential(nn.Flatten(), FCN(math.prod(task.shape), task.classes))


@register_model("linear")
def linear(task: Task) -> nn.Module:
    """One linear layer on flat records."""
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(task.shape), task.classes))


@register_model("bilstm")
def bilstm(task: Task) -> nn.Module:
    """`BiLSTM` on rows of token indices."""
    if task.vocabulary < 1:
        raise InputError("the model bilstm takes text: rows of token indices with a vocabulary")
    return BiLSTM(task.vocabulary, task.classes)


@register_model("pldp_cnn")
def pldp_cnn(task: Task) -> nn.Module:
    """`PldpCNN` for the task's images."""
    return PldpCNN(*image_layout(task.shape), task.classes)


@register_model("mlp")
def mlp(task: Task) -> nn.Module:
    """`MLP` on flat records."""
    return nn.Sequential(nn.Flatten(), MLP(math.prod(task.shape), task.classes))


@register_model("mlp_10")
def mlp_10(task: Task) -> nn.Module:
    """TVG's network for a table: ten hidden units."""
    return _one_hidden(task, 10, nn.ReLU())


@register_model("mlp_12")
def mlp_12(task: Task) -> nn.Module:
    """TVG's network for a table: twelve hidden units."""
    return _one_hidden(task, 12, nn.Sigmoid())


def _one_hidden(task: Task, hidden: int, active: nn.Module) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(math.prod(task.shape), hidden), active, nn.Linear(hidden, task.classes)
    )
