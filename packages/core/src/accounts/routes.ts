// Accounts over HTTP: bodies, cookies and views.
import { type AccountView, type DomainRoute, refuse, type SessionAnswer } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CoreContext } from '../context.ts';
import { KnownBrowsers } from '../http/callers/known-browsers.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { listPage } from '../http/list-page.ts';
import { registrationOf } from '../settings/registration.ts';
import { cancelDeletion, requestDeletion } from './deletion/account-deletion.ts';
import { beginConfirmation, beginRequest } from './passkeys/ceremonies.ts';
import {
  beginEnrolment,
  beginPasskey,
  finishEnrolment,
  finishPasskey,
  passkeyView,
  removePasskey,
  renamePasskey,
} from './passkeys/passkeys.ts';
import { passkeysOf } from './queries.ts';
import { beginRegistration, finishRegistration, type SignedIn } from './registration/register-account.ts';
import {
  clearedSessionCookies,
  holdsPlantedCookies,
  presentedSessionToken,
  sessionCookies,
} from './sessions/session-cookie.ts';
import { sessionsOf } from './sessions/session-queries.ts';
import { sessionView } from './sessions/session-view.ts';
import { type Browser, endSession } from './sessions/sessions.ts';
import { signIn } from './sessions/sign-in.ts';
import { ceremonyRefused, type Refused } from './webauthn/ceremony-fault.ts';

export type AccountRoute = DomainRoute<'accounts' | 'accountClosing'>;

