// What the SDK promises about notifications, written once and run wherever the SDK runs: in Node behind a Gateway, and
// in a frontend in the browser. Nothing here may come from Node. Needs the grants `SUITE_GRANTS`.
import type { NotificationsService } from '@platform/sdk';

export const SUITE_GRANTS: { id: 'notifications.publish' | 'notifications.read'; resources: string[] }[] = [
  { id: 'notifications.publish', resources: ['suite.*'] },
  { id: 'notifications.read', resources: ['suite.*'] },
];

/** The grants of the suite, for one topic more. */
export function withTopic(topic: string): { id: string; resources: string[] }[] {
  return SUITE_GRANTS.map(({ id, resources }) => ({ id, resources: [...resources, topic] }));
}

/** Without the records of another run for the same installation. */
const freshTopic = () => `suite.${crypto.randomUUID()}`;

export interface CaseTools {
  readonly notifications: NotificationsService;
  /** Deep equality of plain data. */
  equal(actual: unknown, expected: unknown): void;
}

interface Failure {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly errors: readonly { readonly path: string }[];
}

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure === undefined) throw new Error('the call succeeded');
  return failure as Failure;
}

export const serviceCases: Readonly<Record<string, (tools: CaseTools) => Promise<void>>> = {
  async 'a published notification comes back, and is the newest of its topic'({ notifications, equal }) {
    const topic = freshTopic();
    await notifications.publish({ topic, title: 'First' });
    const stored = await notifications.publish({ topic, title: 'Second', body: 'Zwei', priority: 'low' });
    equal(
      [stored.topic, stored.title, stored.body, stored.priority, stored.readAt],
      [topic, 'Second', 'Zwei', 'low', null],
    );
    const { items, nextCursor } = await notifications.list({ topic });
    equal(items[0], stored);
    equal(
      items.map(({ title }) => title),
      ['Second', 'First'],
    );
    equal(nextCursor, null);
  },

  async 'a repeated dedupe key gives the stored record'({ notifications, equal }) {
    const first = await notifications.publish({ topic: 'suite.once', title: 'Once', dedupeKey: 'key-1' });
    const again = await notifications.publish({ topic: 'suite.once', title: 'Twice', dedupeKey: 'key-1' });
    equal(again, first);
  },

  async 'reading marks one record, and reading all marks the rest'({ notifications, equal }) {
    const one = await notifications.publish({ topic: 'suite.read', title: 'One' });
    await notifications.publish({ topic: 'suite.read', title: 'Two' });
    const read = await notifications.read(one.id);
    equal([read.id, read.readAt !== null], [one.id, true]);
    const unread = await notifications.list({ topic: 'suite.read', unread: true });
    equal(
      unread.items.map(({ title }) => title),
      ['Two'],
    );
    equal((await notifications.readAll()) >= 1, true);
    equal((await notifications.list({ unread: true })).items, []);
    equal(await notifications.readAll(), 0);
  },

  async 'pages lead through every record once'({ notifications, equal }) {
    const topic = freshTopic();
    for (const title of ['a', 'b', 'c']) await notifications.publish({ topic, title });
    const titles: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof notifications.list>> = await notifications.list({
        topic,
        limit: 2,
        ...(cursor === null ? {} : { cursor }),
      });
      titles.push(...page.items.map(({ title }) => title));
      cursor = page.nextCursor;
    } while (cursor !== null);
    equal(titles, ['c', 'b', 'a']);
  },

  async 'a topic without a grant is refused with a code to decide by'({ notifications, equal }) {
    const failure = await failureOf(notifications.publish({ topic: 'elsewhere', title: 'No' }));
    equal([failure.name, failure.code, failure.status], ['PlatformError', 'grant_missing', 403]);
    equal(typeof failure.requestId, 'string');
  },

  async 'a wrong member is named by its path'({ notifications, equal }) {
    const failure = await failureOf(notifications.publish({ topic: 'suite.wrong', title: '' }));
    equal([failure.code, failure.status, failure.errors.map(({ path }) => path)], ['invalid_request', 400, ['title']]);
  },

  async 'a record of nobody is not found'({ notifications, equal }) {
    const failure = await failureOf(notifications.read('ntf-00000000-0000-7000-8000-000000000000'));
    equal([failure.code, failure.status], ['not_found', 404]);
  },

  async 'a call ends with the reason of its signal'({ notifications, equal }) {
    const reason = new Error('changed my mind');
    const failure = await failureOf(notifications.list({ signal: AbortSignal.abort(reason) }));
    equal(failure === (reason as unknown), true);
  },

  async 'the live stream tells in order, ends with its signal, and continues where it is told'({
    notifications,
    equal,
  }) {
    const topic = 'suite.live';
    const ending = new AbortController();
    const events = notifications.stream({ signal: ending.signal });
    const first = events.next();
    // When the stream begins cannot be seen from outside; so it is knocked at until it tells of it.
    const knocks = setInterval(() => void notifications.publish({ topic, title: 'Knock' }).catch(() => {}), 250);
    const begin = await first.finally(() => clearInterval(knocks));
    if (begin.done) throw new Error('the stream ended');
    for (const title of ['A', 'B']) await notifications.publish({ topic, title });
    equal(await titlesUntil(events, 'B'), ['A', 'B']);
    ending.abort();
    equal((await events.next()).done, true);

    const further = new AbortController();
    const lastEventId = begin.value.id ?? '';
    const continued = notifications.stream({ signal: further.signal, lastEventId });
    equal(await titlesUntil(continued, 'B'), ['A', 'B']);
    further.abort();
  },
};

async function titlesUntil(events: ReturnType<NotificationsService['stream']>, last: string): Promise<string[]> {
  const titles: string[] = [];
  while (titles.at(-1) !== last) {
    const step = await events.next();
    if (step.done) throw new Error(`the stream ended before ${last}`);
    const event = step.value;
    if (event.event !== 'notification' || event.data.notification.title === 'Knock') continue;
    titles.push(event.data.notification.title);
  }
  return titles;
}
