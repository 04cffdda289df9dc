// The page shown while the account is about to be deleted: keep it, take its data along, or leave.
import type { AccountView } from '@platform/contract';
import { inFull, onDay } from '../../design/words.ts';

import { keepAccount } from '../../session/session.ts';
import { LaterDownload } from './later-download.tsx';
import { StilledPage } from './stilled-page.tsx';

interface ClosingPageProps {
  readonly account: AccountView;
  /** RFC 3339. */
  readonly deletesAt: string;
}

export function ClosingPage({ account, deletesAt }: ClosingPageProps) {
  return (
    <StilledPage
      account={account}
      title="Account to be deleted"
      icon="trash"
      isDanger
      heading="This account will be deleted"
      since={
        <>
          On{' '}
          <time dateTime={deletesAt} title={inFull(deletesAt)}>
            {onDay(deletesAt)}
          </time>
          . Until then you can keep it.
        </>
      }
      facts={[
        {
          icon: 'stop',
          text: 'Your apps are stopped and not reachable from outside. You are signed out on other devices.',
        },
        { icon: 'lock', text: 'Nothing is deleted yet. Afterwards nobody can bring it back.' },
      ]}
      wayBack={{ label: 'Keep my account', busyLabel: 'Keeping it …', go: keepAccount }}
    >
      <div class="closing-download">
        <LaterDownload />
        <p class="quiet-text">
          The download has nothing of what apps keep in object storage or in browsers. To export that, keep the account,
          use what each app offers, and delete the account again.
        </p>
      </div>
    </StilledPage>
  );
}
