"""Readers' own data: fetch a public file of sentence pairs safely, and read it.

For files of the kind that tatoeba.org's pairs come in: tab-separated, two or three columns (sentence,
translation, perhaps where they come from), plain or in a zip or tar archive. The course's own corpus needs
nothing of this.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import sys
import tarfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mha_course.corpus import Pair

ATTEMPTS = 3
PAUSE = 0.5
CHUNK = 1 << 16
LARGEST = 200 * 2**20
"""Bytes: more than this is neither downloaded nor unpacked."""

DAMAGE = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error, RuntimeError)


class _Interrupted(Exception):
    """The transfer broke off, and may go better next time."""


@dataclass
class _Transfer:
    """What the attempts to fetch one file have in common."""

    url: str
    partial: Path
    sha256: str | None
    timeout: float
    progress: bool
    validator: str = ""


def download(
    url: str, folder: str | Path = ".", sha256: str | None = None,
    *, timeout: float = 30.0, progress: bool = True,
) -> Path:  # fmt: skip
    """Fetch a file into a folder, unless it is there.

    The file appears under its name only when it is whole and verified; until then it is called
    ``NAME.part``. A transfer that was cut is taken up where it stopped, or started over where the server
    cannot do that; with a checksum, even by a later call.

    Parameters
    ----------
    url : str
        Address, ``https`` only unless ``sha256`` is given.
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
        The address or the checksum is not acceptable, or the bytes are not those of the checksum.
    OSError
        The server refuses, cannot be reached, or keeps cutting the transfer.
    """
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise ValueError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    _check_scheme(url, sha256)
    path = Path(folder) / _file_name(url)
    if path.exists() and (sha256 is None or _digest(path) == sha256.lower()):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    transfer = _Transfer(url, path.with_name(path.name + ".part"), sha256, timeout, progress)
    if sha256 is None:
        # Without a checksum nobody could tell whether an old beginning belongs to today's file.
        transfer.partial.unlink(missing_ok=True)
    try:
        _fetch_verified(transfer)
        os.replace(transfer.partial, path)
    finally:
        if sha256 is None:
            transfer.partial.unlink(missing_ok=True)
    return path


def _fetch_verified(transfer: _Transfer) -> None:
    """Fetch the file; one that began in an earlier call and proves wrong is fetched anew."""
    for old_beginning in (transfer.partial.exists(), False):
        _fetch(transfer)
        if transfer.sha256 is None or _digest(transfer.partial) == transfer.sha256.lower():
            return
        transfer.partial.unlink()
        if not old_beginning:
            break
    raise ValueError(
        f"{transfer.url}: the bytes received do not have the sha256 {transfer.sha256}; none were kept"
    )


def _check_scheme(url: str, sha256: str | None) -> None:
    scheme = urlsplit(url).scheme
    allowed = ("https",) if sha256 is None else ("https", "http")
    if scheme not in allowed:
        hint = " (http needs a sha256)" if scheme == "http" else ""
        raise ValueError(f"url must start with {' or '.join(allowed)}, got {url!r}{hint}")


def _file_name(url: str) -> str:
    name = unquote(urlsplit(url).path).split("/")[-1]
    if name in ("", ".", "..") or re.search(r"[\\:\x00-\x1f]", name):
        raise ValueError(f"url must end with the name of a file, got {url!r}")
    return name


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        found = hashlib.sha256()
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


class _Redirects(HTTPRedirectHandler):
    """Follows redirects only to addresses that would have been accepted themselves."""

    def __init__(self, sha256: str | None) -> None:
        self.sha256 = sha256

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        try:
            _check_scheme(newurl, self.sha256)
        except ValueError as error:
            raise OSError(f"{req.full_url}: refused a redirect: {error}") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(transfer: _Transfer) -> None:
    """Receive the whole file, in several attempts if need be."""
    problem: Exception = _Interrupted()
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        try:
            return _receive(transfer)
        except HTTPError as error:
            answer = f"the server answered {error.code} {str(error.reason).splitlines()[0]}"
            if error.code < 500 and error.code != 416:
                raise OSError(f"{transfer.url}: {answer}") from None
            if error.code == 416:
                transfer.partial.unlink(missing_ok=True)
            problem = _Interrupted(answer)
        except (_Interrupted, URLError, HTTPException, TimeoutError, ConnectionError) as error:
            problem = error
        if transfer.sha256 is None and not transfer.validator:
            transfer.partial.unlink(missing_ok=True)
    reason = getattr(problem, "reason", None) or problem or type(problem).__name__
    raise OSError(f"{transfer.url}: gave up after {ATTEMPTS} attempts: {reason}") from None


def _receive(transfer: _Transfer) -> None:
    """One attempt; what arrives is appended to the partial file where the server can resume."""
    have = transfer.partial.stat().st_size if transfer.partial.exists() else 0
    headers = {"User-Agent": "mha-course", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if transfer.validator:
            headers["If-Range"] = transfer.validator
    opener = build_opener(_Redirects(transfer.sha256))
    with opener.open(Request(transfer.url, headers=headers), timeout=transfer.timeout) as response:
        part = response.headers.get("Content-Range", "")
        resumes = response.status == 206 and part.startswith(f"bytes {have}-")
        have = have if resumes else 0
        transfer.validator = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        if transfer.validator.startswith("W/"):
            transfer.validator = ""
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        with open(transfer.partial, "ab" if resumes else "wb") as file:
            _copy(transfer, response, file, have, total)


def _copy(transfer: _Transfer, response: Any, file: IO[bytes], have: int, total: int | None) -> None:
    """Write the response to the file, which holds ``have`` bytes and shall hold ``total``."""
    name = transfer.partial.stem
    while chunk := response.read(CHUNK):
        have += len(chunk)
        if max(have, total or 0) > LARGEST:
            raise OSError(f"{transfer.url}: larger than {LARGEST} bytes, the most that is downloaded")
        file.write(chunk)
        if transfer.progress:
            share = f"{have / total:4.0%}" if total else ""
            bar = "#" * (20 * have // total) if total else ""
            print(f"\r{name} [{bar:20}] {share} {have / 2**20:.1f} MiB", end="", file=sys.stderr, flush=True)
    if transfer.progress:
        print(file=sys.stderr)
    if total is not None and have != total:
        raise _Interrupted(f"cut off after {have} of {total} bytes")


def read_pairs(path: str | Path, *, max_pairs: int | None = None) -> list[Pair]:
    """Sentence pairs of a tab-separated file, or of the one text file in a zip or tar archive.

    Sentences are put into lower case and NFC, and ``, . ! ?`` become tokens of their own. The pairs have
    their line numbers as ids and no alignment. Blank lines are skipped. An archive is read in memory,
    never unpacked.

    Parameters
    ----------
    path : str or Path
        A file with two or three columns: source, target, and what is not used.
    max_pairs : int, optional
        Read only so many, from the beginning.

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        Wrong columns or not UTF-8 (the message names the line), a damaged archive, one that holds no text
        file or several, a path outside its folder, or more than `LARGEST` bytes when unpacked.
    """
    path = Path(path)
    if max_pairs is not None and max_pairs < 0:
        raise ValueError(f"max_pairs must be at least 0, got {max_pairs}")
    name, content = _text_of(path)
    pairs: list[Pair] = []
    for number, line in _lines(name, content):
        if max_pairs is not None and len(pairs) >= max_pairs:
            break
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
        if text.strip():
            yield number, text


def _tokens(sentence: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", sentence).lower()
    return tuple(re.sub(r"([,.!?])", r" \1 ", text).split())


def _text_of(path: Path) -> tuple[str, bytes]:
    """Name and bytes of the text file that ``path`` is or holds."""
    with open(path, "rb") as file:
        content = _at_most(path.name, file)
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            return _from_zip(path.name, content)
        unpacked = _decompressed(path.name, content)
        if unpacked[257:262] == b"ustar":
            return _from_tar(path.name, unpacked)
        if content.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile("the end is missing")
    except DAMAGE as error:
        raise ValueError(f"{path.name}: damaged archive: {error}") from None
    return path.name, unpacked


def _at_most(name: str, file: IO[bytes]) -> bytes:
    """All that a file holds, if it is not too much."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{name}: more than {LARGEST} bytes when unpacked, the most that is read")
    return content


