// Entry of the trusted page: theme, session, then either the first screen or the desk with its frames.
import { render } from 'preact';
import { App } from './app.tsx';
import { forgetAll } from './apps/frames/kept.ts';
import './design/theme.ts';
import { followPresses } from './desk/notifications/addressed-notification.ts';
import { dropPush } from './desk/notifications/push-here.ts';
import { refuseDrops } from './desk/refuse-drops.ts';
import { forgetRecent } from './desk/search/recent.ts';
import { forgetOffered } from './desk/search/store-hits.ts';
import { followOneTimeLinks } from './session/enrolment.ts';
import { checkSession, endWithSession, forgetWithSession } from './session/session.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id "root".');

forgetWithSession(forgetAll);
forgetWithSession(() => forgetRecent(localStorage));
forgetWithSession(forgetOffered);
endWithSession(dropPush);
followOneTimeLinks();
followPresses();
refuseDrops();
void checkSession();
render(<App />, root);
