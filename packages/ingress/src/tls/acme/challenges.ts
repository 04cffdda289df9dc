// Shows a certificate authority that a name is ours: by a file that the plain HTTP listener answers (HTTP-01), or by a
// record that a command of the operator's puts into DNS (DNS-01), which alone works for wildcards.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AcmeError, type ChallengeAnswer } from './authority.ts';

/** What the plain listener answers; by host and token. */
export interface HttpChallenges extends ChallengeAnswer {
  /** @returns what the authority wants to find; `null` for nothing */
  find(host: string, token: string): string | null;
}

export function httpChallenges(): HttpChallenges {
  const values = new Map<string, string>();
  const keyOf = (host: string, token: string): string => `${host} ${token}`;
  return {
    type: 'http-01',
    find: (host, token) => values.get(keyOf(host, token)) ?? null,
    async add(name, token, value) {
      values.set(keyOf(name, token), value);
    },
    async remove(name, token) {
      values.delete(keyOf(name, token));
    },
  };
}

export interface DnsHookOptions {
  /** Absolute path of an executable. */
  readonly command: string;
  /** Milliseconds for one call. Default: five minutes, since it waits until name servers answer the record. */
  readonly milliseconds?: number;
}

const HOOK_MILLISECONDS = 300_000;

/**
 * Calls `<command> add|remove <name of the record> <value>` and waits for its end. Of the environment it gets what finds
 * programs and files, and none of the platform's settings; its output goes nowhere, since it may hold keys.
 */
export function dnsHook({ command, milliseconds = HOOK_MILLISECONDS }: DnsHookOptions): ChallengeAnswer {
  async function call(action: 'add' | 'remove', name: string, value: string): Promise<void> {
    const record = `_acme-challenge.${name.replace(/^\*\./, '')}`;
    const { PATH, HOME, LANG } = process.env;
    // A group of its own, so that what it started ends with it.
    const hook = spawn(command, [action, record, value], {
      stdio: 'ignore',
      env: { PATH, HOME, LANG },
      detached: true,
    });
    const timer = setTimeout(() => {
      if (hook.pid !== undefined) process.kill(-hook.pid, 'SIGKILL');
    }, milliseconds);
    try {
      const [code, signal] = await once(hook, 'exit');
      if (code === 0) return;
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      throw new AcmeError(`the DNS hook failed to ${action} the record ${record}: ${how}`);
    } catch (error) {
      if (error instanceof AcmeError) throw error;
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      throw new AcmeError(`the DNS hook cannot be run: ${reason}`);
    } finally {
      clearTimeout(timer);
    }
  }
  return {
    type: 'dns-01',
    add: (name, _token, value) => call('add', name, value),
    remove: (name, _token, value) => call('remove', name, value),
  };
}
