// Direct conversations as a person would explain them: for each account what it sees, and nothing of how it is stored.
export type ModelState = 'open' | 'requested' | 'request' | 'left';

interface ModelSide {
  state: ModelState;
  /** Once both had it open, or the other side accepted. */
  opened: boolean;
  blocked: boolean;
  declinedDay: number | null;
  askedDay: number | null;
  sentSinceAsked: number;
  seen: { readonly body: string; readonly mine: boolean }[];
  /** How many of `seen` are read. */
  read: number;
}

export type ModelAct = 'direct' | 'accept' | 'decline' | 'leave' | 'block' | 'send' | 'read';
export type ModelOutcome = 'done' | 'conversation_conflict' | 'not_found';

const DAYS = 30;
const MESSAGES = 3;

export class MessagingModel {
  day = 0;
  readonly #sides = new Map<string, ModelSide>();

  act(own: string, other: string, act: ModelAct, body = ''): ModelOutcome {
    const mine = this.#sides.get(`${own} ${other}`);
    const theirs = this.#sides.get(`${other} ${own}`);
    if (act === 'direct') return this.#direct(own, other);
    if (mine === undefined || theirs === undefined) return 'not_found';
    if (act === 'accept') {
      if (mine.state === 'open') return 'done';
      if (mine.state !== 'request') return 'conversation_conflict';
      this.#meet(mine, theirs);
      return 'done';
    }
    if (act === 'decline' && mine.state !== 'request' && mine.state !== 'left') return 'conversation_conflict';
    if (act === 'decline' || act === 'leave' || act === 'block') {
      if (mine.state === 'request') mine.declinedDay = this.day;
      mine.state = 'left';
      mine.blocked ||= act === 'block';
      mine.read = mine.seen.length;
      return 'done';
    }
    if (act === 'read') {
      if (mine.seen.length === 0) return 'not_found';
      mine.read = mine.seen.length;
      return 'done';
    }
    if (mine.state === 'left' || mine.state === 'request') return 'conversation_conflict';
    if (mine.state === 'requested') {
      if (mine.sentSinceAsked === MESSAGES) return 'conversation_conflict';
      mine.sentSinceAsked += 1;
    }
    mine.seen.push({ body, mine: true });
    if (theirs.state !== 'left') theirs.seen.push({ body, mine: false });
    return 'done';
  }

  /** What an account sees of a conversation; `undefined` for none. */
  view(own: string, other: string): { state: ModelState; unread: number; bodies: string[] } | undefined {
    const side = this.#sides.get(`${own} ${other}`);
    if (side === undefined) return undefined;
    return {
      state: side.state,
      unread: side.seen.slice(side.read).filter(({ mine }) => !mine).length,
      bodies: side.seen.map(({ body }) => body),
    };
  }

  #direct(own: string, other: string): ModelOutcome {
    const mine = this.#sides.get(`${own} ${other}`);
    const theirs = this.#sides.get(`${other} ${own}`);
    if (mine === undefined || theirs === undefined) {
      this.#sides.set(`${own} ${other}`, { ...newSide('requested'), askedDay: this.day });
      this.#sides.set(`${other} ${own}`, newSide('request'));
      return 'done';
    }
    if (mine.state === 'open') return 'done';
    const wasLeft = mine.state === 'left';
    mine.blocked = false;
    if (wasLeft) mine.declinedDay = null;
    if (mine.state === 'request' || theirs.state === 'requested') this.#meet(mine, theirs);
    else if (wasLeft && (mine.opened || theirs.state === 'open')) {
      mine.state = 'open';
      mine.opened = true;
      mine.sentSinceAsked = 0;
    } else this.#ask(mine, theirs);
    return 'done';
  }

  #ask(mine: ModelSide, theirs: ModelSide): void {
    mine.state = 'requested';
    if (mine.askedDay === null || this.day - mine.askedDay >= DAYS) {
      mine.askedDay = this.day;
      mine.sentSinceAsked = 0;
    }
    const declined = theirs.declinedDay !== null && this.day - theirs.declinedDay >= DAYS;
    if (theirs.state === 'left' && !theirs.blocked && declined) {
      theirs.state = 'request';
      theirs.declinedDay = null;
    }
  }

  #meet(mine: ModelSide, theirs: ModelSide): void {
    for (const side of [mine, theirs]) {
      if (side === theirs && side.state !== 'requested') continue;
      side.state = 'open';
      side.opened = true;
      side.sentSinceAsked = 0;
    }
  }
}

function newSide(state: ModelState): ModelSide {
  return {
    state,
    opened: false,
    blocked: false,
    declinedDay: null,
    askedDay: null,
    sentSinceAsked: 0,
    seen: [],
    read: 0,
  };
}
