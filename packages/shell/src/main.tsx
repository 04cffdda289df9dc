// Entry of the trusted page: theme, session, then either the first screen or the desk with its frames.
import { render } from 'preact';
import { App } from './app.tsx';
import './design/theme.ts';
import { followPresses } from './desk/notifications/addressed-notification.ts';
import { followOneTimeLinks } from './session/enrolment.ts';
import { checkSession } from './session/session.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id "root".');

followOneTimeLinks();
followPresses();
void checkSession();
render(<App />, root);
