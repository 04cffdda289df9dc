// The headers of every answer of an app host: what a browser lets a stranger's frontend do. The reasons are in
// docs/decisions/app-origins.md.
import type { Manifest } from '@platform/contract';
import type { CoreConfig } from '../config/config.ts';

type Frontend = NonNullable<Manifest['frontend']>;
export type AppHeaders = Readonly<Record<string, string>>;

/** Passkeys and devices are for the shell. What is missing here follows the `allow` of the shell's frame. */
const DENIED_FEATURES = [
  'publickey-credentials-get',
  'publickey-credentials-create',
  'identity-credentials-get',
  'otp-credentials',
  'storage-access',
  'camera',
  'microphone',
  'display-capture',
  'geolocation',
  'accelerometer',
  'gyroscope',
  'magnetometer',
  'usb',
  'serial',
  'hid',
  'midi',
  'payment',
  'idle-detection',
  'local-fonts',
  'window-management',
  'xr-spatial-tracking',
];

const common = {
  'permissions-policy': DENIED_FEATURES.map((feature) => `${feature}=()`).join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** @param nodeOrigin where the backend of this installation is reached; `null` for an app without one */
export function appHeaders(
  config: Pick<CoreConfig, 'origin'>,
  frontend: Frontend,
  nodeOrigin: string | null,
): AppHeaders {
  const backend = nodeOrigin === null ? [] : [nodeOrigin, nodeOrigin.replace(/^http/, 'ws')];
  const { connect = [], image = [], media = [] } = frontend.csp ?? {};
  return withPolicy(config, [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${sources(image)}`,
    `media-src 'self' data: blob:${sources(media)}`,
    "font-src 'self' data:",
    `connect-src 'self' ${config.origin}${sources(backend)}${sources(connect)}`,
    "worker-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
  ]);
}

/** For a host that is no app, or not any more. */
export function emptyHostHeaders(config: Pick<CoreConfig, 'origin'>): AppHeaders {
  return withPolicy(config, ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]);
}

function withPolicy(config: Pick<CoreConfig, 'origin'>, directives: readonly string[]): AppHeaders {
  const policy = [...directives, `frame-ancestors ${config.origin}`].join('; ');
  return { ...common, 'content-security-policy': policy };
}

/** A host as a policy can name it: a `;` or space in a publisher's URL must not become a directive. */
const SOURCE = /^(https?|wss?):\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?$/;

function sources(urls: readonly string[]): string {
  return urls
    .filter((url) => URL.canParse(url))
    .map((url) => new URL(url))
    .map(({ protocol, host }) => `${protocol}//${host}`)
    .filter((source) => SOURCE.test(source))
    .map((source) => ` ${source}`)
    .join('');
}
