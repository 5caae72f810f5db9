/**
 * A meta store in a log that others can append to, with one owner at a time. Who opens it owns it from then on; whoever had it before is
 * refused at its next commit, and stops.
 *
 *   entry  {"owner": id, "epoch": e, "number": n, "changes": [[key, value], …]}     a commit; a change without a value takes the key away
 *          {…, "whole": [[key, value], …]}                                          and all entries of the store as they are after it
 *
 * A reader begins at the newest whole one. One is written when a store is opened and every 100 commits; two of them are kept.
 *
 * | append ends with | last entries then           | the commit                                                                       |
 * |------------------|-----------------------------|----------------------------------------------------------------------------------|
 * | its number       | –                           | is in force; earlier ones without an answer are not, and never will be           |
 * | an error         | –                           | may be in force: StorageUnavailable                                              |
 * | refused          | ours, of which no answer came | is appended again, behind it                                                   |
 * | refused          | another owner's             | is not in force: `Fenced`                                                        |
 * | refused          | the log ends before its last | is appended again, behind an entry that holds all of the store: the owner has it |
 * |                  | entry: it went back         | all. Where another has it since, `Fenced`                                        |
 *
 * Why an entry without an answer cannot come later: it expects the same last entry as the next one, so that one of both is refused.
 */
import { assert } from "../../base/assert.ts";
import { corrupted, type DbError } from "../../base/error.ts";
import { compareText } from "../series/series-ranks.ts";
import { type ConditionalLog, type LogEntry, LogWentBack } from "./conditional-log.ts";
import { Fenced, type MetaChange, type MetaStore, type MetaValue } from "./meta-store.ts";
import { writeCopy } from "./sqlite-layout.ts";

/** Commits between two entries that hold all of the store. Reason: a start reads so many at most. */
const WHOLE_EVERY = 100;
/** Times that others may take the store over while it is opened, before the start gives up: each of them is a start, too. */
const OPEN_ROUNDS = 10;

interface Stored {
  readonly owner: string;
  readonly epoch: number;
  readonly number: number;
  readonly changes: readonly (readonly [key: string, value?: MetaValue])[];
  readonly whole?: readonly (readonly [key: string, value: MetaValue])[];
}

/** A store, and which of its owners this is. */
export interface OwnedMetaStore extends MetaStore {
  commit(changes: readonly MetaChange[]): Promise<void>;
  /** 1 for the first owner; each later one has a higher one. */
  readonly epoch: number;
}

/**
 * Takes the store of a log over.
 *
 * @param owner names this owner, for those who are refused
 * @param onRestored hears that the log went back, and why that is known: this owner has written the store again
 * @throws DbError StorageUnavailable
 */
export async function openOwnedMetaStore(
  log: ConditionalLog,
  owner: string,
  onRestored: (why: string) => void = () => undefined,
): Promise<OwnedMetaStore> {
  for (let round = 0; round < OPEN_ROUNDS; round++) {
    const read = readState(await log.read(0));
    const first: Stored = { owner, epoch: read.epoch + 1, number: 0, changes: [], whole: wholeOf(read.values) };
    const at = await log.append(JSON.stringify(first), read.at);
    if (at !== "refused") return new LoggedMetaStore(log, { ...read, owner, epoch: first.epoch, at, wholeAt: at }, onRestored);
  }
  throw new Fenced(`cannot take the meta store over: others did so ${OPEN_ROUNDS} times meanwhile`);
}

/** A store as one of its commits left it. */
export interface OwnedCopy {
  /** Of the owner that made the commit. */
  readonly epoch: number;
  readonly entries: readonly (readonly [key: string, value: MetaValue])[];
}

/** The store of a log as its last commit left it; whose it is does not change. Undefined: nobody ever had it. @throws DbError */
export async function copyOwnedMetaStore(log: Pick<ConditionalLog, "read">): Promise<OwnedCopy | undefined> {
  const { values, epoch, at } = readState(await log.read(0));
  return at === 0 ? undefined : { epoch, entries: wholeOf(values) };
}

/** Text of the entry that an empty log begins with, of a store that was copied. The next owner has a higher epoch. */
export function encodeOwnedCopy({ epoch, entries }: OwnedCopy, owner: string): string {
  const first: Stored = { owner, epoch, number: 0, changes: [], whole: entries };
  return JSON.stringify(first);
}

interface State {
  readonly values: Map<string, string>;
  /** Number of the last entry. */
  readonly at: number;
  readonly epoch: number;
}

function readState(entries: readonly LogEntry[]): State {
  const values = new Map<string, string>();
  let at = 0;
  let epoch = 0;
  let isWhole = false;
  for (const entry of entries) {
    const stored = parsed(entry);
    at = entry.number;
    ({ epoch } = stored);
    if (stored.whole !== undefined) {
      values.clear();
      for (const [key, value] of stored.whole) values.set(key, JSON.stringify(value));
      isWhole = true;
    } else if (isWhole) applyTo(values, stored.changes);
  }
  if (at > 0 && !isWhole) throw broken(at, "no entry of the log holds all of the store");
  return { values, at, epoch };
}

/** @throws DbError StorageUnavailable for an entry that is none */
function parsed({ number, text }: LogEntry): Stored {
  try {
    const stored = JSON.parse(text) as Stored;
    if (typeof stored.owner === "string" && Number.isSafeInteger(stored.epoch) && Array.isArray(stored.changes)) return stored;
  } catch (error) {
    throw broken(number, error instanceof Error ? error.message : String(error));
  }
  throw broken(number, "it is no commit");
}

