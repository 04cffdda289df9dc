// Personal Agent: the assistant comes in a later version; until then it says so and can do nothing.
import { ComingLater } from '../../shared/coming-later.tsx';
import { startApp } from '../../shared/start-app.tsx';

startApp(({ app }) => (
  <ComingLater app={app} title="Personal Agent" line="Not available yet: your assistant comes in a later version.">
    <p class="quiet">It will use your other apps only as far as you allow it.</p>
  </ComingLater>
));
