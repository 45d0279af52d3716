"""What the README and the other pages for people who change the course point to exists."""

import re

import pytest

from tools.course import ROOT


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_every_file_that_is_linked_to_exists(name: str) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)\)", text)
    assert not [link for link in links if "://" not in link and not (ROOT / link).exists()]
