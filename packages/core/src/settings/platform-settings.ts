// The settings of this process. What the master account sets in Fleet is in the database and kept here, as long as signals say
// when it is another; the file of AI providers is read again when the operator asks for it.
import type { CoreConfig } from '../config/config.ts';
import type { IntelligenceFile } from '../config/intelligence-file.ts';
import { unseal } from '../credentials/master-key.ts';
import type { Executor } from '../database/schema.ts';
import type { Signals } from '../database/signals.ts';
import { selectStored } from './queries.ts';
import { PROVIDER_KEY, placeOfKey } from './sealed-key.ts';
import { type Files, NOTHING_STORED, type Settings, type Stored, settingsOf } from './settings.ts';

export interface SettingsParts {
  readonly config: Pick<CoreConfig, 'registration' | 'defaultPlan'>;
  readonly file: IntelligenceFile;
  readonly database: Executor;
  readonly signals: Pick<Signals, 'on' | 'onReset' | 'connected'>;
  readonly masterKey: Buffer;
}

export class PlatformSettings {
  readonly #parts: SettingsParts;
  #stored: Stored = NOTHING_STORED;
  #now: Settings;
  /** No signal said that it is another. */
  #isFresh = false;
  /** Grows with every signal, so that a reading that began before it does not count as fresh. */
  #generation = 0;
  /** Of readings at the same time the one that began last counts. */
  #began = 0;
  #counts = 0;

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    this.#now = this.#merge();
    const forget = () => {
      this.#generation += 1;
      this.#isFresh = false;
    };
    parts.signals.on('settings-changed', forget);
    parts.signals.onReset(forget);
  }

  /** As they were last read: for what follows from an assignment, which {@link read} precedes. */
  get now(): Settings {
    return this.#now;
  }

  get files(): Files {
    const { config, file } = this.#parts;
    return { config, intelligence: file.content };
  }

  /** Without a query as long as signals are received. */
  async current(): Promise<Settings> {
    return this.#isFresh && this.#parts.signals.connected ? this.#now : this.read();
  }

  /** From the database: what was committed before this call is in it. */
  async read(): Promise<Settings> {
    const generation = this.#generation;
    this.#began += 1;
    const turn = this.#began;
    const stored = await selectStored(this.#parts.database);
    if (generation !== this.#generation) return this.read();
    if (turn > this.#counts) {
      this.#counts = turn;
      this.#stored = stored;
      this.#now = this.#merge();
      this.#isFresh = true;
    }
    return this.#now;
  }

  /** What they would be with this in the database. */
  with(stored: Stored): Settings {
    const { masterKey } = this.#parts;
    return settingsOf(this.files, stored, ({ id, details, sealed }) =>
      unseal(masterKey, PROVIDER_KEY, placeOfKey(id, details.baseUrl), sealed ?? Buffer.alloc(0)),
    );
  }

  /** @throws StartError when the file is wrong; what was read before stays in force */
  reloadFile(): void {
    this.#parts.file.reload();
    this.#now = this.#merge();
  }

  #merge(): Settings {
    return this.with(this.#stored);
  }
}
