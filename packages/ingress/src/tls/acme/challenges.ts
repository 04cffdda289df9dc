// Shows a certificate authority that a name is ours: by a file that the plain HTTP listener answers (HTTP-01), or by a
// record that a command of the operator's puts into DNS (DNS-01), which alone works for wildcards.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { codeOf } from '../certificate-source.ts';
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

export interface DnsHook extends ChallengeAnswer {
  /** Kills what is under way. */
  end(): void;
}

const HOOK_MILLISECONDS = 300_000;

/**
 * Calls `<command> add|remove <name of the record> <value>` and waits for its end. Of the environment it gets what finds
 * programs and files, and none of the platform's settings; its output goes nowhere, since it may hold keys. One that takes
 * too long, or whose order is over, is killed with what it started.
 */
export function dnsHook({ command, milliseconds = HOOK_MILLISECONDS }: DnsHookOptions): DnsHook {
  /** Cuts off a call that is under way. */
  const running = new Set<(how: string) => void>();

  async function call(action: 'add' | 'remove', name: string, value: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const record = `_acme-challenge.${name.replace(/^\*\./, '')}`;
    const failed = (how: string) => hookError(`the DNS hook failed to ${action} the record ${record}: ${how}`);
    const { PATH, HOME, LANG } = process.env;
    // A group of its own, so that what it started ends with it.
    const hook = spawn(command, [action, record, value], {
      stdio: 'ignore',
      env: { PATH, HOME, LANG },
      detached: true,
    });
    const cut = Promise.withResolvers<never>();
    const cutOff = (how: string) => {
      cut.reject(failed(how));
      endGroup(hook.pid);
    };
    const timer = setTimeout(() => cutOff(`it did not end within ${milliseconds / 1_000} s`), milliseconds);
    running.add(cutOff);
    const abort = () => cutOff('the order is over');
    signal?.addEventListener('abort', abort);
    try {
      const [code, killedBy] = await Promise.race([once(hook, 'exit'), cut.promise]);
      if (code !== 0) throw failed(killedBy === null ? `exit code ${code}` : `signal ${killedBy}`);
    } catch (error) {
      if (error instanceof AcmeError) throw error;
      throw hookError(`the DNS hook cannot be run: ${codeOf(error)}`);
    } finally {
      running.delete(cutOff);
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
  return {
    type: 'dns-01',
    add: (name, _token, value, signal) => call('add', name, value, signal),
    remove: (name, _token, value) => call('remove', name, value),
    end() {
      for (const cutOff of running) cutOff('the Ingress ended');
    },
  };
}

const hookError = (message: string): AcmeError => new AcmeError(message, { step: 'hook' });

/** What may not be ended, such as what runs as another user, goes on without its order. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!['EPERM', 'ESRCH'].includes(codeOf(error))) throw error;
  }
}
