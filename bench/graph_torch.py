"""PyTorch's training step of graph_bench: prints images per second (median of the steps)."""
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "graph"))
import networks

model, norm = sys.argv[1:3]
size, batch, steps, threads = (int(a) for a in sys.argv[3:7])
torch.manual_seed(0)
torch.set_num_threads(threads)
net = networks.build(model, norm, 100, dropout=0.2, drop_path=0.2)
net.train()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
images = torch.randn(batch, 3, size, size)
labels = torch.randint(100, (batch,))
if norm == "none":
    networks.calibrate(net, images)
times = []
for step in range(steps + 2):
    began = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    torch.nn.functional.cross_entropy(net(images), labels).backward()
    optimizer.step()
    times.append(time.perf_counter() - began)
print(batch / statistics.median(times[2:]))
