"""BERT: bidirectional, learned positions that are added to the tokens' embeddings; without them nothing is added."""

import torch
from transformers import BertModel

from vanishing_variance.probe.families.base import Family

FAMILY = Family(
    model=BertModel,
    options={"add_pooling_layer": False},  # it comes after the last layer, and not every checkpoint has one
    projections=lambda model: [layer.attention.output.dense for layer in model.encoder.layer],
    positions=lambda model: model.embeddings.position_embeddings,
    removed=lambda _, added: torch.zeros_like(added),
)
