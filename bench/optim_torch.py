"""PyTorch's AdamW on the sizes of optim_bench: prints milliseconds per step (median)."""
import statistics
import sys
import time

import torch

threads, blocks, per_block = (int(a) for a in sys.argv[1:4])
torch.set_num_threads(threads)
params = [torch.zeros(per_block, requires_grad=True) for _ in range(blocks)]
for p in params:
    p.grad = torch.full((per_block,), 1e-3)
optimizer = torch.optim.AdamW(params)
times = []
for step in range(12):
    began = time.perf_counter()
    optimizer.step()
    times.append(time.perf_counter() - began)
print(1e3 * statistics.median(times[2:]))
