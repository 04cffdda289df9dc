// Personal Agent: the assistant comes in a later version; until then it says so and can do nothing.
import { ComingLater } from '../../shared/coming-later.tsx';
import { startApp } from '../../shared/start-app.tsx';

startApp(({ app }) => (
  <ComingLater app={app} title="Personal Agent" line="Your assistant comes in a later version; it can do nothing yet.">
    <p class="quiet">It will work with your other apps only as far as you allow each of them.</p>
  </ComingLater>
));
