"""Results of experiments that take longer than a page may: tables that ``make claims`` writes."""

import csv
from importlib import resources

__all__ = ("stored_results",)


def stored_results(name: str) -> list[dict[str, str | float]]:
    """Read the table of one experiment.

    Parameters
    ----------
    name : str
        The experiment, such as ``"layouts"``; its table lies in the package.

    Returns
    -------
    list of dict
        One dictionary a row, by the names of the columns. What reads as a number is one.

    Examples
    --------
    >>> stored_results("layouts")[0]["direction"]
    'one'
    """
    folder = resources.files("mha_course.data")
    table = folder / f"{name}.tsv"
    if not table.is_file():
        tables = (file.name for file in folder.iterdir() if file.name.endswith(".tsv"))
        known = sorted(name.removesuffix(".tsv") for name in tables)
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    with table.open(encoding="utf-8") as file:
        return [
            {column: number(text) for column, text in row.items()}
            for row in csv.DictReader(file, delimiter="\t")
        ]


def number(text: str) -> str | float:
    """Read a text as a number where it is one: "3" is an integer, "3.0" is not."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
