// After a recovery with the operator's link: whatever got in before still does, until the person decides here. The link also
// comes to those whose account somebody else was in.
import type { PasskeyView } from '@platform/contract';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { Empty, Note, Skeleton } from '../../design/controls.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ConnectionRow } from '../connections/connections-page.tsx';
import { TokenRow } from './command-line-page.tsx';
import { KeyRow } from './passkeys-page.tsx';
import { SessionRow } from './sessions-page.tsx';

async function readOthers() {
  const [passkeys, sessions, tokens, connections] = await Promise.all([
    call('auth.passkeys.list'),
    call('auth.sessions.list', ONE_PAGE),
    call('author.tokens.list'),
    call('account.connections.list', ONE_PAGE),
  ]);
  const signedInAt = sessions.items.find(({ current }) => current)?.createdAt ?? '';
  // The link added a passkey and signed in at once: the last one before this session.
  const added = passkeys.items
    .filter(({ createdAt }) => createdAt <= signedInAt)
    .reduce<PasskeyView | null>((last, one) => (last === null || one.createdAt > last.createdAt ? one : last), null);
  return {
    passkeys: passkeys.items.filter(({ id }) => id !== added?.id),
    sessions: sessions.items.filter(({ current }) => !current),
    tokens: tokens.items,
    connections: connections.items,
  };
}

/** Without the one that has ended. */
function without<One extends { readonly id: string }>(all: readonly One[], id: string): One[] {
  return all.filter((one) => one.id !== id);
}

export function RecoveredPage() {
  const { value, failure, again, put } = useReading(readOthers);
  const isNothingLeft = value !== null && Object.values(value).every(({ length }) => length === 0);
  return (
    <>
      <PageHead title="What else gets in">
        <p class="quiet-text">
          Your account was recovered with a link from the operator. Everything below got in before and still does. Keep
          what is yours; remove what you lost or don’t recognize.
        </p>
      </PageHead>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value === null && failure === null && (
        <Skeleton lines={3} label="Loading passkeys, sessions, command lines and connections" />
      )}
      {isNothingLeft && (
        <Empty icon="shield" title="Nothing else gets in">
          Only the passkey you just added signs in. Add a second one, so that you don’t need a link again:{' '}
          <a href="#/settings/passkeys">Passkeys</a>.
        </Empty>
      )}
      {value !== null && value.passkeys.length > 0 && (
        <section class="block" aria-labelledby="older-passkeys">
          <h3 id="older-passkeys">Passkeys</h3>
          <ul class="rows">
            {value.passkeys.map((passkey) => (
              <KeyRow
                key={passkey.id}
                passkey={passkey}
                isLast={false}
                onChanged={(changed) =>
                  put({ ...value, passkeys: value.passkeys.map((one) => (one.id === changed.id ? changed : one)) })
                }
                // Sessions that it opened, and command lines and clients that it allowed, have ended too.
                onRemoved={() => void again()}
              />
            ))}
          </ul>
        </section>
      )}
      {value !== null && value.sessions.length > 0 && (
        <section class="block" aria-labelledby="older-sessions">
          <h3 id="older-sessions">Sessions</h3>
          <ul class="rows">
            {value.sessions.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                onEnded={() => put({ ...value, sessions: without(value.sessions, session.id) })}
              />
            ))}
          </ul>
        </section>
      )}
      {value !== null && value.tokens.length > 0 && (
        <section class="block" aria-labelledby="older-command-lines">
          <h3 id="older-command-lines">Command lines</h3>
          <ul class="rows">
            {value.tokens.map((token) => (
              <TokenRow
                key={token.id}
                token={token}
                onEnded={() => put({ ...value, tokens: without(value.tokens, token.id) })}
              />
            ))}
          </ul>
        </section>
      )}
      {value !== null && value.connections.length > 0 && (
        <section class="block" aria-labelledby="older-connections">
          <h3 id="older-connections">Connections</h3>
          <ul class="rows">
            {value.connections.map((connection) => (
              <ConnectionRow
                key={connection.id}
                connection={connection}
                onEnded={() => put({ ...value, connections: without(value.connections, connection.id) })}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
