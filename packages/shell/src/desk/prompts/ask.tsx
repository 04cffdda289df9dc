// The question that is open: one at a time, drawn outside every frame, answered "no" unless a person says yes. Each
// question is a file of its own, which draws it and does what was approved.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';

/** The requester: an app, with the origin of its frame, or the person in the shell's own pages. */
export interface Asker {
  readonly name: string;
  readonly origin: string;
  /** A part of the platform: no app of that name is. */
  readonly builtIn: boolean;
}

/** What every question has, beside its own matter. */
export interface Asked {
  /** `null` when the person began it. */
  readonly asker: Asker | null;
  readonly answer: (approved: boolean) => void;
}

export interface Prompt {
  /** Another one for each question. */
  readonly id: number;
  readonly asker: Asker | null;
  readonly answer: Asked['answer'];
  readonly draw: () => VNode;
}

export const prompt = signal<Prompt | null>(null);
/** Whether the person approved and it was done, so that closing the last page of the dialog is no refusal. */
export const carriedOut = signal(false);

let lastId = 0;

/**
 * Puts a question before the person, which `Review` draws.
 * @returns false when the person declined, or when another question is open
 */
export function ask<Matter extends object>(
  Review: (props: { readonly asked: Asked & Matter }) => VNode,
  asker: Asker | null,
  matter: Matter,
): Promise<boolean> {
  if (prompt.value !== null) return Promise.resolve(false);
  return new Promise((resolve) => {
    lastId += 1;
    const id = lastId;
    // Answered late or twice, it leaves the question that came after it.
    const answer = (approved: boolean) => {
      if (prompt.value?.id === id) prompt.value = null;
      resolve(approved);
    };
    carriedOut.value = false;
    const asked = { ...matter, asker, answer };
    prompt.value = { id, asker, answer, draw: () => <Review asked={asked} /> };
  });
}
