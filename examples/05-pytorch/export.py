"""Writes the network of network.py as network-with-weights.onnx, open in the number of maps."""
import torch
from network import Weather

network = Weather().eval()
with torch.no_grad():
    for parameter in network.parameters():
        parameter.normal_(std=0.02)  # the exporter stores equal tensors, such as those of fresh norms, once
torch.onnx.export(network, torch.zeros(1, 32, 128, 256), "network-with-weights.onnx", opset_version=17,
                  input_names=["maps"], output_names=["later"], dynamic_axes={"maps": {0: "batch"}},
                  do_constant_folding=False)
