/**
 * Attributes that become tags: `x-greptime-log-extract-keys` (contract ingest.md 4.4). Keys match in any case; of a key that several lists
 * have, a record's own wins over the scope's, the scope's over the resource's. The attribute stays in its JSON column as well.
 */
import { invalidArguments } from "../../../base/error.ts";
import { BOOLEAN, type DataType, INT64, STRING } from "../../../column/data-type.ts";
import type { ProtoReader } from "../../../format/proto/reader.ts";
import { AnyValue, type Attributes, Kind } from "../any-value.ts";
import { textOf } from "../text.ts";

/** An extracted attribute. */
export interface Extracted {
  readonly type: DataType;
  readonly value: string | number | bigint | boolean;
}

/** The keys that a header names: sorted, each once. */
export function extractKeysOf(header: string | null): readonly string[] {
  if (header === null || header === "") return [];
  return [...new Set(header.split(",").filter((key) => key !== ""))].toSorted();
}

const value = new AnyValue();

/**
 * The keys that a list of attributes has, in the order of `keys`.
 *
 * @throws DbError InvalidArguments for a value that can be no tag
 */
export function extracted(reader: ProtoReader, list: Attributes, keys: readonly string[]): Map<string, Extracted> {
  const found = new Map<string, Extracted>();
  if (keys.length === 0) return found;
  const byName = new Map<string, Extracted>();
  const wanted = new Set(keys.map((key) => key.toLowerCase()));
  for (let i = 0; i < list.count; i++) {
    const name = list.key(reader.bytes, i).toLowerCase();
    if (!wanted.has(name)) continue;
    list.value(reader, i, value);
    const tag = tagOf(reader, name);
    if (tag !== undefined) byName.set(name, tag);
  }
  for (const key of keys) {
    const tag = byName.get(key.toLowerCase());
    if (tag !== undefined) found.set(key, tag);
  }
  return found;
}

function tagOf(reader: ProtoReader, name: string): Extracted | undefined {
  switch (value.kind) {
    case Kind.none:
      return undefined;
    case Kind.string:
      return { type: STRING, value: textOf(reader.bytes, value.start, value.end) };
    case Kind.bool:
      return { type: BOOLEAN, value: value.number === 1 };
    case Kind.int:
      return { type: INT64, value: value.int };
    default:
      throw invalidArguments(
        `cannot extract attribute ${name} as a tag: its type is unsupported; a tag is a text, a whole number or a boolean`,
      );
  }
}
