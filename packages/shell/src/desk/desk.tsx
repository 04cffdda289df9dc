// The signed-in page: the bar, the stage with its frames or the shell's own pages, and what is drawn above them.
import type { AccountView } from '@platform/contract';
import { useEffect } from 'preact/hooks';
import { followAddress } from '../address/view.ts';
import { plainMessage } from '../api/api-error.ts';
import { openEventStream } from '../api/event-stream.ts';
import { live } from '../api/live.ts';
import { forgetIcons } from '../apps/app-icons.ts';
import { sendAppsChanged, sendNotification, sendWalletChanged } from '../apps/frames/app-context.ts';
import { guardFields } from '../apps/frames/field-guard.ts';
import { keepFor } from '../apps/frames/kept.ts';
import { installedApps, readInstalledApps, refreshInstalledApps } from '../apps/installed-apps.ts';
import { pausedAt, readPause } from '../apps/pause.ts';
import { claimDrafts, guardDrafts } from '../session/drafts.ts';
import { followGuide, readGuide } from '../session/guide.ts';
import { holdsPrf } from '../session/prf.ts';
import { Bar } from './bar/bar.tsx';
import { startBridge } from './bridge-host.ts';
import { followConnectAddress } from './connections/connect-address.ts';
import { followDrafts } from './drafts/drafts.ts';
import { GuideCard } from './guide/guide-card.tsx';
import { followNotificationAddress } from './notifications/addressed-notification.ts';
import { FlashRegion } from './notifications/flash-region.tsx';
import { applyRead, followNotificationSettings, readInbox, receive } from './notifications/inbox.ts';
import { listenWhileHidden } from './notifications/mirror.ts';
import { followPush } from './notifications/push-here.ts';
import { PromptDialog } from './prompts/prompt-dialog.tsx';
import { followRecentApps } from './search/follow-recent.ts';
import { loadSettings } from './settings/settings-view.tsx';
import { Stage } from './stage/stage.tsx';
import { PausedPage } from './stilled/paused-page.tsx';
import { followStoreAddress } from './store-address.ts';
import { ToastRegion } from './toasts/toast-region.tsx';
import { showToast } from './toasts/toasts.ts';
import { followProposalAddress } from './tools/proposal-address.ts';
import { beginProposals } from './tools/proposals-later.ts';

async function readApps(read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    // Where there is no list yet, what needs it says so itself.
    if (installedApps.value === null) return;
    showToast({ title: 'Your apps could not be listed', body: plainMessage(error), tone: 'danger' });
  }
}

function begin(account: string): () => void {
  keepFor(account);
  claimDrafts(account);
  const endDrafts = guardDrafts();
  followAddress();
  const endRecent = followRecentApps(account);
  startBridge();
  if (holdsPrf()) void import('./recipient/at-sign-in.ts').then(({ openAtSignIn }) => openAtSignIn(account));
  const endGuard = guardFields();
  const ready = Promise.all([readPause(), readApps(readInstalledApps)]);
  const endAddress = followNotificationAddress(ready);
  const endStoreAddress = followStoreAddress(ready);
  const endConnectAddress = followConnectAddress(ready);
  const endProposalAddress = followProposalAddress(ready);
  const proposals = beginProposals();
  void readInbox();
  void readGuide();
  void followDrafts();
  const endPush = followPush(account);
  // Ahead of its use only; when this fails, opening the settings tries again and says why.
  loadSettings().catch(() => undefined);
  const endEvents = openEventStream({
    onNotification: (notification) => {
      receive(notification);
      sendNotification(notification);
    },
    onRead: applyRead,
    onApps: () => {
      forgetIcons();
      void followGuide();
      void readApps(refreshInstalledApps).then(sendAppsChanged);
    },
    onDrafts: () => void followDrafts(),
    // Apart from the first load, as what it shows.
    onAgent: (appId) => void import('./agents/searches.ts').then(({ followAgent }) => followAgent(appId)),
    onRuntime: () => void readPause(),
    onNotificationSettings: () => void followNotificationSettings(),
    onProposals: proposals.follow,
    onWallet: sendWalletChanged,
    onFreshStart: () => {
      void followDrafts();
      void readPause();
      void readInbox();
      void readGuide();
      proposals.follow();
      void readApps(refreshInstalledApps).then(sendAppsChanged);
    },
    whileHidden: listenWhileHidden,
    onLive: (isLive) => {
      live.value = isLive;
    },
  });
  return () => {
    endGuard();
    endDrafts();
    endAddress();
    endStoreAddress();
    endConnectAddress();
    endProposalAddress();
    proposals.end();
    endRecent();
    endPush();
    endEvents();
  };
}

export function Desk({ account }: { readonly account: AccountView }) {
  useEffect(() => begin(account.name), []);
  if (typeof pausedAt.value === 'string') return <PausedPage account={account} since={pausedAt.value} />;
  return (
    <div class="desk">
      <Bar account={account} />
      <FlashRegion />
      <GuideCard account={account.name} />
      <Stage />
      <ToastRegion />
      <PromptDialog />
    </div>
  );
}
