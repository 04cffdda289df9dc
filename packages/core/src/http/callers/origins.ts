// Which browser origin may do what: the shell's own, exactly; an app's own, exactly; no other.

import type { IncomingMessage } from 'node:http';
import { type RouteSpec, refuse } from '@platform/contract';
import { type CoreConfig, originParts } from '../../config/config.ts';
import type { Caller } from '../caller.ts';
import type { AnyScheme } from './scheme.ts';

const APP_LABEL = /^[a-z0-9]+(?:-[a-z0-9]+)*--[a-z2-7]{21}$/;

/** Parses the host of an app frontend: `<app-id>--<opaque>.<apps domain>`; `null` for any other host. */
export function parseAppHost(hostname: string, appsDomain: string): { appId: string; hostLabel: string } | null {
  if (!hostname.endsWith(`.${appsDomain}`)) return null;
  const label = hostname.slice(0, -appsDomain.length - 1);
  if (!APP_LABEL.test(label)) return null;
  const at = label.lastIndexOf('--');
  return { appId: label.slice(0, at), hostLabel: label.slice(at + 2) };
}

/** Whether an Origin has the form of an app of this platform: the only ones CORS ever answers. */
export function isAppOrigin(origin: string, config: Pick<CoreConfig, 'origin' | 'appsDomain'>): boolean {
  const { scheme, port } = originParts(config);
  const prefix = `${scheme}://`;
  if (!origin.startsWith(prefix) || !origin.endsWith(port)) return false;
  return parseAppHost(origin.slice(prefix.length, origin.length - port.length), config.appsDomain) !== null;
}

export interface OriginCheck {
  readonly request: IncomingMessage;
  readonly spec: RouteSpec;
  readonly caller: Caller;
  /** `undefined` for an anonymous caller. */
  readonly scheme: AnyScheme | undefined;
  readonly config: CoreConfig;
}

/**
 * @throws RefusalError `origin_not_allowed` when the request did not come from where its credential may be used
 */
export function checkOrigin({ request, spec, caller, scheme, config }: OriginCheck): void {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const refusal = () => refuse('origin_not_allowed');
  if (typeof scheme?.from === 'object') {
    if (caller.kind === 'anonymous') throw refusal();
    const { from } = scheme;
    if ('allows' in from ? !from.allows(caller, origin) : origin !== from.origin(caller)) throw refusal();
    return;
  }
  if (scheme?.from === 'programs') {
    if (origin !== undefined) throw refusal();
    return;
  }
  if (spec.origin === 'app') {
    if (origin === undefined || !isAppOrigin(origin, config)) throw refusal();
    return;
  }
  // A page elsewhere cannot read the answer, and must not spend what its visitor may ask for: it sends no Origin for a picture.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refusal();
  if (spec.origin === 'shell' && origin === undefined) throw refusal();
  if (origin !== undefined && origin !== config.origin) throw refusal();
}
