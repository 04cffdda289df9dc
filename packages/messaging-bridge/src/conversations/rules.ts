// Numbers of contract 4f, and bounds for what strangers can make an account hold.
import { limits } from '@platform/contract';

const DAY_MS = 86_400_000;
/** Time after which a request may arrive again once it was declined. */
export const DECLINED_MS = limits.messagingRequestDays.value * DAY_MS;
/** Messages in a conversation that the other side has not accepted. */
export const REQUEST_MESSAGES = limits.messagingRequestMessages.value;
/** Requests that wait; further ones are not kept. */
export const MOST_REQUESTS = 1_000;
/** Conversations that ended before anything was said in them; of further ones the oldest are forgotten. */
export const MOST_ENDED = 1_000;
/** Rooms of one conversation. */
export const MOST_ROOMS = 50;
/** Messages to the device of this account that are taken of somebody: at once, and milliseconds until there is one more. */
export const MOST_TO_DEVICE = 1_000;
export const TO_DEVICE_MS = 10_000;
/** Bytes of the messages of one conversation, all of which are in memory while its account is used: beyond, the oldest go. */
export const MOST_BYTES = 16 * 1024 * 1024;
/** What a message counts besides its text. */
export const MESSAGE_BYTES = 512;
/** Events that are fetched of what a sync left out, newest first, and pages of them. */
export const BACKFILL_PAGES = 50;
export const BACKFILL_EVENTS = 100;
/** Bytes of them, which are in memory until all are there. */
export const BACKFILL_BYTES = 16 * 1024 * 1024;
/** Milliseconds for a page of what a sync left out, and tries of one room: its history may be at a server that never answers. */
export const BACKFILL_MS = 10_000;
export const BACKFILL_TRIES = 3;
/** Milliseconds for which a message waits for what was said before it, and an acceptance for what was said before that. */
export const HEARD_BEFORE_SENDING_MS = 20_000;
export const HEARD_BEFORE_OPEN_MS = 3_000;
/** Syncs of one room that wait for what is missing before them: with one more, all of them are fetched again. */
export const MOST_HELD = 100;
/** Events that are taken in one after the other, before other work of the account has its turn. */
export const EVENTS_AT_ONCE = 50;
/** Messages that wait for their keys, and their bytes. */
export const MOST_UNDECRYPTED = 1_000;
export const MOST_UNDECRYPTED_BYTES = 8 * 1024 * 1024;
/** Milliseconds for which a message waits for its key before it is shown as one that cannot be decrypted. */
export const KEY_PATIENCE_MS = 10_000;
/** For so long its key is waited for after that. */
export const KEY_LIFE_MS = 7 * DAY_MS;
/** Bytes of the items in one answer: it may have 1 MiB. */
export const ANSWER_BYTES = 900 * 1024;
/** Conversations in one answer of a sync. */
export const SYNC_CONVERSATIONS = 200;
/** Messages of this account of which it is kept with which transaction they were sent. */
export const MOST_SENDINGS = 5_000;
