// What went through Gateways in the last day, both ways.
import type { SystemInventory } from '@platform/sdk/browser';
import { Sparkline } from '@platform/shell/sparkline';
import { Section, Table } from './parts.tsx';
import { counted, figure, sizeText, sum } from './words.ts';

type Hour = SystemInventory['traffic']['hours'][number];

const WAYS = [
  ['inbound', 'From browsers to backends'],
  ['outbound', 'From backends to the platform'],
] as const;

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });

export function Traffic({ value: { hours } }: { readonly value: SystemInventory['traffic'] }) {
  return (
    <Section id="traffic" title="Traffic of the last 24 hours">
      <div class="columns">
        {WAYS.map(([way, words]) => (
          <Way key={way} hours={hours} way={way} words={words} />
        ))}
      </div>
      <details>
        <summary>By the hour</summary>
        <Table
          caption="Traffic by the hour"
          head={['From', 'Requests in', 'Bytes in', 'Requests out', 'Bytes out']}
          figures={[1, 2, 3, 4]}
          rows={[...hours].reverse().map(({ at, inbound, outbound }) => ({
            key: at,
            cells: [
              <time key="at" dateTime={at}>
                {clock.format(new Date(at))}
              </time>,
              figure(inbound.requests),
              sizeText(inbound.sentBytes + inbound.receivedBytes),
              figure(outbound.requests),
              sizeText(outbound.sentBytes + outbound.receivedBytes),
            ],
          }))}
        />
      </details>
    </Section>
  );
}

interface WayProps {
  readonly hours: readonly Hour[];
  readonly way: 'inbound' | 'outbound';
  readonly words: string;
}

function Way({ hours, way, words }: WayProps) {
  const requests = hours.map((hour) => hour[way].requests);
  const moved = sum(hours.map((hour) => hour[way].sentBytes + hour[way].receivedBytes));
  const total = `${counted(sum(requests), 'request')}, ${sizeText(moved)}`;
  return (
    <div class="card">
      <h3>{words}</h3>
      <p class="small">{total}</p>
      <Sparkline
        values={requests}
        places={requests.length}
        top={10}
        label={`${words}, by the hour: ${total}, ${figure(requests.at(-1) ?? 0)} in this hour`}
      />
    </div>
  );
}
