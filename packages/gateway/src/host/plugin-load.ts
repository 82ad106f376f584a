// One load of a plugin: what it may do, what it has registered, and everything that has to be undone when it ends. A load
// that has ended is never live again; whoever still holds its api is told so.
import { setMaxListeners } from 'node:events';
import type { ContributionKind, JsonObject, RejectionCode } from '@tenon/protocol';
import { howToGrant } from './missing-grant.ts';
import { type PluginScope, runAsPlugin } from './plugin-scope.ts';

/** What became of one registration. */
export interface Registration {
  readonly kind: ContributionKind | 'hook';
  readonly key: string;
  readonly accepted: boolean;
  /** Why it was not taken. */
  readonly code?: RejectionCode;
  readonly message?: string;
}

export interface LoadFacts extends PluginScope {
  readonly pluginName: string;
  readonly version: string;
  readonly description?: string;
  readonly source: 'bundled' | 'path';
  /** The folder of its manifest. */
  readonly rootDir: string;
  readonly asked: ReadonlySet<string>;
  readonly config: JsonObject;
}

interface Kept {
  readonly needs: readonly string[];
  readonly index: number;
  readonly undo: () => void;
}

/** Of one plugin, refused ones included. */
export const MAX_REGISTRATIONS = 512;
const MAX_REJECTIONS = 256;

export class PluginLoad {
  readonly facts: LoadFacts;
  /** Replaced whole, so that a change holds at once. */
  held: ReadonlySet<string>;
  readonly registrations: Registration[] = [];
  /** Plugins that have a name that this one wanted too. */
  readonly lostTo = new Set<string>();
  /** Rejections that were only counted. */
  unlisted = 0;
  isOpen = true;
  readonly #controller = new AbortController();
  readonly #kept: Kept[] = [];
  #accepted = 0;
  #rejected = 0;

  constructor(facts: LoadFacts, held: ReadonlySet<string>) {
    this.facts = facts;
    this.held = held;
    // As many wait for the end as there are calls under way; that is no leak.
    setMaxListeners(0, this.#controller.signal);
  }

  get isLive(): boolean {
    return !this.#controller.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isFull(): boolean {
    return this.#accepted >= MAX_REGISTRATIONS;
  }

  holds(grant: string): boolean {
    return this.isLive && this.held.has(grant);
  }

  /** `message`: what of it does not work as it is. */
  accept(kind: ContributionKind | 'hook', key: string, needs: readonly string[], undo: () => void, message?: string): void {
    this.#accepted++;
    this.registrations.push({ kind, key, accepted: true, ...(message === undefined ? {} : { message }) });
    this.#kept.push({ needs, index: this.registrations.length - 1, undo });
  }

  /** `holder`: the plugin that was first. */
  reject(kind: ContributionKind | 'hook', key: string, code: RejectionCode, message: string, holder?: string): void {
    if (holder !== undefined) this.lostTo.add(holder);
    if (this.#rejected++ < MAX_REJECTIONS) this.registrations.push({ kind, key, accepted: false, code, message });
    else this.unlisted++;
  }

  /** Takes back what needed something that is no longer held. */
  dropWithout(held: ReadonlySet<string>): void {
    this.held = held;
    for (let index = this.#kept.length - 1; index >= 0; index--) {
      const kept = this.#kept[index]!;
      const missing = kept.needs.find((need) => !held.has(need));
      if (missing === undefined) continue;
      kept.undo();
      this.#kept.splice(index, 1);
      const { kind, key } = this.registrations[kept.index]!;
      this.registrations[kept.index] = { kind, key, accepted: false, code: 'NOT_GRANTED', message: this.#revoked(missing) };
    }
  }

  #revoked(grant: string): string {
    return `the grant ${grant} was revoked; ${howToGrant(this.facts.plugin, grant)}`;
  }

  /** Everything that was registered is gone, in reverse; then whoever listens to the signal is told. */
  end(reason: string): void {
    if (!this.isLive) return;
    this.isOpen = false;
    for (const { undo } of this.#kept.splice(0).reverse()) undo();
    // What its own listeners throw is the plugin's.
    runAsPlugin(this.facts, () => this.#controller.abort(new DOMException(reason, 'AbortError')));
  }
}
