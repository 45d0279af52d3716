"""Carry code, outputs, tags and order from English to every language; prose stays the language's own."""

import copy
import json
import os
from collections.abc import Collection, Iterator

from nbformat import NotebookNode

from tools.cells import (
    LEVELS_TABLE,
    TERMS_TABLE,
    TIMES_TABLE,
    Role,
    check_id,
    is_generated,
    role_of,
    with_roles,
)
from tools.course import Course, CourseError, cells

from . import drawings, executed, generated, glossary, package, pictures, times
from .lock import Entry, Lock, cell_state, read_lock, write_lock
from .markup import table
from .records import digest

KEPT_METADATA = ("tags", "jupyter", "cellView")
PICTURE_METADATA = ("height", "width")
TABLES = {TERMS_TABLE: glossary.table, TIMES_TABLE: times.table, LEVELS_TABLE: times.levels}


def code_digest(notebook: NotebookNode) -> str:
    """Digest the code that makes outputs: not the set-up cell, which follows the repository's address."""
    code = [cell.source for cell in cells(notebook, "code").values() if role_of(cell) is not Role.SETUP]
    return digest(json.dumps(code))


def derived(course: Course, stem: str, notebook: NotebookNode) -> dict[str, str]:
    """Return the source of each generated cell."""
    tables = {key: seeds_table(course, stem, key) for key in with_roles(notebook.cells, Role.SEEDS)}
    setup = {str(Role.SETUP): course.setup_code} if course.package else {}
    for key in TABLES.keys() & cells(notebook).keys():
        tables[key] = generated_text(course, course.source, key, "")
    sources = package.shown_sources(course, stem, notebook)
    return {**setup, **tables, **sources}


def generated_text(course: Course, language: str, key: str, english: str) -> str:
    """Return a made cell in a language: as in English, but for the tables that have words or an alphabet."""
    return TABLES[key](course, language) if key in TABLES else english


def seeds_table(course: Course, stem: str, key: str) -> str:
    """Return the table of what a check measured: rows are quantities, columns are seeds and the bound."""
    claims = [row for row in course.claims if (row["chapter"], row["cell"]) == (stem, check_id(key))]
    seeds = [name for name in (claims[0] if claims else ()) if name.startswith("seed ")]
    head = ["", *(f"`seed = {name.removeprefix('seed ')}`" for name in seeds), "`assert`"]
    rows = ([f"`{row['claim']}`", *(row[seed] for seed in seeds), f"`{row['threshold']}`"] for row in claims)
    return table(head, *rows, numbers=True)


def tidy(notebook: NotebookNode, course: Course, stem: str) -> NotebookNode:
    """Return a copy without what editors leave behind, and with what is derived: cells, folded solutions."""
    made = derived(course, stem, notebook)
    notebook = copy.deepcopy(notebook)
    notebook.metadata = NotebookNode(
        kernelspec=NotebookNode(display_name="Python 3", language="python", name="python3"),
        language_info=NotebookNode(name="python", file_extension=".py"),
        **{key: value for key, value in notebook.metadata.items() if key == "executed"},
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.source = made.get(cell["id"], cell.source)
        metadata = {key: value for key, value in cell.metadata.items() if key in KEPT_METADATA and value}
        if "hide-cell" in metadata.get("tags", []):
            hidden = {"source_hidden": True, "outputs_hidden": True}
            metadata |= {"jupyter": hidden, "cellView": "form"}
        cell.metadata = NotebookNode(metadata)
        if "attachment:" not in cell.source:
            cell.pop("attachments", None)
    clean_outputs(notebook)
    return notebook


def clean_outputs(notebook: NotebookNode) -> None:
    """Set counts and outputs as a run from the top leaves them, in whatever order an editor ran the cells."""
    was_run = notebook.metadata.get("executed") == code_digest(notebook)
    count = 0
    for cell in cells(notebook, "code").values():
        count += bool(cell.source.strip())
        if was_run:
            cell.execution_count = count if cell.source.strip() else None
        for output in cell.outputs:
            if "metadata" in output:
                output.metadata = NotebookNode(
                    {
                        mime: {name: value for name, value in facts.items() if name in PICTURE_METADATA}
                        for mime, facts in output.metadata.items()
                        if mime in output.data
                    }
                )
            if "execution_count" in output:
                output.execution_count = cell.execution_count


def execute(course: Course, stem: str, notebook: NotebookNode) -> None:
    """Run every cell from the top and record which code the outputs are of."""
    from nbclient import NotebookClient  # slow to import, and the check runs nothing
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    # It makes each figure describe what it draws, and also draw itself for the site.
    startup = (course.root / "book/startup.py").resolve()
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONSTARTUP": str(startup)}
    folder = {"metadata": {"path": str(course.path(course.source, stem).parent)}}
    for cell in cells(notebook, "code").values():
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources=folder,
        extra_arguments=["--log-level=ERROR"],
    )
    language_info = notebook.metadata.language_info
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        failed = next(
            key
            for key, cell in cells(notebook, "code").items()
            if any(output.output_type == "error" for output in cell.outputs)
        )
        where = f"{course.source} {stem}#{failed}"
        raise CourseError(f"{where}: fails: {error.ename}: {error.evalue}; nothing was written") from None
    except (CellTimeoutError, DeadKernelError) as error:
        reason = str(error).splitlines()[0]
        raise CourseError(f"{course.source} {stem}: fails: {reason}; nothing was written") from None
    notebook.metadata.language_info = language_info
    notebook.metadata["executed"] = code_digest(notebook)


