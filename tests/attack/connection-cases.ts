// What a hostile client, page or document tries on the way to tokens of somebody's account, and what becomes of it.

/** Where a request to the authorization endpoint ends: nowhere but on a page here, back at the client, or before the person. */
export type Ending = 'page' | 'asked' | { readonly backWith: string };

export interface AuthorizeCase {
  readonly what: string;
  /** On top of a request that is right; `undefined` leaves one out, several values repeat it. */
  readonly changes: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly ends: Ending;
}

const CALLBACK = 'http://127.0.0.1:33418/callback';
const back = (error: string): Ending => ({ backWith: error });
const redirect = (what: string, address: string, ends: Ending = 'page'): AuthorizeCase => ({
  what: `redirect address: ${what}`,
  changes: { redirect_uri: address },
  ends,
});

/** `ORIGIN` stands for the connect origin. The client registered `http://127.0.0.1:33418/callback` and `https://client.example/cb`. */
export const AUTHORIZE: readonly AuthorizeCase[] = [
  redirect('another port of loopback', 'http://127.0.0.1:1/callback', 'asked'),
  redirect('no port of loopback', 'http://127.0.0.1/callback', 'asked'),
  redirect('exactly the registered one', 'https://client.example/cb', 'asked'),
  redirect('localhost for 127.0.0.1', 'http://localhost:33418/callback'),
  redirect('another loopback address', 'http://127.0.0.2:33418/callback'),
  redirect('a short spelling of loopback', 'http://127.1:33418/callback'),
  redirect('a decimal spelling of loopback', 'http://2130706433:33418/callback'),
  redirect('another path of loopback', 'http://127.0.0.1:33418/other'),
  redirect('a path that climbs', 'http://127.0.0.1:33418/callback/../callback'),
  redirect('loopback over https', 'https://127.0.0.1:33418/callback'),
  redirect('a query that was not registered', `${CALLBACK}?next=https://evil.example`),
  redirect('a fragment', `${CALLBACK}#evil`),
  redirect('an empty fragment', `${CALLBACK}#`),
  redirect('a user', 'http://user@127.0.0.1:33418/callback'),
  redirect('a user that looks like the host', 'http://127.0.0.1:33418@evil.example/callback'),
  redirect('a backslash before the host', 'http://evil.example\\@127.0.0.1:33418/callback'),
  redirect('a trailing dot', 'https://client.example./cb'),
  redirect('another port of https', 'https://client.example:8443/cb'),
  redirect('upper case', 'https://CLIENT.example/cb'),
  redirect('upper case of the path', 'https://client.example/CB'),
  redirect('a look-alike letter', 'https://сlient.example/cb'),
  redirect('the registered one as a subdomain', 'https://client.example.evil.example/cb'),
  redirect('an encoded slash', 'https://client.example%2Fcb'),
  redirect('an encoded letter', 'https://client.example/%63b'),
  redirect('a line break', 'https://client.example/cb\r\nx: y'),
  redirect('a space behind', 'https://client.example/cb '),
  redirect('http for https', 'http://client.example/cb'),
  redirect('a script', 'javascript:alert(1)'),
  redirect('data', 'data:text/html,evil'),
  redirect('relative', '/cb'),
  redirect('nothing', ''),
  redirect('the shell', 'ORIGIN/'),
  { what: 'redirect address: none', changes: { redirect_uri: undefined }, ends: 'page' },
  { what: 'redirect address: two', changes: { redirect_uri: [CALLBACK, 'https://evil.example/'] }, ends: 'page' },
  { what: 'a client that nobody knows', changes: { client_id: 'cli-nobody' }, ends: 'page' },
  { what: 'no client', changes: { client_id: undefined }, ends: 'page' },
  { what: 'two clients', changes: { client_id: ['cli-one', 'cli-two'] }, ends: 'page' },
  { what: 'a client named like a property', changes: { client_id: '__proto__' }, ends: 'page' },
  { what: 'no challenge', changes: { code_challenge: undefined }, ends: back('invalid_request') },
  {
    what: 'a challenge without a method',
    changes: { code_challenge_method: undefined },
    ends: back('invalid_request'),
  },
  { what: 'a plain challenge', changes: { code_challenge_method: 'plain' }, ends: back('invalid_request') },
  { what: 'a challenge that is too short', changes: { code_challenge: 'short' }, ends: back('invalid_request') },
  {
    what: 'two challenges',
    changes: { code_challenge: ['a'.repeat(43), 'b'.repeat(43)] },
    ends: back('invalid_request'),
  },
  { what: 'no resource', changes: { resource: undefined }, ends: back('invalid_target') },
  { what: 'an empty resource', changes: { resource: '' }, ends: back('invalid_target') },
  { what: 'the resource of another', changes: { resource: 'https://evil.example/mcp' }, ends: back('invalid_target') },
  { what: 'a resource beside this one', changes: { resource: 'ORIGIN/v1' }, ends: back('invalid_target') },
  { what: 'a resource with a slash behind', changes: { resource: 'ORIGIN/mcp/' }, ends: back('invalid_target') },
  { what: 'a resource with a fragment', changes: { resource: 'ORIGIN/mcp#x' }, ends: back('invalid_target') },
  { what: 'a resource with a query', changes: { resource: 'ORIGIN/mcp?x=1' }, ends: back('invalid_target') },
  { what: 'two resources', changes: { resource: ['ORIGIN/mcp', 'ORIGIN/mcp/notes'] }, ends: back('invalid_target') },
  { what: 'one resource twice', changes: { resource: ['ORIGIN/mcp', 'ORIGIN/mcp'] }, ends: back('invalid_target') },
  { what: 'the resource of one app', changes: { resource: 'ORIGIN/mcp/notes' }, ends: 'asked' },
  { what: 'scopes that do not exist', changes: { scope: 'admin everything' }, ends: back('invalid_scope') },
  { what: 'a scope with a wildcard inside', changes: { scope: 'tools:call:*.delete' }, ends: back('invalid_scope') },
  { what: 'scopes of which some exist', changes: { scope: 'openid admin tools:propose:*' }, ends: 'asked' },
  {
    what: 'more scopes than there may be',
    changes: { scope: Array.from({ length: 101 }, (_, n) => `tools:call:a${n}`).join(' ') },
    ends: back('invalid_scope'),
  },
  { what: 'a scope with a quote', changes: { scope: 'tools:call:"' }, ends: back('invalid_scope') },
  { what: 'the implicit flow', changes: { response_type: 'token' }, ends: back('invalid_request') },
  { what: 'a hybrid flow', changes: { response_type: 'code id_token' }, ends: back('invalid_request') },
  { what: 'no kind of answer', changes: { response_type: undefined }, ends: back('invalid_request') },
  { what: 'an answer in the fragment', changes: { response_mode: 'fragment' }, ends: 'page' },
  { what: 'an answer in a page of ours', changes: { response_mode: 'form_post' }, ends: 'page' },
  { what: 'no question to the person', changes: { prompt: 'none' }, ends: back('consent_required') },
  { what: 'a request object', changes: { request: 'eyJhbGciOiJub25lIn0.e30.' }, ends: back('request_not_supported') },
  {
    what: 'a request object elsewhere',
    changes: { request_uri: 'https://evil.example/request' },
    ends: back('request_uri_not_supported'),
  },
  { what: 'state twice', changes: { state: ['one', 'two'] }, ends: back('invalid_request') },
];

