"""The pages that are not notebooks: references from `references.bib`, the package, the translations."""

from pathlib import Path

from pybtex.database import Entry, Person, parse_file
from pybtex.richtext import Text

from course_site.languages import BOOK, languages, words

MOST_AUTHORS = 4


def name(person: Person) -> str:
    """A person's name as people say it."""
    parts = (*person.first_names, *person.middle_names, *person.prelast_names, *person.last_names)
    return " ".join(str(Text.from_latex(part)) for part in parts)


def authors(entry: Entry, word: dict[str, str]) -> str:
    """The authors' names, joined as the language joins them."""
    names = [name(person) for person in entry.persons.get("author", entry.persons.get("editor", []))]
    comma = word["references_comma"]
    if len(names) > MOST_AUTHORS:
        return comma.join(names[: MOST_AUTHORS - 1]) + word["references_others"]
    return comma.join(names[:-1]) + word["references_and"] + names[-1] if len(names) > 1 else "".join(names)


def reference(key: str, entry: Entry, word: dict[str, str]) -> str:
    """One entry in portable Markdown, with an anchor that GitHub keeps too."""
    fields = {field: str(Text.from_latex(value)) for field, value in entry.fields.items()}
    title = fields["title"]
    place = fields.get("booktitle") or fields.get("journal") or fields.get("publisher") or ""
    if "volume" in fields:
        place += f" {fields['volume']}" + (f"({fields['number']})" if "number" in fields else "")
    if "pages" in fields:
        place += f", {fields['pages'].replace('--', '–')}"
    address = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
    linked = f"[{title}]({address})" if address else title
    stop = "" if title.endswith(("?", "!")) else "."
    return f'- <a id="{key}"></a>{authors(entry, word)} ({fields["year"]}). {linked}{stop}' + (
        f" {place}." if place else ""
    )


def pages(language: str, book: Path = BOOK) -> dict[str, str]:
    """Name and text of each page of a language that is not a notebook."""
    word = words(language)
    entries = parse_file(str(book / "references.bib"), bib_format="bibtex").entries
    listed = "\n".join(reference(key, entry, word) for key, entry in sorted(entries.items()))
    return {
        "references.md": f"# {word['references_title']}\n\n{word['references_about']}\n\n{listed}\n",
        "api.md": f"# {word['api_title']}\n\n{word['api_about']}\n\n```{{course-api}}\n```\n",
        "translations.md": f"# {word['state']}\n\n{word['about']}\n\n```{{course-state}}\n```\n",
    }


def write_pages() -> list[Path]:
    """Write every language's pages; those that changed are returned."""
    changed = []
    for language in languages():
        for filename, text in pages(language).items():
            path = BOOK / language / filename
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
                changed.append(path)
    return changed
