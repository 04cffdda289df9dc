// A change that a passkey confirms: under way, or why it failed.
import type { ConfirmedOperation, PasskeyConfirmation } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';

export function useConfirmed() {
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);

  /** @returns what it answered; `null` when it failed, which `failure` then says */
  async function run<Answer>(
    operation: ConfirmedOperation,
    subject: string,
    send: (confirmation: PasskeyConfirmation) => Promise<Answer>,
  ): Promise<Answer | null> {
    if (busy.value) return null;
    busy.value = true;
    failure.value = null;
    try {
      return await send(await confirmWithPasskey(operation, subject));
    } catch (error) {
      failure.value = failureOf(error);
      return null;
    } finally {
      busy.value = false;
    }
  }
  return { busy: busy.value, failure: failure.value, run };
}
