"""A network of our own: the weather of the next hours from that of now, as patches of a map."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):  # (B, T, C)
        b, t, c = x.shape
        q, k, v = self.qkv(self.before_attention(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        shares = (q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5).softmax(-1)
        x = x + self.out((shares @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.before_mlp(x))


class Weather(nn.Module):
    """(B, fields, 128, 256), a global map in steps of 1.4 degrees, to the same map later."""

    def __init__(self, fields=32, width=768, heads=12, blocks=12, patch=8):
        super().__init__()
        self.patches = nn.Conv2d(fields, width, patch, patch)
        self.place = nn.Parameter(torch.zeros(1, (128 // patch) * (256 // patch), width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.head = nn.Linear(width, fields * patch * patch)

    def forward(self, maps):
        tokens = self.patches(maps).flatten(2).transpose(1, 2) + self.place
        return self.head(self.blocks(tokens))
