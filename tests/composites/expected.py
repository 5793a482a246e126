#!/usr/bin/env python3
"""Prints expected.h: what PyTorch computes for the composites, in float64.

usage: python3 tests/composites/expected.py > tests/composites/expected.h   (PyTorch 2.5 or newer)
"""
import math

import torch
import torch.nn.functional as F


def scrambled(*shape, modulus=17, shift=8, scale=4.0):
    """Element i is ((i * i + 3 * i) % modulus - shift) / scale, as scrambled() of composite_test.cpp."""
    n = math.prod(shape)
    values = [((i * i + 3 * i) % modulus - shift) / scale for i in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


def show(name, tensor):
    numbers = ", ".join(repr(x) for x in tensor.detach().flatten().tolist())
    print(f"inline const std::vector<double> {name} = {{{numbers}}};")


def show_with_grads(name, y, cotangent, inputs):
    show(name, y)
    for label, grad in zip(inputs, torch.autograd.grad(y, list(inputs.values()), cotangent)):
        show(f"{name}_{label}", grad)


def norms():
    x, scale, bias = scrambled(2, 3, 5), scrambled(5, modulus=7, shift=2), scrambled(5, modulus=5)
    dy = scrambled(2, 3, 5, modulus=11, shift=5)
    show_with_grads("LayerNorm", F.layer_norm(x, (5,), scale, bias, 1e-3), dy,
                    {"dx": x, "dscale": scale, "dbias": bias})
    y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-3) * scale
    show_with_grads("RmsNorm", y, dy, {"dx": x, "dscale": scale})
    x, scale, bias = scrambled(2, 3, 4), scrambled(3, modulus=7, shift=2), scrambled(3, modulus=5)
    dy = scrambled(2, 3, 4, modulus=11, shift=5)
    y = F.batch_norm(x, None, None, scale, bias, training=True, eps=1e-3)
    show_with_grads("BatchNorm", y, dy, {"dx": x, "dscale": scale, "dbias": bias})
    show("BatchNorm_mean", x.mean((0, 2)))
    show("BatchNorm_variance", x.var((0, 2), unbiased=False))


def pointwise():
    x, dy = scrambled(2, 5), scrambled(2, 5, modulus=11, shift=5)
    show_with_grads("Softmax", F.softmax(x, -1), dy, {"dx": x})
    show_with_grads("GeluNone", F.gelu(x), dy, {"dx": x})
    show_with_grads("GeluTanh", F.gelu(x, approximate="tanh"), dy, {"dx": x})


def attention():
    """2 batches, 4 query heads on 2 key heads, 3 queries, 5 keys, width 2, values of width 3."""
    q, k = scrambled(2, 4, 3, 2), scrambled(2, 2, 5, 2, modulus=13, shift=6)
    v = scrambled(2, 2, 5, 3, modulus=19, shift=9)
    bias = scrambled(2, 1, 3, 5, modulus=11, shift=5).detach()
    dy = scrambled(2, 4, 3, 3, modulus=7, shift=3)
    inputs = {"dq": q, "dk": k, "dv": v}
    y = F.scaled_dot_product_attention(q, k, v, scale=0.7, enable_gqa=True)
    show_with_grads("Attention", y, dy, inputs)
    # The last query sees all keys: is_causal of PyTorch lines up the first ones instead.
    hidden = torch.ones(3, 5, dtype=torch.bool).triu(diagonal=3)
    mask = bias.masked_fill(hidden, -math.inf)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.7, enable_gqa=True)
    show_with_grads("AttentionMasked", y, dy, inputs)


def cross_entropy():
    logits, labels = scrambled(4, 5), torch.tensor([3, -100, 0, 4])
    dloss = scrambled(4, modulus=7, shift=2).detach()
    loss = F.cross_entropy(logits, labels, reduction="none")
    show_with_grads("CrossEntropy", loss, dloss, {"dlogits": logits})


print("#pragma once")
print(f"// Written by tests/composites/expected.py with PyTorch {torch.__version__.split('+')[0]}.")
print("// clang-format off")
print("#include <vector>")
norms()
pointwise()
attention()
cross_entropy()
