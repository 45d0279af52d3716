"""The turns of the chapter on swapping parts."""

from torch import Tensor

from mha_course.practice.turn import numbers, turn


@turn(
    ((numbers(0, 2, 3, 4), numbers(1, 2, 3, 4)),),
    ((numbers(2, 3, 2, 5), numbers(3, 3, 2, 5)),),
    cell=lambda state: state[1][-1].unsqueeze(1),
    first_layer=lambda state: state[0][0].unsqueeze(1),
    no_axis=lambda state: state[0][-1],
    all_layers=lambda state: state[0].transpose(0, 1),
)
def query_of(state: tuple[Tensor, Tensor]) -> Tensor:
    hidden, _ = state  # (layers, batch, hiddens)
    return hidden[-1].unsqueeze(1)  # (batch, 1, hiddens)


@turn(
    (numbers(4, 3, 4).sigmoid(), numbers(5, 3, 4).sigmoid()),
    (numbers(6, 4, 3).sigmoid(), numbers(7, 4, 3).sigmoid()),
    by_test=lambda dev, test: test.mean(1).max(),
    dev_score=lambda dev, test: dev.mean(1).max(),
    luckiest=lambda dev, test: test.mean(1)[dev.amax(1).argmax()],
    each_seed=lambda dev, test: test.gather(0, dev.argmax(0, True)).mean(),
    best_seed=lambda dev, test: test[dev.mean(1).argmax()].max(),
)
def chosen_score(dev: Tensor, test: Tensor) -> Tensor:
    best = dev.mean(dim=1).argmax()
    return test[best].mean()
