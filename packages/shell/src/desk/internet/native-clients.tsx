// Programs outside the browser that use the backend of an app as its owner does: the line that lets one in, and ending them all.
import { useSignal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/reading.ts';
import { Button, Note } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { focusPageHead, useKeptFocus } from '../../design/keep-focus.ts';
import { isOnlyHere } from './address-card.tsx';
import { clientLine, placeOf } from './client-line.ts';
import { LaterQrCode } from './later-qr-code.tsx';

export function NativeClients({ appId, name }: { readonly appId: string; readonly name: string }) {
  const { busy, failure, run } = useAction();
  const line = useSignal<string | null>(null);
  const asks = useSignal(false);
  const outcome = useSignal<string | null>(null);
  const section = useKeptFocus<HTMLElement>(`${line.value === null} ${asks.value}`);

  async function connect(): Promise<void> {
    outcome.value = null;
    await run(async () => {
      const { backend } = await call('apps.launch', { params: { appId } });
      if (backend === null) outcome.value = `The backend of ${name} is off, so no client can reach it.`;
      else line.value = clientLine(backend);
    });
  }

  async function disconnect(): Promise<void> {
    if (!(await run(() => call('apps.disconnect', { params: { appId } })))) return;
    asks.value = false;
    line.value = null;
    outcome.value = 'All clients are disconnected.';
    if (section.current?.isConnected !== true) focusPageHead();
  }

  return (
    <section ref={section} class="block" aria-labelledby="clients-title">
      <h3 id="clients-title">Native clients</h3>
      <p class="quiet-text">
        A program on your phone or computer can use the backend of {name} as you, with a line that you give it. It works
        for 12 hours at most, and ends when you sign out here.
      </p>
      {line.value !== null && <ClientLine line={line.value} />}
      {asks.value && (
        <section class="row-question" aria-label="Disconnect all clients?">
          <p>Disconnect all clients? Each needs a new line before it works again. Open windows of {name} reconnect.</p>
          <div class="buttons">
            <Button onClick={() => (asks.value = false)}>Keep them</Button>
            <Button kind="danger" busy={busy} onClick={() => void disconnect()}>
              Disconnect
            </Button>
          </div>
        </section>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      <p class="copy-outcome" role="status">
        {outcome.value}
      </p>
      {!asks.value && (
        <div class="buttons">
          {line.value === null ? (
            <Button icon="devices" busy={busy} onClick={() => void connect()}>
              Connect a native client
            </Button>
          ) : (
            <Button icon="check" onClick={() => (line.value = null)}>
              Done
            </Button>
          )}
          <Button
            icon="close"
            onClick={() => {
              outcome.value = null;
              asks.value = true;
            }}
          >
            Disconnect all clients
          </Button>
        </div>
      )}
    </section>
  );
}

function ClientLine({ line }: { readonly line: string }) {
  const local = isOnlyHere(placeOf(line));
  return (
    <div class="internet-card">
      <div class="internet-address">
        <code class="client-line">{line}</code>
        <div class="buttons">
          <CopyButton kind="primary" text={line} what="the line" />
        </div>
        <p class="quiet-text">
          Treat it like a password: anyone with this line uses the app as you.
          {local && ' It works on this computer only, because the platform has no address that other devices reach.'}
        </p>
      </div>
      {!local && <LaterQrCode text={line} what="the line for a native client" />}
    </div>
  );
}
