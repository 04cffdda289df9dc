// What a backend's machine provides: the addresses of its UDP ports, or why they are closed, and which limits and
// permissions the machine cannot enforce or provide.
import type { WorkloadDetail } from '@platform/contract';
import { Icon } from '../../design/icons.tsx';
import { portAbout, portAddress } from '../internet/port-words.ts';

// Shown below headings of different levels, so its titles are not headings.
export function BackendPlace({ status }: { readonly status: WorkloadDetail }) {
  return (
    <>
      <PublicPorts ports={status.publicPorts ?? []} isRunning={status.state === 'running'} />
      <Shortcomings sentences={status.unenforced} />
    </>
  );
}

interface PublicPortsProps {
  readonly ports: NonNullable<WorkloadDetail['publicPorts']>;
  /** Otherwise all are closed, and keep their addresses. */
  readonly isRunning: boolean;
}

function PublicPorts({ ports, isRunning }: PublicPortsProps) {
  if (ports.length === 0) return null;
  return (
    <section class="ports" aria-labelledby="ports-title">
      <p class="small-title" id="ports-title">
        UDP ports
      </p>
      <ul>
        {ports.map((port) => (
          <li key={port.name} class="port">
            <span class="port-name">{port.name}</span>
            {port.closed === undefined || !isRunning ? (
              <code class="port-address">{portAddress(port)}</code>
            ) : (
              <span class="port-closed">
                <Icon name="warning" size={16} /> Not open
              </span>
            )}
            <span class="port-about">{portAbout(port)}</span>
          </li>
        ))}
      </ul>
      <p class="quiet-text">
        Anyone who can reach this machine can send packets to these ports; authenticating them is up to the app. To
        close a port, revoke its permission.
      </p>
    </section>
  );
}

function Shortcomings({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <section class="note warning" aria-labelledby="shortcomings-title">
      <Icon name="warning" size={18} />
      <div>
        <p class="small-title" id="shortcomings-title">
          Limitations on this machine
        </p>
        <ul class="shortcomings">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </div>
    </section>
  );
}
