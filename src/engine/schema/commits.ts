/**
 * Commits of an engine to its meta store, one after the other.
 *
 *   plan, at its turn ─► commit, answered at once or later ─► taken, in the turn of the answer
 *
 * Why: between a commit and its answer the store's entries and the tables in memory differ. What is planned then, such as a merge of files
 * that a truncation is about to take away, would name files that nobody has. So who commits looks at its turn whether what it wants is
 * still right, and brings memory up to the store before anybody else's turn. On one machine the store answers at once, and nothing waits.
 *
 * A commit that the store did not answer may be in force, now or later. Before anything else is committed it is undone: plans are made on
 * what memory has.
 *
 * Once the store is another's, nothing is committed any more, and no file is deleted: it may be the other's. Nor is anything committed once
 * the engine closes: what is still under way would plan by tables that have let go of what they had.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Fenced, type MetaChange, type MetaStore } from "../../storage/meta-store/meta-store.ts";
import { PromptTurns } from "../../base/scheduler/prompt-turns.ts";

/** Keys of what tables and databases are. */
const CATALOGUE = /^(?:database|table|view)\//;

/** See the file header. */
export class Commits {
  /** Why nothing is committed any more; undefined while the store is ours. */
  fenced: Fenced | undefined;
  private isEnded = false;
  private readonly meta: MetaStore;
  private readonly onFenced: (why: Fenced) => void;
  /** What goes with each commit: what its other entries are believed by. */
  private also: () => readonly MetaChange[] = () => [];
  private readonly turns: PromptTurns = new PromptTurns();
  /** Entries as memory has them, of commits of which nobody knows whether they are in force. */
  private readonly undo: Map<string, MetaChange["value"]> = new Map();

  /** @param onFenced is told once that the store is another's */
  constructor(meta: MetaStore, onFenced: (why: Fenced) => void) {
    this.meta = meta;
    this.onFenced = onFenced;
  }

  /** Sets what goes with each commit from now on: asked at its turn, and may be nothing. */
  withEach(also: () => readonly MetaChange[]): void {
    this.also = also;
  }

  /**
   * Commits what `plan` says at its turn, all of it or nothing, and runs `taken` when the store has it; a plan of undefined is none, and
   * `taken` is not run. Neither may commit. At once where nothing else is under way and the store answers at once.
   *
   * @returns what `taken` does; undefined: there was no plan
   * @throws DbError StorageUnavailable, after which nobody knows whether the commit is in force; Fenced; what `plan` throws
   */
  make<T>(plan: () => readonly MetaChange[] | undefined, taken: () => T): T | undefined | Promise<T | undefined> {
    return this.turns.run(() => {
      if (this.undo.size === 0) return this.now(plan, taken);
      const undone = this.undone();
      return undone instanceof Promise ? undone.then(() => this.now(plan, taken)) : this.now(plan, taken);
    });
  }

  /** Whether tables or databases may be others after a restart than they are now: what is written to them might not be found. */
  get isUncertain(): boolean {
    for (const key of this.undo.keys()) if (CATALOGUE.test(key)) return true;
    return false;
  }

  /** Brings the store to what memory has: whoever was told of a failure may have seen to the rest by now. */
  private undone(): void | Promise<void> {
    return this.now(
      () => Array.from(this.undo, ([key, value]) => ({ key, value })),
      () => this.undo.clear(),
    );
  }

  /** Call it before files are written that would never be committed. @throws Fenced; DbError StorageUnavailable once it was ended */
  check(): void {
    if (this.fenced !== undefined) throw this.fenced;
    if (this.isEnded) throw new DbError(StatusCode.StorageUnavailable, "cannot store a change: the engine is closed");
  }

  /** From now on nothing is committed: plans that wait for their turn fail. */
  end(): void {
    this.isEnded = true;
  }

  private now<T>(plan: () => readonly MetaChange[] | undefined, taken: () => T): T | undefined | Promise<T> {
    this.check();
    const planned = plan();
    if (planned === undefined) return undefined;
    const more = this.also();
    const changes = more.length === 0 ? planned : [...planned, ...more];
    try {
      const answer = this.meta.commit(changes);
      // Until it answers, readers see what was before.
      if (answer instanceof Promise)
        return this.later(
          answer,
          taken,
          changes.map(({ key }) => ({ key, value: this.meta.get(key) })),
        );
    } catch (error) {
      throw this.noted(error, []);
    }
    return taken();
  }

  private async later<T>(answer: Promise<void>, taken: () => T, before: readonly MetaChange[]): Promise<T> {
    try {
      await answer;
    } catch (error) {
      throw this.noted(error, before);
    }
    return taken();
  }

  private noted(error: unknown, before: readonly MetaChange[]): unknown {
    if (!(error instanceof Fenced)) for (const { key, value } of before) if (!this.undo.has(key)) this.undo.set(key, value);
    if (error instanceof Fenced && this.fenced === undefined) {
      this.fenced = error;
      this.onFenced(error);
    }
    return error;
  }
}

/** What `taken` is where memory has nothing to bring up. */
export const NOTHING_TO_TAKE = (): void => undefined;
