"""Readers' own data: fetch a public file of sentence pairs safely, and read it.

For files of the kind that tatoeba.org's pairs come in: tab-separated, two or three columns (sentence,
translation, perhaps where they come from), plain or in a zip archive. The course's own corpus needs nothing
of this.
"""

import hashlib
import io
import os
import re
import sys
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib import error, request
from urllib.parse import unquote, urlsplit

from mha_course.checks import check_size
from mha_course.corpus import Pair

__all__ = ("download", "read_pairs")

ATTEMPTS = 3
PAUSE = 0.5
LARGEST = 200 * 2**20  # bytes: more than this is neither downloaded nor unpacked


def download(
    url: str, folder: str | Path = ".", sha256: str | None = None,
    *, timeout: float = 30.0, progress: bool = True,
) -> Path:  # fmt: skip
    """Fetch a file into a folder, unless it is there.

    The file appears under its name only when it is whole and verified. A transfer that was cut is started
    over.

    Parameters
    ----------
    url : str
        Address, ``https`` only unless `sha256` is given.
    folder : str or Path
        Where to put it; made if missing.
    sha256 : str, optional
        The checksum that the file must have, 64 hexadecimal digits. A file of that name with another checksum
        is fetched again.
    timeout : float
        Seconds without a byte after which an attempt is given up.
    progress : bool
        Whether to draw a bar on stderr.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        The address, one that it redirects to, or the checksum is not acceptable; or the bytes are not those
        of the checksum.
    OSError
        The server refuses, cannot be reached, or keeps cutting the transfer, or the file is larger than 200
        MiB.
    """
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise ValueError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    _check_scheme("url", url, sha256)
    path = Path(folder) / _file_name(url)
    if path.exists() and _has_sum(path.read_bytes(), sha256):
        return path
    content = _fetch(url, sha256, timeout, progress)
    if not _has_sum(content, sha256):
        raise ValueError(f"{url}: the bytes received do not have the sha256 {sha256}; none were kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(content)
    os.replace(partial, path)
    return path


def _check_scheme(name: str, url: str, sha256: str | None) -> None:
    scheme = urlsplit(url).scheme
    if scheme != "https" and (scheme != "http" or sha256 is None):
        raise ValueError(f"{name} must start with https, or with http where a sha256 is given, got {url!r}")


def _file_name(url: str) -> str:
    name = unquote(urlsplit(url).path).split("/")[-1]
    if name in ("", ".", "..") or re.search(r"[\\:\x00-\x1f]", name):
        raise ValueError(f"url must end with the name of a file, got {url!r}")
    return name


def _has_sum(content: bytes, sha256: str | None) -> bool:
    """Whether a file's bytes have this checksum; without one all will do."""
    return sha256 is None or hashlib.sha256(content).hexdigest() == sha256.lower()


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirects only to addresses that would have been accepted themselves."""

    def __init__(self, sha256: str | None) -> None:
        self.sha256 = sha256

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _check_scheme(f"what {req.full_url} redirects to", newurl, self.sha256)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(url: str, sha256: str | None, timeout: float, progress: bool) -> bytes:
    """Receive the whole file, in several attempts if need be; each starts over."""
    opener = request.build_opener(_Redirects(sha256))
    asked = request.Request(url, headers={"User-Agent": "mha-course", "Accept-Encoding": "identity"})
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        try:
            with opener.open(asked, timeout=timeout) as response:
                return _receive(url, response, progress)
        except (error.URLError, HTTPException, TimeoutError, ConnectionError) as caught:
            problem = " ".join(str(caught).split()) or type(caught).__name__
            if isinstance(caught, error.HTTPError) and caught.code < 500:
                break
    raise OSError(f"{url}: gave up after attempt {attempt + 1}: {problem}")


def _receive(url: str, response: Any, progress: bool) -> bytes:
    """Read the response; raise unless it is whole and not too large."""
    content, total = bytearray(), int(response.headers.get("Content-Length") or 0)  # 0: not told
    while chunk := response.read(1 << 16):
        content += chunk
        have = len(content)
        if max(have, total) > LARGEST:
            raise OSError(f"{url}: larger than {LARGEST} bytes, the most that is downloaded")
        if progress:
            bar = f"[{'#' * (20 * have // total):20}] {have / total:4.0%} " if total else ""
            print(f"\r{_file_name(url)} {bar}{have / 2**20:.1f} MiB", end="", file=sys.stderr, flush=True)
    if progress:
        print(file=sys.stderr)
    if total and len(content) != total:
        raise ConnectionError(f"cut off after {len(content)} of {total} bytes")
    return bytes(content)


def read_pairs(path: str | Path, *, max_pairs: int | None = None) -> list[Pair]:
    """Sentence pairs of a tab-separated file, or of the one text file in a zip archive.

    Sentences are put into lower case and Unicode's composed form (NFC), and ``, . ! ?`` become tokens of
    their own. The pairs have their line numbers as ids and no alignment. Blank lines are skipped. An archive
    is read in memory, never unpacked.

    Parameters
    ----------
    path : str or Path
        A file with two or three columns: source, target, and what is not used.
    max_pairs : int, optional
        Read only so many, from the beginning.

    Returns
    -------
    list of Pair

    Raises
    ------
    FileNotFoundError
        No such file.
    TypeError, ValueError
        Wrong columns or not UTF-8 text (the message names the line), a damaged archive, one that holds no
        text file or several, a path outside its folder, or more than 200 MiB when unpacked; `max_pairs` that
        is no integer of at least 0.
    """
    if max_pairs is not None:
        check_size("max_pairs", max_pairs, least=0)
    name, content = _text_of(Path(path))
    pairs: list[Pair] = []
    for number, line in islice(_lines(name, content), max_pairs):
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            raise ValueError(f"{name}, line {number}: expected 2 or 3 columns, got {len(columns)}")
        source, target = (_tokens(column) for column in columns[:2])
        if not source or not target:
            raise ValueError(f"{name}, line {number}: column {2 if source else 1} is empty")
        pairs.append(Pair(str(number), "", source, target, ()))
    return pairs


def _lines(name: str, content: bytes) -> Iterator[tuple[int, str]]:
    """Line numbers and lines that are not blank."""
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {number}: not UTF-8 ({error.reason})") from None
        if "\0" in text:
            raise ValueError(f"{name}, line {number}: not text, since it holds a NUL character")
        if text.strip():
            yield number, text


def _tokens(sentence: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", sentence).lower()
    return tuple(re.sub(r"([,.!?])", r" \1 ", text).split())


def _text_of(path: Path) -> tuple[str, bytes]:
    """Name and bytes of the text file that ``path`` is or holds."""
    with open(path, "rb") as file:
        content = _at_most(path.name, file)
    if not content.startswith(b"PK\x03\x04"):
        return path.name, content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = _only_text(path.name, archive.namelist())
            with archive.open(member) as file:
                return f"{path.name}: {member}", _at_most(path.name, file)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise ValueError(f"{path.name}: damaged archive: {error}") from None


def _at_most(name: str, file: IO[bytes]) -> bytes:
    """All that a file holds, if it is not too much."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{name}: more than {LARGEST} bytes when unpacked, the most that is read")
    return content


def _only_text(name: str, members: list[str]) -> str:
    """The one text file among an archive's members; names that begin with "_" are notes about it."""
    for member in members:
        parts = PurePosixPath(member.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in member:
            raise ValueError(f"{name}: refused, since it holds a path outside its folder: {member!r}")
    texts = [m for m in members if m.endswith((".txt", ".tsv")) and PurePosixPath(m).name[0] not in "._"]
    if len(texts) != 1:
        raise ValueError(f"{name}: expected one .txt or .tsv file inside, got {len(texts)}: {texts[:4]}")
    return texts[0]
