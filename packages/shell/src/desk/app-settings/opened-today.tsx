// What the grants of an app open today, in numbers: the answer to “what can this app do?” beyond the words of its permissions.
import type { Opened, OpenedThing } from '@platform/contract';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { permissionWords } from '../../design/permission-words.ts';

/** One of it, and more. */
const THINGS: Readonly<Record<OpenedThing, readonly [string, string]>> = {
  apps: ['other app', 'other apps'],
  'collection-items': ['item in them', 'items in them'],
  collections: ['collection', 'collections'],
  conversations: ['conversation', 'conversations'],
  files: ['file', 'files'],
  messages: ['message', 'messages'],
  notifications: ['notification', 'notifications'],
  schedules: ['schedule', 'schedules'],
  'search-entries': ['item', 'items'],
  secrets: ['secret', 'secrets'],
  tools: ['tool', 'tools'],
  'wallet-policies': ['policy limits it', 'policies limit it'],
  'wallet-proposals': ['proposal waits for you', 'proposals wait for you'],
  'wallet-proposals-left': ['more may wait', 'more may wait'],
};

function countWords({ what, count, more: beyond }: Opened): string {
  const [one, more] = THINGS[what];
  if (beyond) return `more than ${count.toLocaleString('en')} ${more}`;
  return `${count === 0 ? 'no' : count.toLocaleString('en')} ${count === 1 ? one : more}`;
}

/** Counts once. */
export function OpenedToday({ appId }: { readonly appId: string }) {
  const { value } = useReading(() => call('apps.opened', { params: { appId } }));
  // It says nothing that the permissions above do not; without it the page is whole.
  if (value === null || value.grants.length === 0) return null;
  return (
    <>
      <h4 id="opened-title">What that is today</h4>
      <dl class="opened" aria-labelledby="opened-title">
        {value.grants.map(({ id, opens }) => (
          <div key={id}>
            <dt>{permissionWords(id)}</dt>
            <dd>{opens.map(countWords).join(', ')}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