def sync_source(course: Course, stem: str, force: bool = False) -> bool:
    """Tidy an English notebook, and execute it if its code changed; return True if the file changed."""
    before = course.path(course.source, stem).read_bytes()
    notebook = tidy(course.read(course.source, stem), course, stem)
    run = force or notebook.metadata.get("executed") != code_digest(notebook)
    if run:
        print(f"executing {course.source}/{stem} …", flush=True)
        execute(course, stem, notebook)
    if course.path(course.source, stem).read_bytes() != before:
        raise CourseError(
            f"{course.source} {stem}: was edited while it was executed; nothing written, run sync again"
        )
    with course.locked():
        if run:
            drawings.write(course, stem, notebook)
            executed.record(course, stem, notebook)
        pictures.record(course, stem, notebook, drawn=run)
    return course.write(course.source, stem, notebook)


def carry(
    course: Course, language: str, source: NotebookNode, stem: str, lock: Lock
) -> tuple[NotebookNode, Lock]:
    """Return the notebook made of the source's cells and the language's prose, and its lines of the lock.

    A cell that nobody has translated shows the English text.
    """
    own = cells(course.read(language, stem)) if course.path(language, stem).exists() else {}
    result, entries = copy.deepcopy(source), Lock()
    for cell in result.cells:
        if cell.cell_type != "markdown":
            continue
        key, entry = cell["id"], lock.get((stem, cell["id"]), Entry())
        text = own[key].source if key in own else cell.source
        if is_generated(key):
            text = generated_text(course, language, key, cell.source)
            entry = Entry(digest(cell.source), digest(text))
        elif cell_state(entry, cell.source, text) == "untranslated":
            text, entry = cell.source, Entry(text=digest(cell.source))
        cell.source, entries[stem, key] = text, entry
    return result, entries


def orphans(course: Course, language: str, lock: Lock) -> Iterator[tuple[str, str]]:
    """Yield stem and id of translated cells that have no English cell."""
    for stem in course.stems(language):
        english = cells(course.read(course.source, stem)) if stem in course.stems() else {}
        for key, cell in cells(course.read(language, stem)).items():
            entry = lock.get((stem, key), Entry())
            if key not in english and cell_state(entry, "", cell.source) != "untranslated":
                yield stem, key


def refuse_to_lose(
    course: Course, locks: dict[str, Lock], stems: Collection[str], drop: Collection[str]
) -> None:
    lost = [
        f"  book/{language}/{stem}.ipynb, cell {key}"
        for language, lock in locks.items()
        for stem, key in orphans(course, language, lock)
        if (not stems or stem in stems) and not {stem, f"{stem}#{key}"} & set(drop)
    ]
    if lost:
        raise CourseError(
            "sync would lose these translated cells, which English does not have (any more):\n"
            + "\n".join(lost)
            + "\nTo keep one, give the English cell that id or copy the text into another cell of it."
            "\nTo give one up, run sync --drop STEM#CELL. Nothing was written."
        )


def sync(
    course: Course, stems: Collection[str] = (), drop: Collection[str] = (), force: bool = False
) -> list[str]:
    """Bring every language in step, in these chapters (none: in all), and return the files changed.

    What would lose text is refused before anything is written. ``force`` executes in any case.
    """
    if unknown := set(stems) - set(course.stems()):
        raise CourseError(f"{course.source} {min(unknown)}: there is no such notebook")
    chosen = stems or course.stems()
    locks = {language: read_lock(course, language) for language in course.translations}
    refuse_to_lose(course, locks, stems, drop)
    changed = [f"book/{course.source}/{stem}.ipynb" for stem in chosen if sync_source(course, stem, force)]
    with course.locked():
        for language in course.translations:
            changed += sync_language(course, language, chosen, everything=not stems)
        return changed if stems else changed + generated.write(course)


def sync_language(course: Course, language: str, stems: Collection[str], everything: bool) -> list[str]:
    lock, changed = read_lock(course, language), []
    own = set(course.stems(language))
    for stem in stems:
        notebook, entries = carry(course, language, course.read(course.source, stem), stem, lock)
        lock = {key: entry for key, entry in lock.items() if key[0] != stem} | entries
        if course.write(language, stem, notebook):
            changed.append(f"book/{language}/{stem}.ipynb")
    if everything:
        lock = {key: entry for key, entry in lock.items() if key[0] in stems}
        for stem in own.difference(stems):
            course.path(language, stem).unlink()
            changed.append(f"book/{language}/{stem}.ipynb (removed)")
    if write_lock(course, language, lock):
        changed.append(f"book/{language}/translation.lock")
    return changed
