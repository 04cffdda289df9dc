// What a person sees whose browser a client sent here with a request that cannot go on: there is nowhere safe to send it back to.
import type { KoaContext } from 'oidc-provider';
import type { CoreConfig } from '../../config/config.ts';
import { plainPage } from '../../http/server/plain-page.ts';

type Place = Pick<CoreConfig, 'origin'>;

interface Words {
  readonly heading: string;
  readonly text: string;
}

const EXPIRED: Words = {
  heading: 'This request can’t be continued here',
  text: 'It has expired, was used already, or began in another browser. Connect again in the client.',
};

const WORDS: Readonly<Record<string, Words>> = {
  invalid_client: {
    heading: 'This client isn’t known here',
    text: 'Clients that nobody connects are forgotten after a day. Remove the connection in the client, then connect again.',
  },
  invalid_redirect_uri: {
    heading: 'This client asked for an answer at another address',
    text: 'The address isn’t one that the client named when it introduced itself, so nothing was sent there.',
  },
};

/** Nothing that the request holds is in the page. */
export async function refusedPage(config: Place, ctx: KoaContext, out: object, error: Error): Promise<void> {
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.body = out;
    return;
  }
  const code = 'error' in error ? String(error.error) : '';
  const isExpired = error.name === 'SessionNotFound';
  const words = isExpired ? EXPIRED : (WORDS[code] ?? notUnderstood(code));
  const page = plainPage({ ...pageOf(words, config), status: ctx.status });
  for (const [name, value] of Object.entries(page.headers)) ctx.set(name, String(value));
  ctx.body = page.body;
}

function notUnderstood(code: string): Words {
  const which = /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : '';
  return {
    heading: 'This client can’t connect',
    text: `Its request isn’t one that the platform understands${which}. Connect again in the client; if that doesn’t help, tell its maker.`,
  };
}

export function notUnderstoodPage(config: Place) {
  return plainPage({ ...pageOf(notUnderstood('invalid_request'), config), status: 400 });
}

export function expiredPage(config: Place) {
  return plainPage({ ...pageOf(EXPIRED, config), status: 400 });
}

function pageOf({ heading, text }: Words, { origin }: Place) {
  return { title: 'Not connected', heading, text, link: { href: `${origin}/`, text: 'Home screen' } };
}
