"""Signs in as a program of a person does, and uses tools: through the stock client of the package mcp."""

import asyncio
import contextlib
import json
import sys
import webbrowser
from urllib.parse import parse_qs, urlsplit

from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

URL, MODE = sys.argv[1:]


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def say(what, value):
    print(json.dumps([what, value]), flush=True)


async def main():
    answered = asyncio.Queue()

    async def callback(reader, writer):
        target = (await reader.readline()).split()[1].decode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        await answered.put({name: values[0] for name, values in parse_qs(urlsplit(target).query).items()})

    server = await asyncio.start_server(callback, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def redirect(url):
        say("opens", urlsplit(url).path)
        webbrowser.open(url)

    async def returned():
        given = await answered.get()
        if "code" not in given:
            raise RuntimeError(given.get("error"))
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))

    auth = OAuthClientProvider(
        URL,
        OAuthClientMetadata(client_name="Python", redirect_uris=[f"http://127.0.0.1:{port}/callback"]),
        Memory(),
        redirect,
        returned,
    )
    async with create_mcp_http_client(auth=auth) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=MODE, cache=None) as client:
            say("tools", sorted(tool.name for tool in (await client.list_tools()).tools))
            say("apps", (await client.call_tool("platform-apps.list", {})).structured_content is not None)
            say("count", (await client.call_tool("notes.count", {})).content[0].text)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
            try:
                await client.list_tools()
                say("after", "listed")
            except BaseException as error:
                say("after", type(error).__name__)
                raise


with contextlib.suppress(BaseException):
    asyncio.run(main())
say("over", None)
