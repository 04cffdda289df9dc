// The page shown while everything is paused, and the only place to resume.
import type { AccountView } from '@platform/contract';
import { useEffect, useState } from 'preact/hooks';
import { resumeEverything } from '../../apps/pause.ts';
import { ago, inFull } from '../../design/words.ts';
import { StilledPage } from './stilled-page.tsx';

interface PausedPageProps {
  readonly account: AccountView;
  /** RFC 3339. */
  readonly since: string;
}

export function PausedPage({ account, since }: PausedPageProps) {
  return (
    <StilledPage
      account={account}
      title="Paused"
      icon="pause"
      heading="Everything is paused"
      since={
        <>
          Paused <Since at={since} />.
        </>
      }
      facts={[
        { icon: 'stop', text: 'None of your apps are running or reachable from outside.' },
        { icon: 'lock', text: 'Nothing was deleted.' },
        { icon: 'shield', text: 'Only you can resume them, on this page.' },
      ]}
      wayBack={{ label: 'Resume everything', busyLabel: 'Resuming …', icon: 'play', go: resumeEverything }}
    />
  );
}

const EVERY_MS = 30_000;

/** How long ago, updated while it is shown. */
function Since({ at }: { readonly at: string }) {
  const [words, setWords] = useState(() => ago(at));
  useEffect(() => {
    const timer = setInterval(() => setWords(ago(at)), EVERY_MS);
    return () => clearInterval(timer);
  }, [at]);
  return (
    <time dateTime={at} title={inFull(at)}>
      {words}
    </time>
  );
}
