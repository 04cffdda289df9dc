"""The backend of Notes in Python: plain Python, in a container that reaches nothing but the platform's services."""

import json
import os
import sys
import threading
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

API = os.environ["PLATFORM_API_URL"]
TOKEN = os.environ["PLATFORM_GATEWAY_TOKEN"]
FILE = os.path.join(os.environ["PLATFORM_VOLUME_DIR"], "notes.json")
LOCK = threading.Lock()


def call(method, path, body):
    """Calls a service of the platform. Returns what went wrong in words, or None: the note is safe either way."""
    request = urllib.request.Request(
        API + path,
        method=method,
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30):
            return None
    except urllib.error.HTTPError as error:
        return json.load(error)["detail"]  # "… You can allow it in Settings → Apps → …"
    except OSError as error:
        return str(error)


def load():
    if not os.path.exists(FILE):
        return []
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)


def save(notes):
    """Replaces the file as a whole, so that a crash at any moment leaves the old or the new one."""
    with open(FILE + ".new", "w", encoding="utf-8") as file:
        json.dump(notes, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(FILE + ".new", FILE)


def add(text):
    note = {"id": str(uuid.uuid4()), "text": text}
    with LOCK:
        save([note, *load()])
    title = text.splitlines()[0][:100]
    notification = {"topic": "notes", "title": "Note saved", "body": title, "dedupeKey": note["id"]}
    entry = {"id": note["id"], "title": title, "kind": "note", "url": f"?note={note['id']}", "text": text}
    problems = [
        call("POST", "/v1/services/notifications", notification),
        call("POST", "/v1/services/search/index", {"entries": [entry]}),
    ]
    return {"note": note, "problems": [problem for problem in problems if problem is not None]}


class Handler(BaseHTTPRequestHandler):
    """Only the page of the same installation gets here: the platform has checked that before."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/notes":
            return self.answer(404, {"code": "not_found", "detail": "There is nothing here."})
        with LOCK:
            notes = load()
        self.answer(200, {"notes": notes})

    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"].strip()
        if not 0 < len(text) <= 10_000:
            return self.answer(400, {"code": "invalid_request", "detail": "A note has 1 to 10,000 characters."})
        self.answer(201, add(text))

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


print("Python", sys.version, flush=True)
ThreadingHTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
