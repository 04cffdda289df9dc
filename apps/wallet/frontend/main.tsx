// Wallet: payments come in a later version; until then it says so and nothing more.
import { ComingLater } from '../../shared/coming-later.tsx';
import { startApp } from '../../shared/start-app.tsx';

startApp(({ app }) => (
  <ComingLater app={app} title="Wallet" line="Not available yet: payments come in a later version.">
    <p class="quiet">No app can pay on its own: every payment will need your passkey.</p>
  </ComingLater>
));
