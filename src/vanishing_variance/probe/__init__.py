"""Figure 1: how far fixed components of the attention outputs of a pretrained transformer spread, against length."""
