"""A server that fails in every way, files that are wrong in every way: all or nothing, and a clear word."""

import contextlib
import gzip
import hashlib
import io
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mha_course import download as module
from mha_course.download import download, read_pairs

CONTENT = bytes(range(256)) * 400
SUM = hashlib.sha256(CONTENT).hexdigest()
WRONG_SUM = "0" * 64
Reply = Callable[[BaseHTTPRequestHandler, int], None]


def whole(request: BaseHTTPRequestHandler, visit: int) -> None:
    send(request, CONTENT)


def send(
    request: BaseHTTPRequestHandler,
    content: bytes,
    *,
    cut: int | None = None,
    status: int = 200,
    **headers: str,
) -> None:
    """Promise ``content``, and send the first ``cut`` bytes of it."""
    request.send_response(status)
    request.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(content[:cut])


class Server:
    """Serves one address by a function that is told how often it was asked before."""

    def __init__(self, reply: Reply) -> None:
        self.seen: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.seen.append(dict(self.headers))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    reply(self, len(outer.seen) - 1)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/pairs.txt"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], Server]]:
    servers: list[Server] = []

    def start(reply: Reply) -> Server:
        servers.append(Server(reply))
        return servers[-1]

    yield start
    for server in servers:
        server.server.shutdown()
        server.server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between attempts."""
    monkeypatch.setattr(module, "PAUSE", 0.0)


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow http without a checksum: this machine's server has no certificate."""
    monkeypatch.setattr(module, "_check_scheme", lambda name, url, sha256: None)


def test_a_file_arrives_whole_and_nothing_else_is_left(
    serve: Callable[[Reply], Server], tmp_path: Path
) -> None:
    path = download(serve(whole).url, tmp_path / "new" / "folder", SUM)
    assert path == tmp_path / "new" / "folder" / "pairs.txt"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["pairs.txt"]


