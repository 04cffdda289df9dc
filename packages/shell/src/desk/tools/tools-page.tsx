// Tools: what waits for a decision, what each app offers and may use, and the record of calls.
import type { ShownProposal, ToolApp } from '@platform/contract';
import { useEffect } from 'preact/hooks';
import { call, ONE_PAGE } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { installedApps } from '../../apps/installed-apps.ts';
import { Button, Empty, Note, Skeleton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { PageHead } from '../../design/page-head.tsx';
import { visibleText } from '../../design/visible-text.ts';
import { ago } from '../../design/words.ts';
import { SomeGrants } from '../app-settings/grants-editor.tsx';
import { dismissAnnouncement, openProposal } from './announce-proposals.ts';
import { CallRecord } from './call-record.tsx';
import { followProposals, pendingProposals } from './pending-proposals.ts';
import { detailOf, proposerOf, summaryOf } from './proposal-words.ts';

export function ToolsPage() {
  const reading = useReading(async () => (await call('account.tools', ONE_PAGE)).items);
  useEffect(() => {
    dismissAnnouncement();
    void followProposals();
  }, []);
  const { value: apps, failure } = reading;
  const pending = pendingProposals.value ?? [];
  return (
    <>
      <PageHead title="Tools">
        <p class="quiet-text">
          Apps can offer tools to each other and to clients that you connect. You choose who may use what, and what
          needs your approval each time.
        </p>
      </PageHead>
      {pending.length > 0 && (
        <section class="block" aria-labelledby="pending-title">
          <h3 id="pending-title">Waits for you</h3>
          <ul class="rows">
            {pending.map((proposal) => (
              <PendingRow key={proposal.id} proposal={proposal} />
            ))}
          </ul>
        </section>
      )}
      {failure !== null && <Note tone="danger">{failure}</Note>}
      {apps === null && failure === null && <Skeleton lines={3} label="Loading tools" />}
      {apps !== null && apps.length === 0 && (
        <Empty icon="tool" title="No app has to do with tools">
          Apps that offer or use tools are listed here, with what you allow them.
        </Empty>
      )}
      {apps !== null && apps.length > 0 && (
        <section class="block" aria-labelledby="tool-apps-title">
          <h3 id="tool-apps-title">Apps</h3>
          <ul class="rows">
            {apps.map((one) => (
              <AppRow key={one.app.id} one={one} onClosed={reading.again} />
            ))}
          </ul>
        </section>
      )}
      <CallRecord />
    </>
  );
}

function PendingRow({ proposal }: { readonly proposal: ShownProposal }) {
  const { id, createdAt } = proposal;
  const detail = detailOf(proposal);
  return (
    <li class="row">
      <span class="row-icon">
        <Icon name="tool" />
      </span>
      <span class="row-text">
        <span class="row-title">{summaryOf(proposal)}</span>
        {detail !== '' && <span class="tool-words">{detail}</span>}
        <span class="row-about">
          {proposerOf(proposal)} proposes it · {ago(createdAt)}
        </span>
      </span>
      <Button onClick={() => void openProposal(id)}>Decide</Button>
    </li>
  );
}

const iconOf = (appId: string): string | null =>
  installedApps.value?.find((installed) => installed.appId === appId)?.icon ?? null;

const isOfTools = (id: string): boolean => id.startsWith('mcp.tools.');

function AppRow({ one, onClosed }: { readonly one: ToolApp; readonly onClosed: () => Promise<void> }) {
  const { app, offers, calls, proposes } = one;
  const count = offers?.length ?? 0;
  const words = [
    ...(count === 0 ? [] : [`Offers ${count === 1 ? 'a tool' : `${count} tools`}`]),
    ...(calls.length === 0 ? [] : ['uses tools without asking']),
    ...(proposes.length === 0 ? [] : ['proposes calls']),
  ].join(', ');
  return (
    <li class="row stacked">
      <details class="tool-app" onToggle={({ currentTarget }) => !currentTarget.open && void onClosed()}>
        <summary class="row-main">
          <AppPicture appId={app.id} name={app.name} path={iconOf(app.id)} />
          <span class="row-text">
            <span class="row-title">{app.name}</span>
            <span class="row-about">
              {words === ''
                ? 'You allow it nothing of what it requested'
                : words.charAt(0).toUpperCase() + words.slice(1)}
            </span>
          </span>
          <Icon name="down" />
        </summary>
        {offers !== null && offers.length > 0 && (
          <ul class="tool-offers" aria-label={`Tools of ${app.name}`}>
            {offers.map(({ name, title, description }) => (
              <li key={name}>
                <span class="tool-name">{visibleText(title ?? name)}</span>
                {description !== null && <span class="quiet-text">{visibleText(description)}</span>}
              </li>
            ))}
          </ul>
        )}
        <SomeGrants appId={app.id} only={isOfTools} />
      </details>
    </li>
  );
}
