"""Asks how the network of network.py would train, on a wafer and on GPUs, and where the time goes."""
import openwafer

network = "network.onnx"

print("training, 1,024 maps a step")
for machine, systems in [("wse2", 1), ("a100-80gb", 8), ("h100", 8)]:
    answer = openwafer.estimate(network, machine=machine, systems=systems, batch=1024)
    print(f"  {systems} x {machine:10} {answer.samples_per_second:7,.0f} maps/s, "
          f"{answer.utilization:3.0%} of the peak, limited by {answer.bound}")

slowest = sorted(openwafer.estimate(network, machine="wse2", batch=1024).layers, key=lambda row: -row.seconds)
print("where the time of the wafer goes")
for row in slowest[:3]:
    print(f"  {row.name:8} {row.phase:9} {row.seconds * 1e3:6.1f} ms")