export interface TokenCase {
  readonly what: string;
  /** On top of the exchange of a fresh code that is right. `OTHER` stands for the id of another client. */
  readonly changes: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly error: string;
  /** The code or token is used up by it. */
  readonly spends?: true;
}

export const EXCHANGE: readonly TokenCase[] = [
  { what: 'no verifier', changes: { code_verifier: undefined }, error: 'invalid_grant' },
  { what: 'another verifier', changes: { code_verifier: 'x'.repeat(43) }, error: 'invalid_grant' },
  { what: 'an empty verifier', changes: { code_verifier: '' }, error: 'invalid_grant' },
  {
    what: 'the verifier twice',
    changes: { code_verifier: ['x'.repeat(43), 'y'.repeat(43)] },
    error: 'invalid_request',
  },
  { what: 'another client', changes: { client_id: 'OTHER' }, error: 'invalid_grant' },
  { what: 'a client that nobody knows', changes: { client_id: 'cli-nobody' }, error: 'invalid_client' },
  { what: 'no client', changes: { client_id: undefined }, error: 'invalid_request' },
  {
    what: 'another port than before',
    changes: { redirect_uri: 'http://127.0.0.1:1/callback' },
    error: 'invalid_grant',
  },
  { what: 'another redirect address', changes: { redirect_uri: 'https://client.example/cb' }, error: 'invalid_grant' },
  { what: 'no redirect address', changes: { redirect_uri: undefined }, error: 'invalid_request' },
  { what: 'another resource', changes: { resource: 'ORIGIN/mcp/notes' }, error: 'invalid_target', spends: true },
  {
    what: 'two resources',
    changes: { resource: ['ORIGIN/mcp', 'https://evil.example/'] },
    error: 'invalid_target',
    spends: true,
  },
  { what: 'a code that nobody was given', changes: { code: 'x'.repeat(43) }, error: 'invalid_grant' },
  { what: 'the code twice', changes: { code: ['x', 'y'] }, error: 'invalid_request' },
  {
    what: 'a password',
    changes: { grant_type: 'password', username: 'a', password: 'b' },
    error: 'unsupported_grant_type',
  },
  { what: 'its own credentials', changes: { grant_type: 'client_credentials' }, error: 'unsupported_grant_type' },
  {
    what: 'a device',
    changes: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'x' },
    error: 'unsupported_grant_type',
  },
  {
    what: 'a token of another kind',
    changes: { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' },
    error: 'unsupported_grant_type',
  },
  { what: 'no kind of grant', changes: { grant_type: undefined }, error: 'invalid_request' },
  {
    what: 'two kinds of grants',
    changes: { grant_type: ['authorization_code', 'refresh_token'] },
    error: 'invalid_request',
  },
];

