// Fields in which a proxy in front tells an application who sends a request, from where, over what, and as whom. No proxy
// in front of a backend says any of that but the platform, in fields of its own, so those of a sender are
// dropped: a stranger could pass for anybody whom the application expects such a proxy to name. Products add new fields all the
// time; so a rule of words, and the prefixes of products.
import { plainName } from './plain-name.ts';

/** Products that authenticate or forward, and what they put in front of the names of their fields. */
const PRODUCTS = [
  ...['ali-cdn', 'akamai', 'authelia', 'authentik', 'aws', 'azure', 'cdn', 'cf', 'cloudflare', 'cloudfront', 'envoy'],
  ...['fastly', 'fly', 'gfe', 'iap', 'impersonate', 'incap', 'istio', 'keycloak', 'kong', 'l5d', 'linkerd', 'okta'],
  ...['pomerium', 'proxy', 'railway', 'remote', 'render', 'sandstorm', 'shib', 'ssl', 'sucuri', 'tailscale', 'tls'],
  ...['teleport', 'traefik', 'vercel', 'vouch', 'webauth', 'wl-proxy', 'nf', 'mtls', 'oidc', 'saml', 'ssl-client'],
  ...['amzn', 'amz-cf', 'appengine', 'apigateway', 'arr', 'apisix', 'authenticated', 'auth-request', 'cas', 'cluster'],
  ...['consumer', 'credential', 'anonymous', 'edge', 'endpoint', 'ms-client', 'ms-token', 'goog-authenticated'],
  ...['goog-iap', 'google', 'jwt', 'nginx', 'proxyuser', 'token-subject', 'true-client', 'middleware'],
];
const OF_PRODUCTS = new RegExp(`^(?:http-)?(?:x-)?(?:${PRODUCTS.join('|')})(?:-|$)`);

/** Whatever stands around them: the words of addresses, forwarding, certificates and accounts. */
const WORDS = [
  // Where from.
  ...['ip', 'ipv4', 'ipv6', 'addr', 'ipaddr', 'ipaddress', '(?:client|connecting|origin|peer|real|remote|socket)-?ip'],
  ...['(?:source|src|user|visitor)-?ip', 'client-address', 'viewer-address', 'remote-address', 'cdn-loop'],
  // Over what.
  ...['forward(?:ed)?', 'front-end-https', 'https', 'is-ssl', 'client-?(?:cert|certificate|verify|dn|ssl|tls)'],
  ...['ssl-?(?:client|cert|cipher|protocol)', 'peer-cert'],
  // As whom.
  ...['principal', 'username', 'userid', 'userinfo', 'useremail', 'authenticated', 'impersonate', 'assertion'],
  ...['on-behalf-of', 'act-as', 'sudo', 'id-token', 'eppn'],
];
const OF_WORDS = new RegExp(`(?:^|-)(?:${WORDS.join('|')})(?:-|$)`);

/** Those that consist of one word behind their `X-`; as part of a longer name they say other things as well. */
const OF_ONE_WORD = new RegExp(
  `^x-(?:${[
    ...[
      'host',
      'https?',
      'scheme',
      'url-scheme',
      'proto',
      'protocol',
      'port',
      'server-name',
      'host-override',
      'via',
      'email',
      'mail',
      'groups?',
    ],
    ...[
      'roles?',
      'user',
      'login',
      'uid',
      'identity',
      'subject',
      'account',
      'caller',
      'comefrom',
      'coming-from',
      'originating',
    ],
    ...['auth-(?:user|name|email|mail|groups?|roles?|id|subject|sub|login|uid|preferred|given|family|tenant|type)'],
  ].join('|')})(?:-|$)`,
);

/** Names that are kept with their answer, each no longer than names of fields are; senders choose them. */
const KEPT_NAMES = 1_000;
const KEPT_LENGTH = 64;
const known = new Map<string, boolean>();

/** Whether a field, by its name in any spelling, says who sent a request, from where, over what or as whom. */
export function isClaim(name: string): boolean {
  const found = known.get(name);
  if (found !== undefined) return found;
  const plain = plainName(name);
  const claims = OF_PRODUCTS.test(plain) || OF_WORDS.test(plain) || OF_ONE_WORD.test(plain);
  if (name.length > KEPT_LENGTH) return claims;
  if (known.size >= KEPT_NAMES) known.clear();
  known.set(name, claims);
  return claims;
}
