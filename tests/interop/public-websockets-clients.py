# WebSocket clients of Python against a public address: "websockets" and Autobahn. Arguments: host name, port.
import asyncio
import os
import sys

import websockets
from autobahn.asyncio.websocket import WebSocketClientFactory, WebSocketClientProtocol

host, port = sys.argv[1], int(sys.argv[2])
LARGE = os.urandom(1024 * 1024)


async def with_websockets():
    async with websockets.connect(f"ws://{host}/chat", host="127.0.0.1", port=port, max_size=None) as socket:
        await socket.send("grüße")
        assert await socket.recv() == "grüße"
        await socket.send(LARGE)
        assert await socket.recv() == LARGE
        # In fragments.
        await socket.send(iter(["one ", "two ", "three"]))
        assert await socket.recv() == "one two three"
        await asyncio.wait_for(await socket.ping(), 10)
        await socket.send("close 4001")
        try:
            await socket.recv()
            raise AssertionError("the server did not close")
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 4001, closed


async def with_autobahn():
    done = asyncio.get_running_loop().create_future()

    class Client(WebSocketClientProtocol):
        def onOpen(self):
            self.sendMessage(LARGE, isBinary=True)

        def onMessage(self, payload, isBinary):
            if not isBinary or payload != LARGE:
                done.set_exception(AssertionError("another message came back"))
            self.sendMessage(b"close 4002")

        def onClose(self, wasClean, code, reason):
            if not done.done():
                done.set_result((wasClean, code))

    factory = WebSocketClientFactory(f"ws://{host}/chat")
    factory.protocol = Client
    await asyncio.get_running_loop().create_connection(factory, "127.0.0.1", port)
    assert await asyncio.wait_for(done, 30) == (True, 4002), done.result()


async def main():
    await with_websockets()
    await with_autobahn()
    print("done")


asyncio.run(main())
