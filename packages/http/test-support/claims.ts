// Fields that a stranger could speak with in the name of a proxy, and those that clients have for themselves.

/** As products document them; the groups are where they were found. */
export const CLAIMS = [
  // Public reports of oauth2-proxy and miniflux, and httpoxy.
  ...['CF-Connecting-IPv6', 'CF-Pseudo-IPv4', 'Fly-Client-IP', 'Client-IP', 'X-ProxyUser-Ip', 'Proxy'],
  ...['X-Envoy-External-Address', 'X-Azure-SocketIP', 'X-Appengine-User-IP', 'X-Host', 'X-Scheme', 'Front-End-Https'],
  ...['Remote-User', 'X-Remote-User', 'X-Auth-Request-User', 'X-Auth-Request-Email', 'X-Authentik-Username'],
  ...['Tailscale-User-Login', 'Cf-Access-Jwt-Assertion', 'X-Remote-User-Id', 'X-Sandstorm-User-Id'],
  ...['X-Goog-Authenticated-User-Email', 'X-Ms-Client-Principal', 'X-Amzn-Oidc-Identity', 'X-Pomerium-Jwt-Assertion'],
  ...['X-Consumer-Username', 'X-Ssl-Client-Verify'],
  // Proxies and networks of delivery.
  ...['X-Real-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'True-Client-IP', 'Fastly-Client-IP', 'X-Originating-IP'],
  ...['X-Remote-IP', 'X-Remote-Addr', 'WL-Proxy-Client-IP', 'WL-Proxy-SSL', 'X-Azure-ClientIP', 'X-Azure-FDID'],
  ...['X-ARR-ClientCert', 'X-ARR-SSL', 'X-NF-Client-Connection-IP', 'CloudFront-Viewer-Address', 'X-Vercel-IP-Country'],
  ...[
    'Akamai-Origin-Hop',
    'Ali-CDN-Real-IP',
    'Cdn-Src-Ip',
    'Incap-Client-IP',
    'X-Sucuri-ClientIP',
    'CDN-Loop',
    'X-Via',
  ],
  ...[
    'Forwarded-For',
    'X-Forward-For',
    'X-Forwarded',
    'Fly-Forwarded-Proto',
    'X-Url-Scheme',
    'X-Forwarded-Client-Cert',
  ],
  ...['X-Envoy-Original-Path', 'X-Envoy-Internal', 'L5d-Client-Id', 'X-Middleware-Subrequest', 'HTTP-X-Forwarded-For'],
  // Certificates.
  ...['Client-Cert', 'Client-Cert-Chain', 'SSL-Client-Cert', 'SSL_CLIENT_S_DN', 'X-Client-Verify', 'X-SSL-CERT'],
  ...['X-Amzn-Mtls-Clientcert', 'X-Client-DN', 'X-TLS-Client-Certificate'],
  // Identity-aware proxies.
  ...['Remote-Groups', 'Remote-Email', 'X-Auth-User', 'X-Auth-Email', 'X-Auth-Groups', 'X-WEBAUTH-USER'],
  ...['X-Authenticated-User', 'X-Authenticated-Userid', 'X-Goog-IAP-JWT-Assertion', 'X-MS-Token-AAD-Id-Token'],
  ...['X-MS-Client-Principal-Name', 'X-Amzn-Oidc-Data', 'X-Pomerium-Claim-Email', 'X-Consumer-Custom-ID', 'X-Userinfo'],
  ...['X-Credential-Identifier', 'X-Anonymous-Consumer', 'X-Vouch-User', 'X-Vouch-IdP-Claims-Groups', 'Shib-Identity'],
  ...['X-Apigateway-Api-Userinfo', 'X-Endpoint-API-UserInfo', 'X-Authentik-Meta-Outpost', 'X-Authentik-Groups'],
  ...['Tailscale-User-Name', 'Cf-Access-Authenticated-User-Email', 'X-Okta-User', 'X-User', 'X-User-Id', 'X-Username'],
  ...[
    'X-User-Email',
    'Impersonate-User',
    'Impersonate-Group',
    'X-Id-Token',
    'X-Jwt-Assertion',
    'X-Appengine-User-Email',
  ],
  ...['X-Sandstorm-Permissions', 'X-CAS-User', 'X-On-Behalf-Of', 'Teleport-Jwt-Assertion', 'X-Email', 'X-Groups'],
];

/** What browsers, SDKs and the senders of webhooks send, and an application needs. */
export const OWN = [
  ...['Accept', 'Accept-Language', 'Content-Type', 'User-Agent', 'Range', 'If-Match', 'Last-Event-ID', 'Referer'],
  ...['X-Requested-With', 'X-Api-Key', 'X-Auth-Token', 'X-Csrf-Token', 'Idempotency-Key', 'Prefer', 'DNT', 'Priority'],
  ...['Sec-Fetch-Site', 'Sec-Ch-Ua', 'Sec-WebSocket-Key', 'Sec-WebSocket-Protocol', 'Access-Control-Request-Method'],
  ...[
    'X-Hub-Signature-256',
    'X-GitHub-Event',
    'X-GitHub-Delivery',
    'X-Gitlab-Token',
    'X-Gitlab-Event',
    'Stripe-Signature',
  ],
  ...['X-Slack-Signature', 'X-Slack-Request-Timestamp', 'X-Shopify-Hmac-Sha256', 'X-Shopify-Topic', 'Webhook-Id'],
  ...['Webhook-Signature', 'Svix-Signature', 'X-Twilio-Signature', 'X-Signature-Ed25519', 'Paypal-Transmission-Id'],
  ...['X-Telegram-Bot-Api-Secret-Token', 'X-Line-Signature', 'X-Discord-Locale', 'X-Amz-Sns-Message-Type', 'Ce-Id'],
  ...['X-Goog-Channel-Id', 'X-Goog-Resource-State', 'X-Event-Key', 'X-Hook-UUID', 'X-Atlassian-Webhook-Identifier'],
  ...[
    'Mcp-Session-Id',
    'Mcp-Protocol-Version',
    'X-Zip-Code',
    'X-Membership',
    'X-Trip',
    'Description',
    'X-Sentry-Token',
  ],
  ...[
    'Sec-CH-Prefers-Color-Scheme',
    'Sec-CH-DPR',
    'Save-Data',
    'Sec-GPC',
    'Upgrade-Insecure-Requests',
    'X-Device',
    'Digest',
    'Content-Digest',
    'Signature',
    'Signature-Input',
    'Date',
    'Cache-Control',
    'X-Correlation-Id',
  ],
];

/** Fields that say another place than the request line, to servers behind rewriting proxies, WebDAV, CGI and frameworks. */
export const PLACES = [
  ...['X-Original-URL', 'X-Original-URI', 'X-Original-Host', 'X-Original-Path', 'X-Rewrite-URL', 'X-Rewrite-Path'],
  ...['X-Override-URL', 'X-HTTP-DestinationURL', 'Destination', 'Path-Info', 'Script-Name', 'X-Script-Name'],
  ...['Request-Uri', 'X-Request-Uri', 'X-Http-Path-Override', 'X-Waws-Unencoded-URL', 'X-Matched-Path', 'X-Host'],
  ...['X-Invoke-Path', 'X-Envoy-Original-Path', 'X-Host-Override', 'X-HTTP-Host-Override', 'Base-Url', 'X-Proxy-Url'],
];
