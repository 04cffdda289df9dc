// Contacts: the address book comes with messaging; the name under which others will find the account is there already.
import { ComingLater } from '../../shared/coming-later.tsx';
import { startApp } from '../../shared/start-app.tsx';

startApp(({ app }) => (
  <ComingLater
    app={app}
    title="Contacts"
    line="Not available yet: your address book comes in a later version, together with messages."
  >
    <p class="quiet">People on this server find you by this name. You can’t change it.</p>
  </ComingLater>
));
