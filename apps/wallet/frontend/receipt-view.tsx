// A receipt: what was approved, by which passkey, and which policies admitted it.
import type { Receipt } from '@platform/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import type { Overview } from './use-wallet.ts';
import { currencyOf, moneyText, whenText } from './words.ts';

interface ReceiptProps {
  readonly read: (id: string) => Promise<Receipt>;
  readonly id: string;
  readonly overview: Overview;
}

export function ReceiptView({ read, id, overview }: ReceiptProps) {
  const [receipt, setReceipt] = useState<Receipt>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    read(id).then(setReceipt, (error: unknown) => setProblem(messageOf(error)));
  }, [id]);
  if (receipt === undefined) return <Failure text={problem} />;
  const { operation, assertion, policies, at } = receipt;
  const names = new Map(overview.policies.map((policy) => [policy.id as string, policy.name]));
  return (
    <dl class="receipt">
      {operation.type === 'platform.wallet.payment.v1' && (
        <>
          <dt>From</dt>
          <dd>{operation.from}</dd>
          <dt>To</dt>
          <dd>{operation.to}</dd>
          <dt>Amount</dt>
          <dd>{moneyText(operation.amount.value, currencyOf(operation.amount.currency, overview.balances))}</dd>
          <dt>What for</dt>
          <dd>{operation.reference ?? '—'}</dd>
        </>
      )}
      <dt>Approved</dt>
      <dd>{whenText(at)}, with a passkey</dd>
      <dt>Policies</dt>
      <dd>
        {policies.length === 0
          ? 'None was needed'
          : policies
              .map(
                ({ policyId, index, size }) =>
                  `${names.get(policyId) ?? 'A removed policy'} (recipient ${index + 1} of ${size})`,
              )
              .join(', ')}
      </dd>
      <dt>Receipt</dt>
      <dd>
        <code>{receipt.id}</code>
      </dd>
      <dt>Proof</dt>
      <dd>
        <details>
          <summary>What the passkey signed</summary>
          <pre>{JSON.stringify({ operation, assertion, policies }, null, 1)}</pre>
        </details>
      </dd>
    </dl>
  );
}
