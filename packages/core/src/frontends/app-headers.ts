// The headers of every answer of an app host: what a browser lets a stranger's frontend do. The reasons are in
// docs/decisions/app-origins.md.
import { FRAME_SANDBOX } from '@platform/contract';
import { type CoreConfig, servicesOrigin } from '../config/config.ts';
import type { GrantedOrigins } from '../grants/frontend-grants.ts';

export type AppHeaders = Readonly<Record<string, string>>;

/**
 * Passkeys and devices are for the shell; nothing goes on once the app was left, and nobody follows a person from app to app.
 * What is missing here follows the `allow` of the shell's frame.
 */
const DENIED_FEATURES = [
  'deferred-fetch',
  'deferred-fetch-minimal',
  'browsing-topics',
  'interest-cohort',
  'private-state-token-issuance',
  'private-state-token-redemption',
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
  // Browsers may look up the hosts of links ahead of a click.
  'x-dns-prefetch-control': 'off',
  'x-content-type-options': 'nosniff',
};

/**
 * @param granted the outside origins that the installation holds, never those of its manifest
 * @param nodeOrigin where the backend of this installation is reached; `null` for an app without one
 */
export function appHeaders(
  config: Pick<CoreConfig, 'origin' | 'appsDomain'>,
  granted: GrantedOrigins,
  nodeOrigin: string | null,
): AppHeaders {
  return pageHeaders(config, reachableOrigins(config, granted, nodeOrigin));
}

/** For an app that a person tries before they accept it: its pages reach its own files, and neither the platform nor anything else. */
export function previewHeaders(config: Pick<CoreConfig, 'origin'>): AppHeaders {
  return pageHeaders(config, { connect: [], image: [], media: [] });
}

function pageHeaders(config: Pick<CoreConfig, 'origin'>, { connect, image, media }: GrantedOrigins): AppHeaders {
  const policy = [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${sources(image)}`,
    `media-src 'self' data: blob:${sources(media)}`,
    "font-src 'self' data:",
    `connect-src 'self'${sources(connect)}`,
    "worker-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
  ];
  return withPolicy(config, policy, [...connect, ...image, ...media]);
}

/** For a host that is no app, or not any more. */
export function emptyHostHeaders(config: Pick<CoreConfig, 'origin'>): AppHeaders {
  return withPolicy(config, ["default-src 'none'", "base-uri 'none'", "form-action 'none'"], []);
}

/** The granted origins, the platform's services, and the app's own backend. Every header that names an origin takes it from here. */
function reachableOrigins(
  config: Pick<CoreConfig, 'origin' | 'appsDomain'>,
  { connect, image, media }: GrantedOrigins,
  nodeOrigin: string | null,
): GrantedOrigins {
  const backend = nodeOrigin === null ? [] : [nodeOrigin, nodeOrigin.replace(/^http/, 'ws')];
  return { connect: [servicesOrigin(config), ...backend, ...connect], image, media };
}

function withPolicy(
  config: Pick<CoreConfig, 'origin'>,
  directives: readonly string[],
  reachable: readonly string[],
): AppHeaders {
  return {
    ...common,
    // No browser obeys `webrtc` yet (Chromium 156 logs that it does not know it); the other header blocks most of it.
    'content-security-policy': [
      ...directives,
      "webrtc 'block'",
      // A document that got into a tab of its own has no more than in its frame.
      `sandbox ${FRAME_SANDBOX}`,
      `frame-ancestors ${config.origin}`,
    ].join('; '),
    'connection-allowlist': allowlist(reachable),
  };
}

/**
 * The header `Connection-Allowlist` (WICG): the browser opens no connection of any kind for the page and its workers to
 * other origins. It covers what a content security policy does not: STUN and TURN servers, DNS prefetch, preconnect and
 * navigation. It blocks WebRTC and redirects by default. Its patterns match `ws` as `http`.
 */
function allowlist(origins: readonly string[]): string {
  const named = new Set(origins.map((origin) => `"${origin.replace(/^ws/, 'http')}"`));
  return `(${['response-origin', ...named].join(' ')})`;
}

function sources(origins: readonly string[]): string {
  return origins.map((origin) => ` ${origin}`).join('');
}
