// The question whether a payment is made, or a limit holds: who asks, to whom, how much, what for, and what is left. The passkey signs
// exactly what is shown.
import type { PaymentOperation, PolicyOperation, WalletReview as Review, RouteAnswer } from '@platform/contract';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { call } from '../../api/client.ts';
import { AppPicture } from '../../apps/app-picture.tsx';
import { findApp, nameOf } from '../../apps/installed-apps.ts';
import { Note } from '../../design/controls.tsx';
import { visibleText } from '../../design/visible-text.ts';
import { inFull } from '../../design/words.ts';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { type Asked, carriedOut } from '../prompts/ask.tsx';
import { Decision } from '../prompts/parts.tsx';
import { ScrollBox } from '../prompts/scroll-box.tsx';
import { showToast } from '../toasts/toasts.ts';
import { appInWords, appsInWords, type Difference, difference, moneyInWords, peopleInWords } from './wallet-words.ts';

type Matter = RouteAnswer<'wallet.proposals.read'>;

export function WalletReview({ asked }: { readonly asked: Asked & Matter }) {
  const { proposal, operation, review, answer } = asked;
  const { id, kind } = proposal;
  const working = useSignal<'approving' | 'declining' | null>(null);
  const failure = useSignal<Failure | null>(null);
  const isPayment = operation.type === 'platform.wallet.payment.v1';
  const title = isPayment
    ? `Pay ${moneyInWords(operation.amount.value, operation.amount.currency, review.balance.decimals)}?`
    : `Limit what apps may propose to pay?`;
  const isShort = isPayment && review.balance.after === null;
  const isRefused = review.admittedBy?.length === 0;

  async function decide(how: 'approving' | 'declining', work: () => Promise<unknown>): Promise<void> {
    working.value = how;
    failure.value = null;
    try {
      await work();
      carriedOut.value = true;
      answer(how === 'approving');
      if (how === 'approving')
        showToast({
          title: isPayment ? 'Paid' : 'The policy holds from now on',
          body: done(operation, review),
          tone: 'success',
        });
    } catch (error) {
      failure.value = failureOf(error);
    }
    working.value = null;
  }

  const approve = () =>
    decide('approving', async () => {
      const confirmation = await confirmWithPasskey(`wallet.${kind}`, id);
      return call('wallet.proposals.approve', { params: { id }, body: { confirmation } });
    });
  const decline = () => decide('declining', () => call('wallet.proposals.decline', { params: { id } }));

  return (
    <>
      <div class="prompt-app">
        <AppPicture appId={review.app.id} name={review.app.name} path={findApp(review.app.id)?.icon ?? null} />
        <div>
          <h2 id="prompt-title">{title}</h2>
          <p class="prompt-publisher">
            <span>{visibleText(appInWords(review.app.id, () => review.app.name))} proposes it</span>
          </p>
        </div>
      </div>
      <ScrollBox label={isPayment ? 'The payment' : 'The policy'}>
        {isPayment ? <PaymentFacts {...{ operation, review }} /> : <PolicyFacts {...{ operation, review }} />}
      </ScrollBox>
      {isShort && <Note tone="warning">Your balance is too low for this payment. The proposal waits in Wallet.</Note>}
      {isRefused && <Note tone="warning">None of your policies for this app admits this payment any more.</Note>}
      <p class="quiet-text">You confirm with your passkey, which signs exactly what is shown here.</p>
      {failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>}
      <Decision
        no={working.value === 'declining' ? 'Declining …' : 'Decline'}
        yes={working.value === 'approving' ? 'Confirming …' : isPayment ? 'Pay' : 'Approve'}
        busy={working.value !== null}
        disabled={isShort || isRefused}
        onNo={() => void decline()}
        onYes={() => void approve()}
      />
    </>
  );
}

function done(operation: Matter['operation'], { balance }: Review): string {
  return operation.type === 'platform.wallet.payment.v1'
    ? `${moneyInWords(operation.amount.value, operation.amount.currency, balance.decimals)} to ${operation.to}`
    : operation.name;
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function PaymentFacts({ operation, review }: { readonly operation: PaymentOperation; readonly review: Review }) {
  const { balance, admittedBy } = review;
  const money = (value: string) => moneyInWords(value, balance.currency, balance.decimals);
  return (
    <dl class="wallet-facts">
      <Fact name="To">
        <strong>{visibleText(operation.to)}</strong>
      </Fact>
      <Fact name="Amount">
        <strong>{money(operation.amount.value)}</strong>
      </Fact>
      <Fact name="Reference">
        {operation.reference === null ? <span class="quiet-text">None</span> : visibleText(operation.reference)}
      </Fact>
      <Fact name="Your balance">
        {balance.after === null ? money(balance.before) : `${money(balance.before)}, then ${money(balance.after)}`}
      </Fact>
      <Fact name="Policy">
        {admittedBy === null
          ? 'You have none for this app'
          : admittedBy.length === 0
            ? 'None admits it'
            : `Admitted by ${admittedBy.map(({ name }) => `“${visibleText(name)}”`).join(', ')}`}
      </Fact>
      <Fact name="Open until">{inFull(operation.expiresAt)}</Fact>
    </dl>
  );
}

const FROM_NOW_ON: Readonly<Record<Difference['kind'], string>> = {
  also: 'From now on also',
  only: 'From now on only',
  mixed: 'From now on',
};

/** More than that are folded. */
const SHOWN = 8;

function PolicyFacts({ operation, review }: { readonly operation: PolicyOperation; readonly review: Review }) {
  const { before, kind, after } = difference(operation, review, { nameOf, inFull, now: new Date() });
  const { recipients } = review;
  const list = (some: readonly string[]) => (
    <ul class="wallet-people">
      {some.map((address) => (
        <li key={address}>{address}</li>
      ))}
    </ul>
  );
  return (
    <>
      <dl class="wallet-facts">
        <Fact name="Policy">
          <strong>{visibleText(operation.name)}</strong>
        </Fact>
        <Fact name="Apps">{visibleText(appsInWords(operation.appIds, nameOf))}</Fact>
        <Fact name="Until now they may propose">
          <ul class="wallet-people">
            {before.map((line) => (
              <li key={line}>{visibleText(line)}</li>
            ))}
          </ul>
        </Fact>
        <Fact name={FROM_NOW_ON[kind]}>
          <ul class="wallet-people">
            {after.map((line) => (
              <li key={line}>
                <strong>{visibleText(line)}</strong>
              </li>
            ))}
          </ul>
        </Fact>
        {operation.validUntil !== null && (
          <Fact name="Until">{`${inFull(operation.validUntil)}. Then it admits nothing, and its apps stay limited until you remove it`}</Fact>
        )}
        <Fact name="Recipients">
          {recipients.length <= SHOWN ? (
            list(recipients)
          ) : (
            <details>
              <summary>All {peopleInWords(recipients.length)}</summary>
              {list(recipients)}
            </details>
          )}
        </Fact>
      </dl>
      <p class="quiet-text">A policy pays nothing: each payment still needs your passkey.</p>
    </>
  );
}
