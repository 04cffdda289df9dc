// The headers of every answer of an app host: what a browser lets a stranger's frontend do. The reasons are in
// docs/decisions/app-origins.md.
import type { CoreConfig } from '../config/config.ts';
import type { GrantedOrigins } from '../grants/frontend-grants.ts';

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

/**
 * @param granted the outside origins that the installation holds, never those of its manifest
 * @param nodeOrigin where the backend of this installation is reached; `null` for an app without one
 */
export function appHeaders(
  config: Pick<CoreConfig, 'origin'>,
  { connect, image, media }: GrantedOrigins,
  nodeOrigin: string | null,
): AppHeaders {
  const backend = nodeOrigin === null ? [] : [nodeOrigin, nodeOrigin.replace(/^http/, 'ws')];
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

function sources(origins: readonly string[]): string {
  return origins.map((origin) => ` ${origin}`).join('');
}
