// Where the account is signed in, and ending a session elsewhere.
import type { SessionView } from '@platform/contract';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago, onDay } from '../../design/words.ts';
import { browserName } from './browser-name.ts';

export function SessionsPage() {
  const reading = useReading(async () => (await call('auth.sessions.list', ONE_PAGE)).items);
  const sessions = reading.value;
  return (
    <>
      <PageHead title="Sessions">
        <p class="quiet-text">
          Every browser in which you are signed in. End those you don’t recognize or no longer use: signing in there
          again takes a passkey. Command lines have <a href="#/settings/command-line">a page of their own</a>.
        </p>
      </PageHead>
      {reading.failure !== null && <Note tone="danger">{reading.failure}</Note>}
      {sessions === null ? (
        reading.failure === null && <Skeleton lines={2} label="Loading sessions" />
      ) : (
        <ul class="rows">
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              onEnded={() => reading.put(sessions.filter(({ id }) => id !== session.id))}
            />
          ))}
        </ul>
      )}
    </>
  );
}

export function SessionRow({ session, onEnded }: { readonly session: SessionView; readonly onEnded: () => void }) {
  const { busy, failure, run } = useAction();
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="devices" />
        </span>
        <span class="row-text">
          <span class="row-title">
            {browserName(session.userAgent)}
            {session.current && <span class="tag accent">This browser</span>}
          </span>
          <span class="row-about">
            Used {ago(session.lastUsedAt)} · signed in {ago(session.createdAt)} · ends on {onDay(session.expiresAt)}
          </span>
        </span>
        {!session.current && (
          <Button
            busy={busy}
            onClick={() =>
              void run(() => call('auth.sessions.revoke', { params: { id: session.id } })).then((done) => {
                if (done) onEnded();
              })
            }
          >
            End
          </Button>
        )}
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
