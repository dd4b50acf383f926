"""Two ranks under DistributedDataParallel against one process with the whole batch."""

import sys
import tempfile
import unittest
from pathlib import Path

from support import Case, torch_or_skip

torch = torch_or_skip()

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing  # noqa: E402
from torch import nn  # noqa: E402

from stablegrad import StableGrad  # noqa: E402

RANKS, STEPS = 2, 5


def make_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(),
                         nn.Linear(8, 1)).double()


def batch(step):
    return torch.rand(12, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(step))


def steps(model, share, group, reference, backend):
    """Trains on this rank's share of each batch; [reference scale, first factor] of each step,
    and the final parameters."""
    sg = StableGrad(model, reference=reference, backend=backend, process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    log = []
    for step in range(STEPS):
        x = batch(step)[share]
        optimizer.zero_grad()
        u = model(x)
        d = u - torch.sin(5 * x[:, :1])
        d.square().mean().backward()
        r = (2 / d.numel()) ** 0.5 * d
        report = sg.apply(u, residual=r)
        optimizer.step()
        log.append([report.reference, report.blocks[0].factor])
    return torch.tensor(log), torch.cat([p.detach().flatten() for p in model.parameters()])


def rank_main(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=RANKS)
    results = {}
    for reference in ("output", "residual"):
        for backend in ("c", "torch"):
            model = nn.parallel.DistributedDataParallel(make_model())
            share = slice(rank * 6, rank * 6 + 6)
            results[reference, backend] = steps(model, share, dist.group.WORLD, reference, backend)
    # One rank without outputs is no mistake; a signal that is not finite on one stops both.
    model = make_model()
    sg = StableGrad(model, process_group=dist.group.WORLD)
    u = model(batch(0))
    u.square().mean().backward()
    results["one rank"] = sg.apply(u if rank == 0 else []).outcome
    u = model(batch(0))
    (u * (float("nan") if rank == 1 else 1.0)).square().mean().backward()
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    results["nan"] = sg.apply(u).outcome
    torch.save(results, Path(folder) / f"rank{rank}")
    dist.destroy_process_group()


@unittest.skipUnless(dist.is_available() and dist.is_gloo_available(), "gloo is not available")
class RanksTest(Case):
    def test_two_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(rank_main, (folder,), nprocs=RANKS)
            results = [torch.load(Path(folder) / f"rank{rank}") for rank in range(RANKS)]
        for rank in results:
            self.assertEqual((rank["one rank"], rank["nan"]), ("scaled", "not finite"))
            for reference in ("output", "residual"):
                log, values = steps(make_model(), slice(None), None, reference, "c")
                for backend in ("c", "torch"):
                    log_of_rank, values_of_rank = rank[reference, backend]
                    self.assert_relative(log_of_rank, log, 1e-10)
                    self.assert_relative(values_of_rank, values, 1e-10)


if __name__ == "__main__":
    if not dist.is_available():
        print("skipped: torch.distributed is not available")
        sys.exit(77)
    unittest.main()