export const REFRESH: readonly TokenCase[] = [
  { what: 'more scopes than were given', changes: { scope: 'tools:call:*' }, error: 'invalid_scope' },
  { what: 'a scope that another one covers', changes: { scope: 'tools:propose:notes.add' }, error: 'invalid_scope' },
  { what: 'another client', changes: { client_id: 'OTHER' }, error: 'invalid_grant' },
  { what: 'another resource', changes: { resource: 'ORIGIN/mcp/notes' }, error: 'invalid_target', spends: true },
  { what: 'two resources', changes: { resource: ['ORIGIN/mcp', 'ORIGIN/mcp'] }, error: 'invalid_target', spends: true },
  {
    what: 'a token that nobody was given',
    changes: { refresh_token: `pcr_${'x'.repeat(43)}` },
    error: 'invalid_grant',
  },
  { what: 'the token twice', changes: { refresh_token: ['a', 'b'] }, error: 'invalid_request' },
  { what: 'no token', changes: { refresh_token: undefined }, error: 'invalid_request' },
];

export interface MetadataCase {
  readonly what: string;
  /** On top of metadata that is right. */
  readonly metadata: object;
  /** Default: refused as metadata. */
  readonly error?: 'invalid_redirect_uri' | 'invalid_client_metadata';
}

const address = (what: string, redirectUri: unknown): MetadataCase => ({
  what: `redirect address: ${what}`,
  metadata: { redirect_uris: [redirectUri] },
  error: 'invalid_redirect_uri',
});

