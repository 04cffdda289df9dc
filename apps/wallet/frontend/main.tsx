// Wallet: payments come in a later version; until then it says so and nothing more.
import { ComingLater } from '../../shared/coming-later.tsx';
import { startApp } from '../../shared/start-app.tsx';

startApp(({ app }) => (
  <ComingLater app={app} title="Wallet" line="Payments come in a later version; there is no money here yet.">
    <p class="quiet">No app can pay anything for you: each payment will need your passkey.</p>
  </ComingLater>
));
