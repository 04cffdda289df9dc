# A Matrix client with encryption that is not ours, matrix-nio, driven by lines of JSON: a line in is a command, a line out
# an answer (with the command's id) or something that arrived.
import asyncio
import json
import sys

from nio import (
    AsyncClient,
    AsyncClientConfig,
    InviteMemberEvent,
    MegolmEvent,
    RoomMessage,
    RoomMessageText,
)


def say(**line):
    print(json.dumps(line), flush=True)


async def main():
    homeserver, user, password, folder = sys.argv[1:5]
    config = AsyncClientConfig(encryption_enabled=True, store_sync_tokens=True)
    client = AsyncClient(homeserver, user, store_path=folder, config=config)

    async def on_invite(room, event):
        if event.state_key == client.user_id and event.membership == "invite":
            say(event="invite", room=room.room_id, sender=event.sender)

    async def on_message(room, event):
        say(
            event="message",
            room=room.room_id,
            sender=event.sender,
            id=event.event_id,
            body=getattr(event, "body", ""),
            decrypted=bool(event.decrypted),
        )

    async def on_undecrypted(room, event):
        say(event="undecrypted", room=room.room_id, sender=event.sender, id=event.event_id)

    client.add_event_callback(on_invite, InviteMemberEvent)
    client.add_event_callback(on_message, RoomMessage)
    client.add_event_callback(on_undecrypted, MegolmEvent)

    async def until_encrypted(room):
        while room not in client.rooms or not client.rooms[room].encrypted:
            await asyncio.sleep(0.02)

    # It gives keys to those whom it knows to be there.
    async def until_there(room, users):
        while room not in client.rooms or not all(user in client.rooms[room].users for user in users):
            await asyncio.sleep(0.02)

    async def create(to, encrypted=True, name=None):
        state = []
        if encrypted:
            state = [
                {
                    "type": "m.room.encryption",
                    "state_key": "",
                    "content": {"algorithm": "m.megolm.v1.aes-sha2"},
                }
            ]
        invite = to if isinstance(to, list) else [to]
        made = await client.room_create(is_direct=True, invite=invite, initial_state=state, name=name)
        await until_there(made.room_id, invite)
        return {"room": made.room_id}

    async def join(room):
        await client.join(room)
        return {}

    async def send(room, body=None, content=None, type="m.room.message", wait=True):
        if wait:
            await until_encrypted(room)
        content = content or {"msgtype": "m.text", "body": body}
        sent = await client.room_send(room, type, content, ignore_unverified_devices=True)
        if not hasattr(sent, "event_id"):
            raise RuntimeError(str(sent))
        return {"sent": sent.event_id}

    async def state(room, type, content, key=""):
        put = await client.room_put_state(room, type, content, key)
        return {"sent": put.event_id}

    async def redact(room, event):
        await client.room_redact(room, event)
        return {}

    async def invite(room, user):
        await client.room_invite(room, user)
        await until_there(room, [user])
        return {}

    async def leave(room):
        await client.room_leave(room)
        return {}

    async def upgrade(room, version):
        response = await client.send(
            "POST",
            f"/_matrix/client/v3/rooms/{room}/upgrade",
            json.dumps({"new_version": version}),
            {"Authorization": f"Bearer {client.access_token}", "Content-Type": "application/json"},
        )
        return await response.json()

    async def displayname(name):
        await client.set_displayname(name)
        return {}

    async def members(room):
        joined = (await client.joined_members(room)).members
        return {"members": sorted(member.user_id for member in joined)}

    async def history(room):
        await until_encrypted(room)
        page = await client.room_messages(room, start=client.next_batch, limit=100)
        bodies = []
        for event in page.chunk:
            if isinstance(event, MegolmEvent):
                try:
                    event = client.decrypt_event(event)
                except Exception:
                    continue
            if isinstance(event, RoomMessageText):
                bodies.append(event.body)
        return {"bodies": bodies}

    async def device():
        return {"device": client.device_id, "fingerprint": client.olm.account.identity_keys["ed25519"]}

    commands = dict(
        create=create, join=join, send=send, state=state, redact=redact, invite=invite, leave=leave, history=history,
        upgrade=upgrade, displayname=displayname, members=members, device=device,
    )

    answer = await client.login(password, device_name="nio")
    if not getattr(answer, "access_token", None):
        raise SystemExit(f"login failed: {answer}")
    await client.sync(timeout=0, full_state=True)
    say(event="ready", user=client.user_id)
    syncing = asyncio.create_task(client.sync_forever(timeout=10_000, loop_sleep_time=0))

    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def perform(line):
        command = json.loads(line)
        number, name = command.pop("id"), command.pop("command")
        try:
            say(id=number, **(await commands[name](**command)))
        except Exception as error:  # the test that sent it fails by this line
            say(id=number, error=f"{type(error).__name__}: {error}")

    running = set()
    while line := await reader.readline():
        task = asyncio.create_task(perform(line))
        running.add(task)
        task.add_done_callback(running.discard)
    syncing.cancel()
    await client.close()


asyncio.run(main())
