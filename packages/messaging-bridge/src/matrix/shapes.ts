// What the bridge reads of the homeserver's answers. A homeserver may send anything: what is not of these shapes is dropped
// one by one where it is in a list, so that one malformed event stops nothing.
import * as z from 'zod';

/** What core and its database hold. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');
/** Of an event's id or a room's; they are opaque. */
const id = z.string().min(1).max(255).refine(isStorable);
/** Core takes no answer in which one is of another form. */
const userId = id.regex(/^@[^:]+:.+$/s);
export const isUserId = (text: string) => userId.safeParse(text).success;
const content = z.record(z.string(), z.unknown());

/** A list without what is not of its shape. */
function lenient<Item>(item: z.ZodType<Item>) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((items): Item[] =>
      items.flatMap((one) => {
        const read = item.safeParse(one);
        return read.success ? [read.data] : [];
      }),
    );
}

function lenientRecord<Item>(item: z.ZodType<Item>) {
  return z
    .record(z.string(), z.unknown())
    .catch({})
    .transform((items) => {
      const read: Record<string, Item> = {};
      for (const [key, value] of Object.entries(items)) {
        const one = item.safeParse(value);
        if (one.success && key.length <= 255 && isStorable(key) && key !== '__proto__') read[key] = one.data;
      }
      return read;
    });
}

/** An event of a room's timeline, with all its members: what is decrypted is the whole of it. */
export const roomEvent = z.looseObject({
  event_id: id,
  type: z.string().max(255),
  sender: userId,
  origin_server_ts: z.number().min(0).max(8.64e15),
  content,
  state_key: z.string().max(255).optional(),
  unsigned: z
    .looseObject({
      transaction_id: z.string().max(512).optional(),
      /** Of the account that asks, at the time of the event (Matrix 1.11). */
      membership: z.string().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  redacts: id.optional().catch(undefined),
});
export type RoomEvent = z.infer<typeof roomEvent>;

/** An event of the state as invitations show it. */
export const strippedEvent = z.object({ type: z.string(), sender: userId, state_key: z.string(), content });
export type StrippedEvent = z.infer<typeof strippedEvent>;

const toDeviceEvent = z.looseObject({ type: z.string().max(255), sender: userId, content });
export type ToDeviceEvent = z.infer<typeof toDeviceEvent>;

const timeline = z
  .object({
    events: lenient(roomEvent),
    limited: z.boolean().catch(false),
    prev_batch: z.string().optional().catch(undefined),
  })
  .catch({ events: [], limited: false, prev_batch: undefined });

/** Receipts and marks, which are no events of the room. */
const besideRoom = z
  .object({ events: lenient(z.object({ type: z.string().max(255), content })) })
  .catch({ events: [] });

const joinedRoom = z.object({
  timeline,
  state: z.object({ events: lenient(roomEvent) }).catch({ events: [] }),
  ephemeral: besideRoom,
  account_data: besideRoom,
});
export type JoinedRoom = z.infer<typeof joinedRoom>;

const invitedRoom = z.object({ invite_state: z.object({ events: lenient(strippedEvent) }).catch({ events: [] }) });
export type InvitedRoom = z.infer<typeof invitedRoom>;

const users = lenient(userId);

export const syncAnswer = z.object({
  next_batch: z.string().min(1),
  to_device: z.object({ events: lenient(toDeviceEvent) }).catch({ events: [] }),
  device_lists: z.object({ changed: users, left: users }).catch({ changed: [], left: [] }),
  device_one_time_keys_count: lenientRecord(z.int().min(0)),
  device_unused_fallback_key_types: z.array(z.string()).optional().catch(undefined),
  rooms: z
    .object({
      join: lenientRecord(joinedRoom),
      invite: lenientRecord(invitedRoom),
      leave: lenientRecord(joinedRoom),
    })
    .catch({ join: {}, invite: {}, leave: {} }),
});
export type SyncAnswer = z.infer<typeof syncAnswer>;

export const messagesAnswer = z.object({ chunk: lenient(roomEvent), end: z.string().optional().catch(undefined) });
export const membersAnswer = z.object({ chunk: lenient(roomEvent) });
/** What a device encrypted: of its sender alone, so it may be anything. */
export const decryptedEvent = z.object({ type: z.string().max(255), content });
export type Decrypted = z.infer<typeof decryptedEvent>;
export const sentAnswer = z.object({ event_id: id });
export const createdRoomAnswer = z.object({ room_id: id });
export const devicesAnswer = z.object({ devices: z.array(z.object({ device_id: id })) });
export const profileAnswer = z.object({ displayname: z.string().nullish().catch(null) });
export const anything = z.unknown();
/** The answer of `/keys/query`, as it came, with the servers that did not answer. */
export const keysAnswer = z.looseObject({
  device_keys: lenientRecord(z.record(z.string(), z.unknown())),
  failures: z.record(z.string(), z.unknown()).default({}),
});

export const membership = z.object({ membership: z.enum(['join', 'invite', 'leave', 'ban', 'knock']) });
