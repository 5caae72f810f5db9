/** What the lists of the catalogue hold: changes, and snapshots of all entries. Layout: FORMAT.md. */
import { corrupted, type DbError } from "../../base/error.ts";
import type { MetaChange, MetaValue } from "../../storage/meta-store/meta-store.ts";
import type { LogEntry } from "../../storage/meta-store/conditional-log.ts";

const FORMAT = 1;

/** A change of the catalogue. */
export interface CatalogEntry {
  /** Of the catalogue once it is made: 1 for the first change. */
  readonly version: number;
  /** Names the attempt among all: who heard no answer knows its own by it. At most `ID_CHARS_MAX` characters. */
  readonly id: string;
  readonly changes: readonly MetaChange[];
}

/** All entries of the catalogue after a change. */
export interface CatalogSnapshot {
  readonly catalogVersion: number;
  /** Of the last message of that change in the list of changes: those behind it are not in here. */
  readonly number: number;
  readonly entries: readonly (readonly [key: string, value: MetaValue])[];
}

const ID_CHARS_MAX = 64;

/** Text of a change. */
export function encodeEntry({ version, id, changes }: CatalogEntry): string {
  const pairs = changes.map(({ key, value }) => (value === undefined ? [key] : [key, value]));
  return JSON.stringify({ format: FORMAT, version, id, changes: pairs });
}

/** Reads what `encodeEntry` wrote. @param list names the list, for messages. @throws DbError StorageUnavailable */
export function decodeEntry(list: string, entry: LogEntry): CatalogEntry {
  const { version, id, changes } = objectOf(list, entry);
  if (!isPlace(version) || version < 1) throw broken(list, entry, "its version is no whole number above 0");
  if (typeof id !== "string" || id === "" || id.length > ID_CHARS_MAX) throw broken(list, entry, "its id is none");
  const pairs = pairsOf(list, entry, changes);
  return { version, id, changes: pairs.map(([key, value]) => ({ key, value })) };
}

/** Text of a snapshot. */
export function encodeSnapshot({ catalogVersion, number, entries }: CatalogSnapshot): string {
  return JSON.stringify({ format: FORMAT, catalogVersion, number, entries });
}

/** Reads what `encodeSnapshot` wrote. @throws DbError StorageUnavailable */
export function decodeSnapshot(list: string, entry: LogEntry): CatalogSnapshot {
  const { catalogVersion, number, entries } = objectOf(list, entry);
  if (!isPlace(catalogVersion) || !isPlace(number)) throw broken(list, entry, "its version or number is no whole number");
  if (number < catalogVersion) throw broken(list, entry, `version ${catalogVersion} cannot be at number ${number}`);
  const pairs = pairsOf(list, entry, entries);
  const whole = pairs.map(([key, value]): readonly [string, MetaValue] => {
    if (value === undefined) throw broken(list, entry, `its entry ${key} has no value`);
    return [key, value];
  });
  return { catalogVersion, number, entries: whole };
}

function objectOf(list: string, entry: LogEntry): Readonly<Record<string, unknown>> {
  const parsed = parsedOf(list, entry);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw broken(list, entry, "it is no object");
  const object = parsed as Readonly<Record<string, unknown>>;
  const { format } = object;
  if (format === FORMAT) return object;
  const why =
    typeof format === "number" ? `it is of format ${format}, and only ${FORMAT} is known; start a newer version` : "it has no format";
  throw broken(list, entry, why);
}

function parsedOf(list: string, entry: LogEntry): unknown {
  try {
    return JSON.parse(entry.text);
  } catch (error) {
    throw broken(list, entry, error instanceof Error ? error.message : String(error));
  }
}

/** Keys with values, or without: JSON has no others than those of `MetaValue`. */
function pairsOf(list: string, entry: LogEntry, value: unknown): readonly (readonly [key: string, value: MetaValue | undefined])[] {
  if (!Array.isArray(value)) throw broken(list, entry, "it has no list of keys");
  return value.map((pair: unknown): readonly [string, MetaValue | undefined] => {
    const isPair = Array.isArray(pair) && (pair.length === 1 || pair.length === 2);
    const [key, its]: readonly unknown[] = isPair ? pair : [];
    if (typeof key !== "string" || key === "") throw broken(list, entry, "one of its keys is none");
    return [key, its as MetaValue | undefined];
  });
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function broken(list: string, { number }: LogEntry, why: string): DbError {
  const corruption = { file: `${list}, message ${number}`, offset: undefined, kind: "structure" } as const;
  return corrupted(`cannot read entry ${number} of ${list}: ${why}`, corruption);
}
