// Web push: how push services reach the operator, and which of them may lie in the operator's own network.
import { isPublicHost } from '@platform/http';
import type { CoreConfig } from './config.ts';
import { originsOf, type Read, wrong } from './variables.ts';

type PushSettings = Pick<CoreConfig, 'vapidSubject' | 'pushPrivateOrigins'>;

/** @param origin of the shell, the subject where none is set and it is one that others can reach */
export function readPushSettings(read: Read, origin: string): PushSettings {
  return {
    vapidSubject: readSubject(read('PLATFORM_VAPID_SUBJECT')) ?? subjectOf(new URL(origin)),
    pushPrivateOrigins: originsOf(read, 'PLATFORM_WEB_PUSH_PRIVATE_ORIGINS', 'https://push.example.lan:8443'),
  };
}

function subjectOf(url: URL): string | null {
  return url.protocol === 'https:' && isPublicHost(url.hostname) ? url.origin : null;
}

/** RFC 8292, section 2.1. Apple's service rejects a subject on a local host with a misleading error. */
function readSubject(value: string | undefined): string | null {
  if (value === undefined) return null;
  const refused = (what: string) =>
    wrong(
      'PLATFORM_VAPID_SUBJECT',
      `is "${value}", ${what}`,
      'set an address that push services can reach, like mailto:you@example.org or https://example.org',
    );
  const mail = /^mailto:[^\s@,<>?"]+@([^\s@,<>?"]+)$/i.exec(value)?.[1];
  if (mail !== undefined) {
    if (!isPublicHost(mail)) throw refused('which is no address outside this network');
    return value;
  }
  if (!URL.canParse(value) || new URL(value).protocol !== 'https:')
    throw refused('which is neither mailto: with an address nor an https: URL');
  const { hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') throw refused('which holds a user name or password');
  if (!isPublicHost(hostname)) throw refused('which is no address outside this network');
  return value;
}
