// The UDP ports of an app: where each is reached, or why it is closed.
import type { PublicPortState } from '@platform/contract';
import { CopyButton } from '../../design/copy-button.tsx';
import { portAddress } from './port-words.ts';

interface PortRowsProps {
  readonly name: string;
  readonly ports: readonly PublicPortState[];
}

export function PortRows({ name, ports }: PortRowsProps) {
  return (
    <ul class="rows">
      {ports.map((port) => (
        <li key={port.name} class="row stacked">
          <div class="row-main udp-port">
            <div class="row-text">
              <span class="row-title">
                {port.name}
                {port.state === 'closed' && <span class="tag warning">Not open</span>}
              </span>
              <Where port={port} />
              <span class="row-about">{aboutPort(port, name)}</span>
            </div>
            {port.host !== null && port.hostPort !== null && port.state !== 'not-granted' && (
              <CopyButton text={portAddress({ host: port.host, hostPort: port.hostPort })} what={`of ${port.name}`} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Where({ port: { host, hostPort, state } }: { readonly port: PublicPortState }) {
  if (host === null || hostPort === null || state === 'not-granted') return null;
  return <code class="port-address">{portAddress({ host, hostPort })}</code>;
}

/** What a person can do about a port that is closed, or what is behind one that is open. */
export function aboutPort({ state, closed, hostPort, containerPort }: PublicPortState, app: string): string {
  switch (state) {
    case 'not-granted':
      return 'Closed: you have not allowed it. Allow it on the app’s page, under “What it may do”.';
    case 'no-backend':
      return `Allowed, but closed: the backend of ${app} is off.`;
    case 'closed':
      return closed ?? `Gets its address when the backend of ${app} first runs, and is open while it runs.`;
    case 'open':
      return `${containerPort === null || containerPort === hostPort ? 'Open' : `Open, port ${containerPort} inside`}. To close it, turn it off on the app’s page, under “What it may do”.`;
  }
}
