// Clients outside the platform that use tools of the account: what each may do, and ending it. How to connect one.
import type { Connection } from '@platform/contract';
import { isLoopbackHost } from '@platform/contract/tool-scopes';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useAction, useReading } from '../../api/reading.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { ago } from '../../design/words.ts';
import { nameOfApp } from './name-of-app.ts';
import { wordsOfScopes } from './scope-words.ts';

/** Clients accept an address without TLS for this name alone. */
function addressForClients({ protocol, origin, port }: Location): string {
  return `${protocol === 'https:' ? origin : `http://localhost${port === '' ? '' : `:${port}`}`}/mcp`;
}

export function ConnectionsPage() {
  const reading = useReading(async () => (await call('account.connections.list', ONE_PAGE)).items);
  const { value: connections, failure, put } = reading;
  const address = addressForClients(location);
  return (
    <>
      <PageHead title="Connections">
        <p class="quiet-text">
          An editor, an assistant or another program that speaks MCP can use the tools of your apps. You choose what it
          may do when it connects.
        </p>
      </PageHead>
      <section class="block" aria-labelledby="connect-title">
        <h3 id="connect-title">Connect a client</h3>
        <p>
          Add this address as a server in the client. It opens the platform in your browser, where you allow it.
          {location.protocol === 'https:' ? '' : ' It works for programs on the computer that the platform runs on.'}
        </p>
        <div class="connect-address">
          <code>{address}</code>
          <CopyButton text={address} what="the address" />
        </div>
      </section>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {connections === null && failure === null && <Skeleton lines={2} label="Loading connections" />}
      {connections !== null && connections.length === 0 && (
        <Empty icon="link" title="No clients connected">
          Clients that you connect are listed here, with what they may do.
        </Empty>
      )}
      {connections !== null && connections.length > 0 && (
        <section aria-labelledby="connections-title">
          <h3 id="connections-title">Connected</h3>
          <ul class="rows">
            {connections.map((connection) => (
              <ConnectionRow
                key={connection.id}
                connection={connection}
                onEnded={() => put(connections.filter(({ id }) => id !== connection.id))}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

export function ConnectionRow({
  connection: { id, client, app, scopes, createdAt, lastUsedAt },
  onEnded,
}: {
  readonly connection: Connection;
  readonly onEnded: () => void;
}) {
  const { busy, failure, run } = useAction();
  const where = isLoopbackHost(client.host) ? 'A program on a computer of yours' : client.host;
  return (
    <li class="row stacked">
      <div class="row-main">
        <span class="row-icon">
          <Icon name="link" />
        </span>
        <span class="row-text">
          <span class="row-title">{client.name}</span>
          <span class="row-about">
            {where}
            {app !== null && `, for ${nameOfApp(app)}`} ·{' '}
            {lastUsedAt === null ? 'not used yet' : `used ${ago(lastUsedAt)}`} · connected {ago(createdAt)}
          </span>
        </span>
      </div>
      <ul class="connection-words">
        {wordsOfScopes(scopes, nameOfApp).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      <div class="buttons">
        <Button
          busy={busy}
          onClick={() =>
            void run(() => call('account.connections.revoke', { params: { id } })).then((done) => {
              if (done) onEnded();
            })
          }
        >
          Disconnect
        </Button>
      </div>
      {failure !== null && <Note tone="danger">{failure}</Note>}
    </li>
  );
}
