// Ids of messages that were sent and of which nobody knows yet whether the agent took them: the same words are sent again with the same id.
import { useRef } from 'preact/hooks';

export interface MessageIds {
  /** @param matter what is sent, and where: another one has another id */
  of(matter: string): string;
  /** It was taken: the same words are another message from now on. */
  taken(matter: string): void;
}

export function useMessageIds(): MessageIds {
  const known = useRef(new Map<string, string>()).current;
  return {
    of(matter) {
      const id = known.get(matter) ?? crypto.randomUUID();
      known.set(matter, id);
      return id;
    },
    taken: (matter) => void known.delete(matter),
  };
}
