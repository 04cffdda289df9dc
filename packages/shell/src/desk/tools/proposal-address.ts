// The address of a proposal (`#/proposals/<id>`), to which a connected client leads its person.
import { pausedAt } from '../../apps/pause.ts';

const ADDRESS = /^#\/proposals\/(prop-[\w-]{1,64})$/;

/**
 * Asks about the proposal in the address, now and whenever it changes, as soon as `ready` knows the apps of the account.
 *
 * @returns a function that ends it
 */
export function followProposalAddress(ready: Promise<unknown>): () => void {
  const open = () => {
    const id = ADDRESS.exec(location.hash)?.[1];
    if (id === undefined) return;
    // Once: neither reloading nor going back asks again.
    history.replaceState(null, '', '#/');
    void ready
      .catch(() => undefined)
      // The paused page has no room for a question; it waits in Settings.
      .then(async () => {
        if (typeof pausedAt.value === 'string') return;
        const { askAboutProposal } = await import('./proposal-review.tsx');
        await askAboutProposal(id);
      });
  };
  window.addEventListener('hashchange', open);
  open();
  return () => window.removeEventListener('hashchange', open);
}
