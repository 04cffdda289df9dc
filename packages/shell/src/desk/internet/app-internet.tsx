// On the page of an app: its address on the internet, how many of its routes are open, and the way to their switches.
import type { PublicAddress } from '@platform/contract';
import { isLoopback } from '../../address/loopback.ts';
import { go, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { usePolling } from '../../api/use-polling.ts';
import { Button, Note, Skeleton } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { count } from '../../design/words.ts';
import { AddressText } from './address-text.tsx';

const EVERY_MS = 5_000;

/** Nothing for an app that declares neither routes nor ports: most do not. */
export function AppInternet({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(() => call('apps.public', { params: { appId } }));
  usePolling(reading.again, EVERY_MS);
  const { value, failure } = reading;
  if (value === null && failure === null) return <Skeleton lines={0} label="Loading the address" />;
  if (value !== null && value.routes.length === 0 && value.ports.length === 0) return null;
  return (
    <section class="block" aria-labelledby="internet-title">
      <h3 id="internet-title">On the internet</h3>
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {value !== null && (
        <>
          <p>{openInWords(value, name)}</p>
          {value.url !== null && (
            <div class="address-line">
              <code>
                <AddressText url={value.url} />
              </code>
              <CopyButton text={value.url} what="the address" />
            </div>
          )}
          <div class="buttons">
            <Button icon="globe" onClick={() => go(settingsAt('apps/:appId/internet', { appId }))}>
              {waysIn(value)}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

function waysIn({ routes, ports }: PublicAddress): string {
  if (ports.length === 0) return 'Routes and requests';
  return routes.length === 0 ? 'Ports' : 'Routes, ports and requests';
}

/** What strangers can do now, in one sentence. */
export function openInWords({ url, routes, ports }: PublicAddress, name: string): string {
  const open = routes.filter(({ state }) => state === 'open' || state === 'partly').length;
  const openPorts = ports.filter(({ state }) => state === 'open').length;
  const parts = [
    ...(open > 0 ? [`requests (${open} of ${count(routes.length, 'route')} open)`] : []),
    ...(openPorts > 0 ? [`packets (${count(openPorts, 'UDP port')} open)`] : []),
  ];
  if (parts.length === 0) return `Nothing of ${name} is open to the internet now.`;
  const hosts = [
    ...(open > 0 && url !== null ? [new URL(url).hostname] : []),
    ...ports.flatMap(({ state, host }) => (state === 'open' ? [host ?? ''] : [])),
  ];
  const who = hosts.every(isLoopback) ? 'Any program on this computer' : 'Anyone on the internet';
  return `${who} can send ${name} ${parts.join(' and ')}.`;
}
