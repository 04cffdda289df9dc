// What a run is supposed to do, in the fewest words: one step after the other, without a database.

export interface ModelStep {
  readonly variant: number;
  attempt: number;
  /** Number of the claim that holds it, or held it last. */
  holder: number;
  /** `null` when it was completed or given back. */
  leaseEnd: number | null;
  result: number | null;
}

/** An outcome is the code of a refusal, or what happened. */
export type Outcome = string;

const LEASE = 60_000;
/** A lease further ahead was given by a clock that was wrong. */
const AHEAD = 120_000;

export class WorkflowModel {
  readonly steps = new Map<string, ModelStep>();
  readonly events: string[] = ['created'];
  readonly #end: number;
  #status: 'running' | 'completed' | 'cancelled' = 'running';
  #result: number | null = null;
  #claims = 0;

  constructor(expiresAt: number) {
    this.#end = expiresAt;
  }

  statusAt(now: number): string {
    return this.#status === 'running' && now >= this.#end ? 'expired' : this.#status;
  }

  /** @returns the outcome, and the number of the claim where there is one */
  claim(now: number, name: string, variant: number): { readonly outcome: Outcome; readonly claim?: number } {
    const step = this.steps.get(name);
    if (step !== undefined && step.variant !== variant) return { outcome: 'activity_conflict' };
    if (step !== undefined && step.result !== null) return { outcome: `completed ${step.result}` };
    if (this.statusAt(now) !== 'running') return { outcome: 'workflow_not_running' };
    if (step?.leaseEnd != null && step.leaseEnd > now && step.leaseEnd <= now + AHEAD)
      return { outcome: 'activity_leased' };
    if (step?.leaseEnd != null) this.events.push(`activity-lease-expired ${name}#${step.attempt}`);
    this.#claims += 1;
    const attempt = (step?.attempt ?? 0) + 1;
    this.steps.set(name, { variant, attempt, holder: this.#claims, leaseEnd: now + LEASE, result: null });
    this.events.push(`activity-claimed ${name}#${attempt}`);
    return { outcome: `claimed ${attempt}`, claim: this.#claims };
  }

  renew(now: number, name: string, claim: number): Outcome {
    const step = this.#step(name);
    if (this.statusAt(now) !== 'running') return 'workflow_not_running';
    if (step.holder !== claim || step.leaseEnd === null) return 'lease_lost';
    step.leaseEnd = now + LEASE;
    return 'renewed';
  }

  /** @param result `null` gives the step back */
  settle(now: number, name: string, claim: number, result: number | null): Outcome {
    const step = this.#step(name);
    const isHolder = step.holder === claim;
    if (isHolder && step.leaseEnd !== null && this.statusAt(now) === 'running') {
      step.leaseEnd = null;
      step.result = result;
      this.events.push(`activity-${result === null ? 'failed' : 'completed'} ${name}#${step.attempt}`);
      return 'settled';
    }
    if (isHolder && step.leaseEnd === null && step.result === result) return 'settled';
    if (isHolder && step.result !== null && result !== null) return 'activity_conflict';
    return this.statusAt(now) === 'running' ? 'lease_lost' : 'workflow_not_running';
  }

  end(now: number, result: number): Outcome {
    if (this.#status === 'completed' && this.#result === result) return 'completed';
    if (this.statusAt(now) !== 'running') return 'workflow_not_running';
    this.#status = 'completed';
    this.#result = result;
    this.events.push('completed');
    return 'completed';
  }

  cancel(): void {
    this.#status = 'cancelled';
    this.events.push('cancelled');
  }

  #step(name: string): ModelStep {
    const step = this.steps.get(name);
    if (step === undefined) throw new Error(`nobody has claimed ${name}`);
    return step;
  }
}