def _decompressed(name: str, content: bytes) -> bytes:
    openers: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
    for magic, opener in openers.items():
        if content.startswith(magic):
            with opener(io.BytesIO(content)) as file:
                return _at_most(name, file)
    return content


def _only_text(name: str, members: list[str]) -> str:
    """The one text file among an archive's members; names that begin with "_" are notes about it."""
    for member in members:
        parts = PurePosixPath(member.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in member:
            raise ValueError(f"{name}: refused, since it holds a path outside its folder: {member!r}")
    named = [member for member in members if not PurePosixPath(member).name.startswith(("_", "."))]
    texts = [member for member in named if member.endswith((".txt", ".tsv"))]
    if len(texts) != 1:
        raise ValueError(f"{name}: expected one .txt or .tsv file inside, got {len(texts)}: {texts[:4]}")
    return texts[0]


def _from_zip(name: str, content: bytes) -> tuple[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = _only_text(name, archive.namelist())
        with archive.open(member) as file:
            return f"{name}: {member}", _at_most(name, file)


def _from_tar(name: str, content: bytes) -> tuple[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        member = _only_text(name, archive.getnames())
        # None for a link or a folder.
        file = archive.extractfile(member) if archive.getmember(member).isfile() else None
        if file is None:
            raise ValueError(f"{name}: {member!r} is not a plain file")
        return f"{name}: {member}", _at_most(name, file)
