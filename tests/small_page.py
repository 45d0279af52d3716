# ruff: noqa: E501
"""A page of all that a chapter has, on bread, for tests of its form and of how it is shown."""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ANSWERS = "<details><summary>One</summary>\n\n✓ Yes.\n\n</details>\n\n<details><summary>Two</summary>\n\n✗ No.\n\n</details>"
PAGE = """\
%%% text title
# Bread

You will bake one loaf and weigh it.

**You need:** flour.

**Time:** 5 minutes, and 20 more for the exercises.
%%% code setup
%%% text question
## How heavy is a loaf?

It loses water.
%%% code opening hide-input picture
1
%%% text opening-caption
**A loaf.** It is brown.
%%% code imports hide-input
import math

seed = 0
%%% text your-turn-cut
### Your turn: Cut (★, 5 minutes)

Complete `my_cut`.
%%% code attempt-cut untouched
def my_cut(loaf):
    # (loaf,) → (loaf, slice)
    ...


practice.cut.check(my_cut)
%%% text weigh
## Weighing
%%% text predict-loss
> **Predict first.** How much water is lost?
%%% code weigh-code printed
print(math.sqrt(0.5))
%%% text weigh-read
The root is 0.707, or 71 %, and 40,000 loaves weigh more; on other seeds 0.69.
%%% text summary
## What to remember

- Weigh it.
- **Next:** [Bread](bread.ipynb), again.
%%% text quiz-one
## Check yourself

**One?**

ANSWERS
%%% text quiz-two
**Two?**

ANSWERS
%%% text quiz-three
**Three?**

ANSWERS
%%% text exercise-half
## Exercises

### A half (★, 5 minutes)

Cut it.
%%% code solution-half hide-cell
0.5
%%% text exercise-salt
### Salt (★★, 10 minutes)

Add salt.
%%% text solution-salt-why
<details><summary>Solution</summary>

A pinch.

</details>
%%% text checks
## Checks

What the numbers of this page rest on.
%%% code weigh-check claim
root = math.sqrt(0.5)
assert root + seed >= 0.7
%%% text weigh-check-seeds
|  | `seed = 0` | `assert` |
| --- | ---: | ---: |
| `root` | 0.69 | `>= 0.7` |
%%% text references
## References

- A book.""".replace("ANSWERS", ANSWERS)


def page(text: str = PAGE) -> NotebookNode:
    """Return a notebook of text.

    After an id, `picture`, `printed` and `untouched` are outputs, other words are tags.
    """
    made = []
    for block in re.split(r"^%%% ", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        kind, key, *tags = head.split()
        if kind == "text":
            cell = new_markdown_cell(body.strip())
        else:
            outputs = []
            if "picture" in tags:
                size = {"image/png": {"width": 400, "height": 300}} if "blurred" not in tags else {}
                outputs = [new_output("display_data", {"image/png": "aGk="}, metadata=size)]
            if "printed" in tags:
                outputs = [new_output("stream", name="stdout", text="0.70711\n")]
            if "untouched" in tags:
                outputs = [new_output("stream", name="stdout", text="…\n")]
            kept = [tag for tag in tags if tag not in ("picture", "blurred", "printed", "untouched")]
            cell = new_code_cell(body.strip(), outputs=outputs, execution_count=1, metadata={"tags": kept})
        cell["id"] = key
        made.append(cell)
    return new_notebook(cells=made)
