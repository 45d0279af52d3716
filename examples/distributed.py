"""The Transformer of the course trained by several processes, each with its share of every batch.

``torchrun --standalone --nproc-per-node 2 examples/distributed.py`` runs two on this machine: on its GPUs
where it has that many, else on the CPU. Without dropout their losses are those of `fit` but for the order of
sums; with it, each process draws for itself.
"""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mha_course.corpus import Batch, Vocabulary, batches, load_corpus
from mha_course.training import masked_loss, seed_everything, shift_right
from mha_course.transformer import Transformer


def main() -> None:
    """Train, and let the first process print the loss of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--pairs", type=int, help="how many pairs to train on; all by default")
    options = parser.parse_args()
    on_gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpus else torch.device("cpu")
    dist.init_process_group("nccl" if on_gpus else "gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()

    pairs = (load_corpus("fr", "train") + load_corpus("fr", "phrases"))[: options.pairs]
    sources, targets = Vocabulary(pair.source for pair in pairs), Vocabulary(pair.target for pair in pairs)
    seed_everything(0)
    model = Transformer(len(sources), len(targets), dropout=options.dropout).to(device)
    replica = DistributedDataParallel(model)  # averages the gradients of all processes
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(options.epochs):
        total, count = torch.zeros((), device=device), 0
        for batch in batches(pairs, sources, targets, 64, seed=epoch):
            tokens = int(batch.target_lens.sum())
            share = Batch(*(part[rank::processes].to(device) for part in batch))
            logits, _ = replica(share.source, shift_right(share.target, targets.bos), share.source_lens)
            loss = masked_loss(logits, share.target, share.target_lens)
            # The average over processes is the mean over tokens when each mean counts as its tokens do.
            loss = loss * share.target_lens.sum() / tokens * processes
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, count = total + loss.detach() * tokens / processes, count + tokens
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch + 1}/{options.epochs}  loss {float(total) / count:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
