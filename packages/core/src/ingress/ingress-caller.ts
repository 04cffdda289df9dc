// An Ingress, by its credential (`pin_…`).
import type { CoreContext } from '../context.ts';
import type { CallerScheme } from '../http/callers/scheme.ts';
import { findByCredential } from './ingress-queries.ts';

export interface IngressCaller {
  readonly kind: 'ingress';
  readonly ingressId: string;
  readonly publicKey: Buffer;
  readonly expiresAt: Date;
}

declare module '../http/caller.ts' {
  interface CallerKinds {
    ingress: IngressCaller;
  }
}

export function ingressCaller(context: CoreContext): CallerScheme<'ingress'> {
  return {
    kind: 'ingress',
    presented: {
      bearer: 'ingress',
      find: (tokenHash) => findIngress(context, tokenHash),
      expired: 'The credential of this ingress has expired. It renews it with its key.',
    },
    subject: ({ ingressId }) => ingressId,
    from: 'programs',
    link: {
      keyOf: ({ publicKey }) => publicKey,
      otherKey: 'This credential belongs to another Ingress than the key of this connection.',
    },
    changes: [{ signal: 'ingress-credential-replaced', about: 'ingressId', ends: true }],
  };
}

async function findIngress({ pool }: CoreContext, tokenHash: Buffer): Promise<IngressCaller | null> {
  const found = await findByCredential(pool, tokenHash);
  return found === undefined
    ? null
    : {
        kind: 'ingress',
        ingressId: found.id,
        publicKey: found.public_key,
        expiresAt: found.credential_expires_at,
      };
}