function broken(number: number, why: string): DbError {
  const corruption = { file: `entry ${number}`, offset: undefined, kind: "structure" } as const;
  return corrupted(`cannot read entry ${number} of the meta store's log: ${why}`, corruption);
}

function applyTo(values: Map<string, string>, changes: Stored["changes"]): void {
  for (const [key, value] of changes) {
    if (value === undefined) values.delete(key);
    else values.set(key, JSON.stringify(value));
  }
}

function wholeOf(values: ReadonlyMap<string, string>): NonNullable<Stored["whole"]> {
  return [...values].map(([key, text]) => [key, JSON.parse(text) as MetaValue]);
}

class LoggedMetaStore implements OwnedMetaStore {
  readonly epoch: number;
  private readonly log: ConditionalLog;
  private readonly owner: string;
  private readonly onRestored: (why: string) => void;
  private readonly values: Map<string, string>;
  private at: number;
  private number = 0;
  /** Of the newest entry that holds all of the store. */
  private wholeAt: number;
  private sinceWhole = 0;
  private fenced: Fenced | undefined;
  private isCommitting = false;

  constructor(
    log: ConditionalLog,
    { owner, values, at, epoch, wholeAt }: State & { readonly owner: string; readonly wholeAt: number },
    onRestored: (why: string) => void,
  ) {
    this.log = log;
    this.onRestored = onRestored;
    this.owner = owner;
    this.values = values;
    this.at = at;
    this.epoch = epoch;
    this.wholeAt = wholeAt;
  }

  get(key: string): MetaValue | undefined {
    const text = this.values.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as MetaValue);
  }

  list(prefix: string): readonly { readonly key: string; readonly value: MetaValue }[] {
    const keys = [...this.values.keys()].filter((key) => key.startsWith(prefix)).sort(compareText);
    return keys.map((key) => ({ key, value: JSON.parse(this.values.get(key) as string) as MetaValue }));
  }

  async commit(changes: readonly MetaChange[]): Promise<void> {
    assert(!this.isCommitting, "one commit at a time");
    this.isCommitting = true;
    try {
      await this.appended(changes.map(({ key, value }) => (value === undefined ? [key] : [key, value])));
    } finally {
      this.isCommitting = false;
    }
  }

  settled(): Promise<void> {
    return Promise.resolve(); // A commit that was answered is durable.
  }

  secure(): void {
    // The log has copies of its own.
  }

  async copyTo(path: string): Promise<void> {
    writeCopy(path, this.values);
  }

  close(): void {
    // The log is whose that opened it.
  }

  private async appended(changes: Stored["changes"]): Promise<void> {
    for (;;) {
      if (this.fenced !== undefined) throw this.fenced;
      try {
        const entry = this.entryOf(changes);
        const number = await this.log.append(JSON.stringify(entry), this.at);
        if (number !== "refused") return this.taken(entry, number);
        await this.lookAgain();
      } catch (error) {
        if (!(error instanceof LogWentBack)) throw error;
        await this.restore(error.message);
      }
    }
  }

  /** Appends all of the store behind what the log has left. @throws Fenced; DbError StorageUnavailable */
  private async restore(why: string): Promise<void> {
    const left = await this.log.read(0);
    const last = left.at(-1);
    const stored = last && parsed(last);
    const { owner, epoch } = this;
    if (stored !== undefined && (stored.epoch > epoch || (stored.epoch === epoch && stored.owner !== owner))) throw this.fence(stored);
    const entry: Stored = { owner, epoch, number: ++this.number, changes: [], whole: wholeOf(this.values) };
    const at = await this.log.append(JSON.stringify(entry), last?.number ?? 0);
    if (at === "refused") return;
    this.at = at;
    this.wholeAt = at;
    this.sinceWhole = 0;
    this.onRestored(why);
  }

  private entryOf(changes: Stored["changes"]): Stored {
    const { owner, epoch } = this;
    const entry: Stored = { owner, epoch, number: ++this.number, changes };
    if (this.sinceWhole < WHOLE_EVERY) return entry;
    const after = new Map(this.values);
    applyTo(after, changes);
    return { ...entry, whole: wholeOf(after) };
  }

  /** The last entry is not what it was: ours without an answer, or another owner's. @throws Fenced; DbError StorageUnavailable */
  private async lookAgain(): Promise<void> {
    const [entry] = await this.log.read(this.at);
    const stored = entry && parsed(entry);
    if (entry !== undefined && stored?.owner === this.owner && stored.epoch === this.epoch) return this.taken(stored, entry.number);
    throw this.fence(stored);
  }

  private fence(stored: Stored | undefined): Fenced {
    const whose = stored === undefined ? "its entries are gone" : `${stored.owner} has it since epoch ${stored.epoch}`;
    this.fenced = new Fenced(`the meta store is not that of ${this.owner} (epoch ${this.epoch}) any more: ${whose}`);
    return this.fenced;
  }

  private taken(entry: Stored, number: number): void {
    applyTo(this.values, entry.changes);
    this.at = number;
    this.sinceWhole++;
    if (entry.whole === undefined) return;
    this.sinceWhole = 0;
    this.log.trim(this.wholeAt); // The one before stays.
    this.wholeAt = number;
  }
}
