"""A sender of webhooks with Python's standard library alone: signs as standardwebhooks.com says, and prints the status.

Usage: webhook-sender.py <url> <secret> <id> <timestamp> <body>
"""
import base64
import hashlib
import hmac
import sys
import urllib.error
import urllib.parse
import urllib.request

url, secret, identifier, timestamp, body = sys.argv[1:]
key = base64.b64decode(secret.removeprefix("whsec_"))
content = body.encode()
signed = f"{identifier}.{timestamp}.".encode() + content
signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
# The resolver of a system may not know that names below .localhost are this machine.
address = urllib.parse.urlsplit(url)
here = address._replace(netloc=f"127.0.0.1:{address.port}")
request = urllib.request.Request(
    urllib.parse.urlunsplit(here),
    data=content,
    headers={
        "Host": address.netloc,
        "Content-Type": "application/json",
        "webhook-id": identifier,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
    },
)
try:
    with urllib.request.urlopen(request, timeout=30) as answer:
        print(answer.status)
except urllib.error.HTTPError as refusal:
    print(refusal.code)
