// `POST /sync`: what changed since a cursor, and the wait for it. A wait costs no query, only its place here.

import { isDeepStrictEqual } from 'node:util';
import { type InstallationId, limits, type MessagingNews, type RouteBody, refuse } from '@platform/contract';
import { earlier } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { awaitChange } from '../events/await-change.ts';
import type { FrontendCaller, InstallationCaller } from '../installations/face.ts';
import { shownConversation, shownMessage } from './shown.ts';
import type { News, Position, Transport } from './transport.ts';

type AppCaller = FrontendCaller | InstallationCaller;
type Body = RouteBody<'services.messaging.sync'>;

interface SyncCall {
  readonly caller: AppCaller;
  readonly body: Body;
  readonly left: AbortSignal;
  readonly stillAllowed: () => Promise<AppCaller>;
}

/** What a cursor holds: the reader that began without one, the change up to which it has read, and when that was. */
type CursorContent = readonly [reader: string, position: Position, at: number];

const DAY = 86_400_000;

export function syncing(context: CoreContext, transport: Transport): (call: SyncCall) => Promise<MessagingNews> {
  const waits = new Waits();
  return async ({ caller, body, left, stillAllowed }) => {
    const { installationId } = caller;
    if (body.cursor === undefined) {
      const reader = context.random(9).toString('base64url');
      return shown(context, installationId, reader, await transport.begin(caller.accountKey, body.limit));
    }
    const [reader, position] = openCursor(context, installationId, body.cursor);
    const { accountKey } = caller;
    const { limit, timeoutMs } = body;
    if (timeoutMs === 0)
      return shown(context, installationId, reader, await transport.news(accountKey, position, limit, left));
    const wait = waits.begin(installationId, reader);
    const following = transport.follow(accountKey, position, { limit, milliseconds: timeoutMs, left });
    try {
      const news = await awaitChange(context, {
        call: { caller, left, stillAllowed },
        wakeOn: [{ signal: 'messaging-changed', about: { member: 'accountKey', value: accountKey } }],
        wakeBy: following.onNews,
        longestMilliseconds: timeoutMs,
        over: wait.over,
        read: following.read,
        isNews: ({ position: reached }) => !isDeepStrictEqual(reached, position),
      });
      return shown(context, installationId, reader, news);
    } finally {
      following.end();
      wait.end();
    }
  };
}

function shown(
  context: CoreContext,
  installationId: InstallationId,
  reader: string,
  { position, conversations, messages, hasMore }: News,
): MessagingNews {
  const content: CursorContent = [reader, position, context.clock().getTime()];
  return {
    cursor: context.cursors.encode(listOf(installationId), content),
    conversations: conversations.map((one) => shownConversation(context, installationId, one)),
    messages: messages.map((one) => shownMessage(context, installationId, one)),
    hasMore,
  };
}

/** @throws RefusalError `invalid_cursor` */
function openCursor(context: CoreContext, installationId: InstallationId, cursor: string): CursorContent {
  const content = context.cursors.decode(listOf(installationId), cursor) as CursorContent;
  const oldest = earlier(context.time.proven(), limits.messagingCursorDays.value * DAY);
  if (content[2] < oldest.getTime())
    throw refuse(
      'invalid_cursor',
      `The cursor is older than ${limits.messagingCursorDays.value} days. Begin without one.`,
    );
  return content;
}

function listOf(installationId: InstallationId): string {
  return `messaging-sync:${installationId}`;
}

interface Wait {
  readonly over: AbortSignal;
  end(): void;
}

/** The calls that wait on this replica: one of each reader, and a few of each installation. */
class Waits {
  readonly #byInstallation = new Map<string, Map<string, AbortController>>();

  /** Ends the former call of the reader. @throws RefusalError `concurrency_limited` */
  begin(installationId: string, reader: string): Wait {
    const waits = this.#byInstallation.get(installationId) ?? new Map<string, AbortController>();
    const former = waits.get(reader);
    former?.abort();
    if (former === undefined && waits.size >= limits.messagingSyncs.value)
      throw refuse('concurrency_limited', `At most ${limits.messagingSyncs.value} calls may wait for messages.`, {
        retryAfter: limits.messagingSyncWait.value / 1_000,
      });
    const own = new AbortController();
    waits.set(reader, own);
    this.#byInstallation.set(installationId, waits);
    return {
      over: own.signal,
      end: () => {
        if (waits.get(reader) === own) waits.delete(reader);
        if (waits.size === 0 && this.#byInstallation.get(installationId) === waits)
          this.#byInstallation.delete(installationId);
      },
    };
  }
}