export function accountRoutes(context: CoreContext): HandlersOf<AccountRoute> {
  const { config, database, clock } = context;
  const browsers = new KnownBrowsers(context);

  function refusedBy(request: FastifyRequest, operation: string): Refused {
    return (fault) => ceremonyRefused(context.log, request, operation, fault);
  }

  function browserOf(request: FastifyRequest): Browser {
    return {
      userAgent: request.headers['user-agent'],
      formerToken: presentedSessionToken(request.raw, config),
    };
  }

  /** Before the person signs in: afterwards it would take the new session's cookie along. */
  function clearPlanted(request: FastifyRequest, reply: FastifyReply): void {
    if (holdsPlantedCookies(request.raw, config)) reply.header('clear-site-data', '"cookies"');
  }

  async function welcome({ raw }: FastifyRequest, reply: FastifyReply, signedIn: SignedIn): Promise<SessionAnswer> {
    const { name, createdAt, deletesAt, id, openedAt, expiresAt, token, endedOthers } = signedIn;
    if (endedOthers) await context.signals.settled(context.pool);
    reply.header('set-cookie', [...sessionCookies(config, token), browsers.cookie(raw)]);
    return {
      account: accountView(name, createdAt, deletesAt),
      session: { id, createdAt: openedAt.toISOString(), expiresAt: expiresAt.toISOString() },
    };
  }

  return {
    'auth.registration': async () => ({
      status: 200,
      body: { registration: await registrationOf(config, database), operator: config.operatorContact },
    }),
    'auth.register.options': async ({ body, request, reply }) => {
      clearPlanted(request, reply);
      return { status: 200, body: await beginRegistration(context, body) };
    },
    'auth.register.verify': async ({ body, request, reply }) => {
      const refused = refusedBy(request, 'register');
      const browser = browserOf(request);
      const signedIn = await finishRegistration(context, { body, browser, refused });
      context.log.info({ requestId: request.id, account: signedIn.name }, 'an account was registered');
      return { status: 201, body: await welcome(request, reply, signedIn) };
    },

    'auth.login.options': async ({ request, reply }) => {
      clearPlanted(request, reply);
      return { status: 200, body: await beginRequest(context) };
    },
    'auth.login.verify': async ({ body, request, reply }) => {
      const refused = refusedBy(request, 'login');
      const signedIn = await signIn(context, { body, browser: browserOf(request), refused });
      return { status: 200, body: await welcome(request, reply, signedIn) };
    },

    'auth.enrol.options': async ({ body, request, reply }) => {
      clearPlanted(request, reply);
      return { status: 200, body: await beginEnrolment(context, body.token, refusedBy(request, 'enrol')) };
    },
    'auth.enrol.verify': async ({ body, request, reply }) => {
      const refused = refusedBy(request, 'enrol');
      const signedIn = await finishEnrolment(context, { body, browser: browserOf(request), refused });
      context.log.info({ requestId: request.id, account: signedIn.name }, 'an enrolment link added a passkey');
      return { status: 200, body: await welcome(request, reply, signedIn) };
    },

    'auth.confirm.options': async ({ caller, body }) => ({
      status: 200,
      body: await beginConfirmation(context, caller, body),
    }),
    'account.deletion.request': async ({ caller, body, request }) => {
      const { name: typedName, confirmation } = body;
      const refused = refusedBy(request, 'delete-account');
      const deletesAt = await requestDeletion(context, { caller, typedName, confirmation, refused });
      context.log.info({ requestId: request.id, account: caller.accountName }, 'an account is to be deleted');
      return { status: 200, body: { deletesAt: deletesAt.toISOString() } };
    },
    'account.deletion.cancel': async ({ caller, request }) => {
      await cancelDeletion(context, caller.accountKey);
      context.log.info({ requestId: request.id, account: caller.accountName }, 'an account is kept');
      return { status: 204 };
    },

    'auth.session': async ({ caller }) => ({
      status: 200,
      body: {
        account: accountView(caller.accountName, caller.accountCreatedAt, caller.deletesAt),
        session: {
          id: caller.sessionId,
          createdAt: caller.createdAt.toISOString(),
          expiresAt: caller.expiresAt.toISOString(),
        },
      },
    }),
    'auth.logout': async ({ caller, reply }) => {
      await endSession(context, caller.accountKey, caller.sessionId);
      reply.header('set-cookie', clearedSessionCookies(config));
      return { status: 204 };
    },

    'auth.passkeys.list': async ({ caller: { accountKey }, query }) => {
      const items = (await passkeysOf(database, accountKey)).map(passkeyView);
      return { status: 200, body: listPage(context, query, { name: `passkeys:${accountKey}`, items, idOf: byId }) };
    },
    'auth.passkeys.options': async ({ caller, body: { confirmation }, request }) => {
      const refused = refusedBy(request, 'add-passkey');
      return { status: 200, body: await beginPasskey(context, { caller, confirmation, refused }) };
    },
    'auth.passkeys.verify': async ({ body, caller, request }) => {
      const passkey = await finishPasskey(context, caller, { body, refused: refusedBy(request, 'add-passkey') });
      context.log.info({ requestId: request.id, account: caller.accountName }, 'a passkey was added');
      return { status: 201, body: { passkey: passkeyView(passkey) } };
    },
    'auth.passkeys.label': async ({ body, caller, params }) => {
      const passkey = await renamePasskey(context, caller.accountKey, params.id, body.label);
      return { status: 200, body: { passkey: passkeyView(passkey) } };
    },
    'auth.passkeys.remove': async ({ caller, params, body: { confirmation }, request }) => {
      await removePasskey(context, { caller, confirmation, refused: refusedBy(request, 'remove-passkey') }, params.id);
      context.log.info({ requestId: request.id, account: caller.accountName }, 'a passkey was removed');
      return { status: 204 };
    },

    'auth.sessions.list': async ({ caller: { accountKey, sessionId }, query }) => {
      const sessions = await sessionsOf(database, accountKey, clock());
      const items = sessions.map((session) => sessionView(session, sessionId));
      return { status: 200, body: listPage(context, query, { name: `sessions:${accountKey}`, items, idOf: byId }) };
    },
    'auth.sessions.revoke': async ({ caller, params, reply }) => {
      if (!(await endSession(context, caller.accountKey, params.id))) throw refuse('not_found');
      if (params.id === caller.sessionId) reply.header('set-cookie', clearedSessionCookies(config));
      return { status: 204 };
    },
  };
}

const byId = ({ id }: { readonly id: string }) => id;

function accountView(name: string, createdAt: Date, deletesAt: Date | null): AccountView {
  const closing = deletesAt === null ? {} : { deletesAt: deletesAt.toISOString() };
  return { name, createdAt: createdAt.toISOString(), ...closing };
}
