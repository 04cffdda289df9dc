// Where hostile ceremonies are tried: a running core behind https, accounts to attack, and a check after every attempt
// that it changed nothing and disclosed nothing.
import { strict as assert } from 'node:assert';
import { newAuthenticator, registerAccount, type TestAccount, TestBrowser } from '../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../tests/support/raw-http.ts';
import type {
  Algorithm,
  CreationAnswer,
  CreationChanges,
  RequestAnswer,
  RequestChanges,
} from '../../../tests/support/software-authenticator.ts';

type Kept<Answer> = (answer: Answer) => unknown;

export interface Attempt {
  readonly answer: RawAnswer;
  /** The fault in the log for `verification_failed`, otherwise the code of the problem. */
  readonly refusedFor: string;
}

export class CeremonyStage {
  readonly constellation: Constellation;
  readonly target: { readonly port: number; readonly origin: string };
  /** Every attempt so far, for a test to look at and to clear. */
  attempts: Attempt[] = [];
  #names = 0;
  readonly #moveClock: (milliseconds: number) => void;

  private constructor(constellation: Constellation, moveClock: (milliseconds: number) => void) {
    this.constellation = constellation;
    this.target = { port: constellation.port, origin: constellation.core.context.config.origin };
    this.#moveClock = moveClock;
  }

  static async start(): Promise<CeremonyStage> {
    let ahead = 0;
    const constellation = await startConstellation({
      config: { origin: 'https://shell.example.test', rpId: 'shell.example.test' },
      clock: () => new Date(Date.now() + ahead),
    });
    return new CeremonyStage(constellation, (milliseconds) => {
      ahead += milliseconds;
    });
  }

  newName(): string {
    this.#names += 1;
    return `name-x${this.#names}`;
  }

  passTime(milliseconds: number): void {
    this.#moveClock(milliseconds);
  }

  browser(): TestBrowser {
    return new TestBrowser(this.target);
  }

  account(settings: { algorithm?: Algorithm; counts?: boolean } = {}): Promise<TestAccount> {
    return registerAccount(this.target, this.newName(), settings);
  }

  /** A registration that is valid but for the changes; `kept` changes the JSON that is sent. */
  async register(
    changes: CreationChanges = {},
    settings: { algorithm?: Algorithm; kept?: Kept<CreationAnswer> } = {},
  ): Promise<Attempt> {
    const browser = this.browser();
    const authenticator = newAuthenticator(this.target, { algorithm: settings.algorithm ?? 'ES256' });
    const options = await browser.begin('/v1/auth/register/options', { name: this.newName() });
    const made = authenticator.create(options, changes);
    const credential = settings.kept?.(made) ?? made;
    return this.attempt(browser, '/v1/auth/register/verify', { challengeId: options.challengeId, credential });
  }

  /** A sign-in that is valid but for the changes. */
  async signIn(
    { authenticator }: TestAccount,
    changes: RequestChanges = {},
    kept: Kept<RequestAnswer> = (answer) => answer,
  ): Promise<Attempt> {
    const browser = this.browser();
    const options = await browser.begin('/v1/auth/login/options');
    const credential = kept(authenticator.get(options, changes));
    return this.attempt(browser, '/v1/auth/login/verify', { challengeId: options.challengeId, credential });
  }

  /** Sends a request that must be refused, and checks that it was, changed nothing and disclosed nothing. */
  async attempt(
    browser: TestBrowser,
    path: string,
    body: unknown,
    more: { method?: string; headers?: Record<string, string | undefined> } = {},
  ): Promise<Attempt> {
    const before = await this.#stored();
    const answer = await browser.fetch(path, body === undefined ? more : { ...more, body });
    assert.ok(answer.status >= 400 && answer.status < 500, `answered ${answer.status}: ${answer.text}`);
    assert.equal(answer.headers['set-cookie'], undefined, 'a refused ceremony set a cookie');
    assert.deepEqual(await this.#stored(), before, 'a refused ceremony changed what is stored');
    const code = problemCode(answer);
    assert.doesNotMatch(answer.text, /\bat \S+:\d+|node_modules|\.ts\b|acct-|SELECT|INSERT/);
    const refusedFor = code === 'verification_failed' ? this.#faultOf(answer) : code;
    const attempt = { answer, refusedFor };
    this.attempts.push(attempt);
    return attempt;
  }

  #faultOf(answer: RawAnswer): string {
    const requestId = answer.headers['x-request-id'];
    const line = this.constellation.log.find(
      ({ fields }) => 'fault' in fields && 'requestId' in fields && fields.requestId === requestId,
    );
    return line !== undefined && 'fault' in line.fields ? String(line.fields.fault) : 'no fault was logged';
  }

  async #stored(): Promise<unknown> {
    const { rows } = await this.constellation.core.context.pool.query(`
      SELECT (SELECT json_agg(a ORDER BY key) FROM accounts a) AS accounts,
             (SELECT json_agg(p ORDER BY id) FROM passkeys p) AS passkeys,
             (SELECT json_agg(s.id ORDER BY id) FROM sessions s) AS sessions,
             (SELECT count(*) FROM installations) AS installations,
             (SELECT count(*) FROM enrolment_links) AS links`);
    return rows;
  }

  close(): Promise<void> {
    return this.constellation.close();
  }
}