def test_a_file_that_is_there_is_not_fetched_again(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(whole)
    first = download(server.url, tmp_path, SUM)
    assert download(server.url, tmp_path, SUM.upper()) == first
    assert len(server.seen) == 1


def test_a_file_with_another_checksum_is_replaced(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_bytes(b"old")
    assert download(serve(whole).url, tmp_path, SUM).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("url", "sha256", "message"),
    [
        ("http://example.org/a.zip", None, "url must start with https, or with http where a sha256 is given"),
        ("ftp://example.org/a.zip", SUM, "must start with https, or with http"),
        ("file:///etc/passwd", SUM, "must start with https, or with http"),
        ("a.zip", None, "must start with https"),
        ("https://example.org/", None, "end with the name of a file"),
        ("https://example.org/a/..", None, "end with the name of a file"),
        ("https://example.org/a%2F..%2F..%5Cb", None, "end with the name of a file"),
        ("https://example.org/a.zip", "abc", "64 hexadecimal digits, got 'abc'"),
    ],
)
def test_a_bad_address_or_checksum_is_refused_before_anything_is_sent(
    url: str, sha256: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        download(url, tmp_path, sha256)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_404_is_final(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: request.send_error(404))
    with pytest.raises(OSError, match="gave up after attempt 1: HTTP Error 404: Not Found"):
        download(server.url, tmp_path, SUM)
    assert len(server.seen) == 1
    assert not list(tmp_path.iterdir())


def test_500_is_tried_again_and_then_reported(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: request.send_error(500))
    with pytest.raises(OSError, match="gave up after attempt 3: HTTP Error 500"):
        download(server.url, tmp_path, SUM)
    assert len(server.seen) == 3
    assert not list(tmp_path.iterdir())


def test_500_once_does_no_harm(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: whole(request, visit) if visit else request.send_error(500))
    assert download(server.url, tmp_path, SUM).read_bytes() == CONTENT


def test_a_redirect_is_followed(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    goal = serve(whole)
    server = serve(lambda request, visit: send(request, b"", status=302, Location=goal.url))
    assert download(server.url, tmp_path, SUM).read_bytes() == CONTENT


@pytest.mark.parametrize("goal", ["ftp://example.org/a", "file:///etc/passwd"])
def test_a_redirect_to_what_is_not_allowed_is_refused(
    goal: str, serve: Callable[[Reply], Server], tmp_path: Path
) -> None:
    server = serve(lambda request, visit: send(request, b"", status=302, Location=goal))
    with pytest.raises((OSError, ValueError), match=r"(redirects to must start with https|is not allowed)"):
        download(server.url, tmp_path, SUM)
    assert not list(tmp_path.iterdir())


def test_a_redirect_from_https_to_http_is_refused_without_checksum() -> None:
    with pytest.raises(ValueError, match=r"https://example.org/a redirects to must start with https"):
        module._Redirects(None).redirect_request(
            module.request.Request("https://example.org/a"), io.BytesIO(), 302, "", {}, "http://example.org/a"
        )


def test_a_redirect_in_circles_is_reported(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: send(request, b"", status=302, Location="/pairs.txt"))
    with pytest.raises(OSError, match="redirect") as caught:
        download(server.url, tmp_path, SUM)
    assert "\n" not in str(caught.value)


def test_a_cut_transfer_is_started_over(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: send(request, CONTENT, cut=None if visit else 1000))
    assert download(server.url, tmp_path, SUM).read_bytes() == CONTENT
    assert all("Range" not in seen for seen in server.seen)


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("sha256", [None, SUM])
def test_what_an_earlier_call_left_is_not_used(
    sha256: str | None, serve: Callable[[Reply], Server], tmp_path: Path
) -> None:
    (tmp_path / "pairs.txt.part").write_bytes(CONTENT + b"stale")
    assert download(serve(whole).url, tmp_path, sha256).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.txt"]


def test_always_cut_is_reported_and_gives_no_file(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: send(request, CONTENT, cut=1000))
    with pytest.raises(OSError, match="cut off after 1000 of 102400 bytes"):
        download(server.url, tmp_path, SUM)
    assert len(server.seen) == 3
    assert not list(tmp_path.iterdir())


def test_an_answer_without_a_reason_is_reported(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    server = serve(lambda request, visit: (request.send_response(403, ""), request.end_headers()))
    with pytest.raises(OSError, match="HTTP Error 403"):
        download(server.url, tmp_path, SUM)


def test_wrong_bytes_are_reported_and_not_kept(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"do not have the sha256 {WRONG_SUM}"):
        download(serve(whole).url, tmp_path, WRONG_SUM)
    assert not list(tmp_path.iterdir())


def test_wrong_bytes_do_not_replace_a_file(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_bytes(b"old")
    with pytest.raises(ValueError, match="do not have the sha256"):
        download(serve(whole).url, tmp_path, WRONG_SUM)
    assert (tmp_path / "pairs.txt").read_bytes() == b"old"


def test_a_slow_server_is_waited_for(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    def slowly(request: BaseHTTPRequestHandler, visit: int) -> None:
        send(request, CONTENT, cut=0)
        for start in range(0, len(CONTENT), len(CONTENT) // 8):
            request.wfile.write(CONTENT[start : start + len(CONTENT) // 8])
            time.sleep(0.1)

    # Longer in all than the limit, which is on silence.
    assert download(serve(slowly).url, tmp_path, SUM, timeout=0.5).read_bytes() == CONTENT


def test_a_silent_server_is_not(serve: Callable[[Reply], Server], tmp_path: Path) -> None:
    def silent(request: BaseHTTPRequestHandler, visit: int) -> None:
        send(request, CONTENT, cut=10)
        time.sleep(2)

    with pytest.raises(OSError, match=r"gave up after attempt 3: .*timed out"):
        download(serve(silent).url, tmp_path, SUM, timeout=0.2)


def test_a_server_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gave up after attempt 3"):
        download("http://127.0.0.1:9/pairs.txt", tmp_path, SUM)


def test_too_large_a_file_is_refused(
    serve: Callable[[Reply], Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 5000)
    server = serve(whole)
    with pytest.raises(OSError, match="larger than 5000 bytes"):
        download(server.url, tmp_path, SUM)
    assert len(server.seen) == 1


def test_the_bar_goes_to_stderr(
    serve: Callable[[Reply], Server], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    download(serve(whole).url, tmp_path / "a", SUM)
    shown = capsys.readouterr()
    assert shown.out == "" and "pairs.txt [####################] 100% 0.1 MiB" in shown.err
    download(serve(whole).url, tmp_path / "b", SUM, progress=False)
    assert capsys.readouterr().err == ""


# --- reading

TEXT = "Go.\tVa !\nHi!\tSalut\u202f!\tCC-BY 2.0\n\nI lost.\tJ'ai perdu.\r\n"
PAIRS = [
    (("go", "."), ("va", "!")),
    (("hi", "!"), ("salut", "!")),
    (("i", "lost", "."), ("j'ai", "perdu", ".")),
]


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            # Without a date of its own a member would get that of today, and the tests' names would change.
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(TEXT.encode())
        archive.addfile(member, io.BytesIO(TEXT.encode()))
    return buffer.getvalue()


def put(tmp_path: Path, content: bytes, name: str = "fra.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        zipped(**{"_about.txt": "about", "fra.txt": TEXT}),
        zipped(**{"fra-eng/fra.txt": TEXT, "fra-eng/readme.md": "about"}),
    ],
    ids=["plain", "byte-order-mark", "zip", "zip-folder"],
)
def test_every_wrapping_gives_the_same_pairs(content: bytes, tmp_path: Path) -> None:
    pairs = read_pairs(put(tmp_path, content))
    assert [(pair.source, pair.target) for pair in pairs] == PAIRS
    assert [pair.id for pair in pairs] == ["1", "2", "4"]
    assert pairs[0].alignment == ()


def test_reading_may_stop_early_before_a_bad_line(tmp_path: Path) -> None:
    assert len(read_pairs(put(tmp_path, TEXT.encode() + b"bad"), max_pairs=2)) == 2
    assert read_pairs(put(tmp_path, b""), max_pairs=0) == []
    with pytest.raises(ValueError, match="max_pairs must be at least 0, got -1"):
        read_pairs(put(tmp_path, b""), max_pairs=-1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Go.\tVa !\nHi!\n", "fra.bin, line 2: expected 2 or 3 columns, got 1"),
        (b"a\tb\tc\td\n", "line 1: expected 2 or 3 columns, got 4"),
        (b"a\tb\n\n \tb\n", "line 3: column 1 is empty"),
        (b"a\t \n", "line 1: column 2 is empty"),
        ("a\tb\nc\tgâteau\n".encode("latin-1"), "line 2: not UTF-8"),
        ("a\tb\n".encode("utf-16"), "line 1: not UTF-8"),
        (zipped(**{"fra.txt": "a\tb\nc"}), "fra.bin: fra.txt, line 2: expected 2 or 3 columns"),
        (zipped(**{"../fra.txt": TEXT}), "path outside its folder: '../fra.txt'"),
        (zipped(**{"a/../../fra.txt": TEXT}), "path outside its folder"),
        (zipped(**{"/etc/fra.txt": TEXT}), "path outside its folder"),
        (zipped(**{"..\\fra.txt": TEXT}), "path outside its folder"),
        (zipped(**{"C:\\fra.txt": TEXT}), "path outside its folder"),
        (zipped(**{"fra.txt": TEXT, "../other.bin": ""}), "path outside its folder"),
        (tarred("fra.txt"), "line 1: not text, since it holds a NUL character"),
        (gzip.compress(TEXT.encode(), mtime=0), "line 1: not UTF-8"),
        (zipped(**{"a.txt": TEXT, "b.txt": TEXT}), "expected one .txt or .tsv file inside, got 2"),
        (zipped(**{"_about.txt": TEXT}), "expected one .txt or .tsv file inside, got 0"),
        (zipped(**{"fra.txt": TEXT})[:-30], "damaged archive"),
        (zipped(**{"fra.txt": TEXT})[:40], "damaged archive"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_pairs(put(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["fra.bin"]


def test_flipped_bytes_in_a_zip_are_noticed(tmp_path: Path) -> None:
    content = bytearray(zipped(**{"fra.txt": TEXT * 50}))
    content[60] ^= 0xFF
    with pytest.raises(ValueError, match="damaged archive"):
        read_pairs(put(tmp_path, bytes(content)))


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 300_000)
    content = zipped(**{"fra.txt": "a\tb\n" * 100_000})
    assert len(content) < 5000
    with pytest.raises(ValueError, match="more than 300000 bytes when unpacked"):
        read_pairs(put(tmp_path, content))


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_pairs(tmp_path / "none.txt")
