/**
 * What a manifest says of the log that its shard follows, for whoever takes it over. The layout is in FORMAT.md.
 *
 *   log/start    the number from which records have to be read again, and what was known of the writers there
 *   log/closed   segments of which nothing counts that came later: it goes with the next commit, whatever that is
 *   log/losses   what of it was found to be lost, and how often writers were asked to send again what they hold
 *   log/ages     how long owners have known segments of writers that say nothing: so that these are closed though owners change often
 */
import { corrupted, type DbError } from "../../base/error.ts";
import type { MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import { type WriterId, writerId } from "../../base/units.ts";
import type { SavedWriters } from "../log/writers.ts";

/** Key of where the log begins. */
export const START_KEY = "log/start";
/** Key of the segments that were closed. */
export const CLOSED_KEY = "log/closed";

/** Key of how old segments are. */
export const AGES_KEY = "log/ages";
/** Key of what the log has lost. */
export const LOSSES_KEY = "log/losses";

/** Where the log begins. */
export interface LogStart {
  /** What counts of all up to this message was taken. */
  readonly number: number;
  /** All up to this message may be gone. Below `number` where records that begin up to there end behind it. */
  readonly from: number;
  /** `Writers.saved` as of that message. */
  readonly writers: MetaValue;
}

/** Records of a writer's segments up to `segment` count if their message is one up to `through`. */
export interface ClosedSegment {
  readonly segment: number;
  readonly through: number;
}

/** @throws DbError StorageUnavailable when the entry is broken */
export function readStart(meta: Pick<MetaStore, "get">): LogStart {
  const value = meta.get(START_KEY);
  if (value === undefined) return { number: 0, from: 0, writers: [] };
  const { number, from, writers } = fieldsOf(START_KEY, value);
  if (!isCount(number) || !isCount(from) || from > number || writers === undefined) throw broken(START_KEY);
  return { number, from, writers };
}

/** The entry of a start. */
export function startEntry({ number, from, writers }: LogStart & { readonly writers: SavedWriters }): MetaValue {
  return { number, from, writers };
}

/** @throws DbError StorageUnavailable when the entry is broken */
export function readClosed(meta: Pick<MetaStore, "get">): Map<WriterId, ClosedSegment> {
  const closed = new Map<WriterId, ClosedSegment>();
  for (const [writer, segment, through] of triplesOf(CLOSED_KEY, meta)) closed.set(writerId(writer), { segment, through });
  return closed;
}

/** The entry of closed segments. */
export function closedEntry(closed: ReadonlyMap<WriterId, ClosedSegment>): MetaValue {
  return Array.from(closed, ([writer, { segment, through }]) => [writer, segment, through]);
}

/** A segment, and for how many milliseconds at least it has been in the log. */
export interface AgedSegment {
  readonly segment: number;
  readonly millis: number;
}

/** @throws DbError StorageUnavailable when the entry is broken */
export function readAges(meta: Pick<MetaStore, "get">): Map<WriterId, AgedSegment> {
  const ages = new Map<WriterId, AgedSegment>();
  for (const [writer, segment, millis] of triplesOf(AGES_KEY, meta)) ages.set(writerId(writer), { segment, millis });
  return ages;
}

/** The entry of ages. */
export function agesEntry(ages: ReadonlyMap<WriterId, AgedSegment>): MetaValue {
  return Array.from(ages, ([writer, { segment, millis }]) => [writer, segment, millis]);
}

/** What the log was found to have lost. */
export interface KnownLosses {
  /** How often writers were asked to send again what they hold. */
  readonly asked: number;
  /** Whom the last time; 0: all. */
  readonly writer: number;
  /** The last message that asked. */
  readonly heard: number;
  /** Messages that are passed over. */
  readonly damaged: readonly number[];
}

/** @throws DbError StorageUnavailable when the entry is broken */
export function readLosses(meta: Pick<MetaStore, "get">): KnownLosses {
  const value = meta.get(LOSSES_KEY);
  if (value === undefined) return { asked: 0, writer: 0, heard: 0, damaged: [] };
  const { asked, writer, heard, damaged } = fieldsOf(LOSSES_KEY, value);
  if (!isCount(asked) || !isCount(writer) || !isCount(heard) || !Array.isArray(damaged) || !damaged.every(isCount))
    throw broken(LOSSES_KEY);
  return { asked, writer, heard, damaged };
}

/** The entry of losses. */
export function lossesEntry({ asked, writer, heard, damaged }: KnownLosses): MetaValue {
  return { asked, writer, heard, damaged };
}

function triplesOf(key: string, meta: Pick<MetaStore, "get">): readonly (readonly [number, number, number])[] {
  const value = meta.get(key) ?? [];
  if (!Array.isArray(value)) throw broken(key);
  return (value as readonly MetaValue[]).map((one) => {
    const [a, b, c] = Array.isArray(one) ? (one as readonly MetaValue[]) : [];
    if (!isCount(a) || !isCount(b) || !isCount(c)) throw broken(key);
    return [a, b, c];
  });
}

function fieldsOf(key: string, value: MetaValue): { readonly [field: string]: MetaValue } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken(key);
  return value as { readonly [field: string]: MetaValue };
}

function isCount(value: MetaValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function broken(key: string): DbError {
  return corrupted(`cannot follow the log of a shard: entry ${key} of its manifest is broken`, {
    file: key,
    offset: undefined,
    kind: "structure",
  });
}