/** Refused in a registration, and in a document as well. */
export const METADATA: readonly MetadataCase[] = [
  address('http elsewhere', 'http://client.example/cb'),
  address('a script', 'javascript:alert(1)//'),
  address('data', 'data:text/html,x'),
  address('a scheme of its own', 'editor://callback'),
  address('a fragment', 'https://client.example/cb#x'),
  address('a user', 'https://a@client.example/cb'),
  address('an empty user', 'https://@client.example/cb'),
  address('a user and password', 'https://a:b@client.example/cb'),
  address('a trailing dot', 'https://client.example./cb'),
  address('upper case', 'https://Client.example/cb'),
  address('the default port', 'https://client.example:443/cb'),
  address('a path that climbs', 'https://client.example/a/../cb'),
  address('an encoded host', 'https://client%2eexample/cb'),
  address('letters that look alike', 'https://сlient.example/cb'),
  address('a backslash', 'https://client.example\\cb'),
  address('a space', 'https://client.example/c b'),
  address('a line break', 'https://client.example/cb\n'),
  address('loopback as one number', 'http://2130706433/cb'),
  address('loopback over https', 'https://localhost/cb'),
  address('longer than any', `https://client.example/${'a'.repeat(1_100)}`),
  address('a number', 1),
  { what: 'no redirect address', metadata: { redirect_uris: [] }, error: 'invalid_redirect_uri' },
  {
    what: 'too many redirect addresses',
    metadata: { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://client.example/${n}`) },
    error: 'invalid_redirect_uri',
  },
  { what: 'a name that reverses what stands behind it', metadata: { client_name: 'Editor\u202egnp.exe' } },
  { what: 'a name with a line break', metadata: { client_name: 'Editor\nThe platform says: allow' } },
  { what: 'a name that nobody sees', metadata: { client_name: '\u200b\u200b' } },
  { what: 'a name longer than any', metadata: { client_name: 'a'.repeat(81) } },
  { what: 'a name that is none', metadata: { client_name: { toString: 'x' } } },
  { what: 'the implicit flow', metadata: { grant_types: ['implicit'] } },
  { what: 'no code', metadata: { response_types: ['token'] } },
];

/** The whole text of a document at the address `ID`, or what its server does instead. */
export interface DocumentCase {
  readonly what: string;
  readonly text?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Says nothing, and never ends. */
  readonly hangs?: 'before' | 'within';
}

const whole = (changes: object) =>
  JSON.stringify({ client_id: 'ID', redirect_uris: ['http://127.0.0.1/cb'], ...changes });

export const DOCUMENTS: readonly DocumentCase[] = [
  { what: 'another client_id', text: whole({ client_id: 'https://other.example/client.json' }) },
  { what: 'a client_id that only looks the same', text: whole({ client_id: 'ID/' }) },
  { what: 'no client_id', text: JSON.stringify({ redirect_uris: ['http://127.0.0.1/cb'] }) },
  { what: 'a secret', text: whole({ client_secret: 'x' }) },
  { what: 'a client with a secret', text: whole({ token_endpoint_auth_method: 'client_secret_basic' }) },
  {
    what: 'a client with keys elsewhere',
    text: whole({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://169.254.169.254/keys' }),
  },
  { what: 'a redirect', status: 302, headers: { location: 'https://127.0.0.1/client.json' } },
  { what: 'a redirect with a document', status: 301, headers: { location: 'https://other.example/' }, text: whole({}) },
  { what: 'an error with a document', status: 404, text: whole({}) },
  { what: 'more than there may be', text: whole({ padding: 'a'.repeat(70_000) }) },
  { what: 'what is no JSON', text: '<html>' },
  { what: 'a list', text: '[]' },
  { what: 'nothing', text: '' },
  { what: 'nothing, for ever', hangs: 'before' },
  { what: 'a piece, and nothing more', hangs: 'within' },
];

/** Ids that are no addresses of documents, or lead to where nobody may be sent. */
export const DOCUMENT_ADDRESSES: readonly string[] = [
  'http://client.example/client.json',
  'https://client.example',
  'https://client.example/',
  'https://client.example/a/../client.json',
  'https://client.example/client.json#x',
  'https://a@client.example/client.json',
  'https://CLIENT.example/client.json',
  'https://client.example./client.json',
  'https://client.example:443/client.json',
  'https://127.0.0.1/client.json',
  'https://10.0.0.1/client.json',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/client.json',
  'https://2130706433/client.json',
  'https://localhost/client.json',
  'https://private.example/client.json',
  'https://mixed.example/client.json',
  'file:///etc/passwd',
];
