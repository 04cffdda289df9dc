// Dynamic registration (RFC 7591): a client that has no document names itself, and is forgotten when nobody allows it anything. It
// gets no secret, and no token with which it could change what it said.
import { limits } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import { findClient, insertClient } from '../client-queries.ts';
import { clientMetadata, clientProperties, nameOf } from './client-metadata.ts';

export interface OAuthAnswer {
  readonly status: number;
  readonly body: object;
}

export async function registerClient(
  context: Pick<CoreContext, 'database' | 'clock' | 'random'>,
  body: Buffer,
): Promise<OAuthAnswer> {
  const metadata = clientMetadata.safeParse(parsed(body));
  if (!metadata.success) {
    const [issue] = metadata.error.issues;
    const where = String(issue?.path[0] ?? '');
    const error = where === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    const description = where === '' ? 'The body must be a JSON object.' : `${where} ${issue?.message}.`;
    return { status: 400, body: { error, error_description: description } };
  }
  const { redirect_uris } = metadata.data;
  const id = newId('cli', context);
  const name = nameOf(metadata.data);
  const now = context.clock();
  const row = { id, name, redirect_uris, created_at: now };
  await context.database.transaction().execute((trx) => insertClient(trx, row, limits.unusedClients.value));
  const properties = clientProperties({ id, name, redirectAddresses: redirect_uris });
  return { status: 201, body: { ...properties, client_id_issued_at: Math.floor(now.getTime() / 1_000) } };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** What oidc-provider knows of a client that registered. */
export async function registeredClient(
  { database }: Pick<CoreContext, 'database'>,
  id: string,
): Promise<Record<string, unknown> | undefined> {
  const row = /^cli-[\w-]{1,64}$/.test(id) ? await findClient(database, id) : undefined;
  return row && clientProperties({ id, name: row.name, redirectAddresses: row.redirect_uris });
}
