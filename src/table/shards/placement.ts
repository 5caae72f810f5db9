/**
 * Where the rows of a table lie:
 *
 *   shard = (hash(table id) + place) mod shards      place = mark mod spread
 *
 * The mark is a hash of the tag set, or the number of a partition; README.md says of which tags. A placement holds what follows from a
 * schema; it is made once a schema and never changed.
 */
import { type DataType, STRING, type TimeUnit } from "../../column/data-type.ts";
import { isInternalColumn, TABLE_ID_COLUMN_ID } from "../metric.ts";
import { columnNotFound } from "../not-found.ts";
import { type ColumnSchema, type SpreadSpan, type TableSchema, timeIndexOf } from "../schema.ts";
import type { TagSet } from "../series-dictionary.ts";
import { ownTagText, tagDefaultText } from "../tag-value.ts";
import { type PartitionRules, partitionOf, partitionRulesOf } from "./partition-rules.ts";
import { mixed, remainder, textHash } from "./place-hash.ts";
import { spreadsOf } from "./spread.ts";

/** A tag that rows may have. */
export interface PlacedTag {
  readonly name: string;
  /** Of its column; of a label, that of the physical table, which has all. */
  readonly id: number;
  readonly type: DataType;
  /** What rows hold that are older than the column; undefined is NULL. It does not count, so that a new tag moves no series. */
  readonly initial: string | undefined;
  /** What rows hold that leave the tag out. */
  readonly default: string | undefined;
  /** Whether it says where rows lie. */
  readonly counts: boolean;
}

/** See the file header. */
export interface TablePlacement {
  /** Name of the table, for errors. */
  readonly table: string;
  readonly shards: number;
  /** The shard of place 0. */
  readonly base: number;
  /** At most `shards` each; the first has no `from`, the others ascend. Times are in `unit`. */
  readonly spans: readonly SpreadSpan[];
  readonly unit: TimeUnit;
  readonly tags: readonly PlacedTag[];
  /** Positions in `tags`. */
  readonly positions: ReadonlyMap<string, number>;
  /** The sum of hashes before those of tags: of a logical table's id. */
  readonly start: number;
  /** Whether all tags that count are text. */
  readonly isText: boolean;
  /** Rules that say where rows lie instead of a hash. */
  readonly rules: PartitionRules | undefined;
}

/** Placement of an ordinary table's rows among `shards`. */
export function placementOf(schema: TableSchema, shards: number): TablePlacement {
  const { columns, primaryKey, partitions } = schema;
  const tags = columns.filter(({ semantic }) => semantic === "tag");
  const isByTags = partitions?.columns.every((name) => primaryKey.includes(name)) === true;
  const placed = tags.map((column) => placedTag(column, !isByTags || partitions.columns.includes(column.name)));
  return {
    ...placementBase(schema, spreadsOf(schema), shards),
    ...tagParts(placed),
    table: schema.name,
    start: 0,
    rules: isByTags ? partitionRulesOf(partitions, placed) : undefined,
  };
}

/** Placement of a logical table's rows: over all shards, whatever options say, since one physical table carries most of a server. */
export function logicalPlacementOf(schema: TableSchema, physical: TableSchema, shards: number): TablePlacement {
  const ids = labelIdsOf(physical);
  const labels = schema.columns.filter(({ semantic }) => semantic === "tag");
  const placed = labels.map(({ name }): PlacedTag => {
    const id = ids.get(name);
    if (id === undefined) throw columnNotFound(physical.name, name);
    return { name, id, type: STRING, initial: undefined, default: undefined, counts: true };
  });
  return {
    ...placementBase(physical, [{ spread: shards }], shards),
    ...tagParts(placed),
    table: schema.name,
    start: textHash(String(schema.id), TABLE_ID_COLUMN_ID),
    rules: undefined,
  };
}

function placementBase(
  schema: TableSchema,
  spans: readonly SpreadSpan[],
  shards: number,
): Pick<TablePlacement, "shards" | "base" | "spans" | "unit"> {
  const { type } = timeIndexOf(schema);
  return {
    shards,
    base: remainder(mixed(schema.id), shards),
    spans: spans.map((span) => ({ ...span, spread: Math.min(span.spread, shards) })),
    unit: type.kind === "timestamp" ? type.unit : "nanosecond",
  };
}

function tagParts(tags: readonly PlacedTag[]): Pick<TablePlacement, "tags" | "positions" | "isText"> {
  const isText = tags.every(({ type, counts }) => type.kind === "string" || !counts);
  return { tags, positions: new Map(tags.map(({ name }, position) => [name, position])), isText };
}

function placedTag({ name, id, type, initial, default: own }: ColumnSchema, counts: boolean): PlacedTag {
  return { name, id, type, initial: tagDefaultText(initial ?? own, type), default: tagDefaultText(own, type), counts };
}

/** By schema, since the thousand tables of one share it. */
const labelIds: WeakMap<TableSchema, ReadonlyMap<string, number>> = new WeakMap();

function labelIdsOf(physical: TableSchema): ReadonlyMap<string, number> {
  let ids = labelIds.get(physical);
  if (ids === undefined) {
    const labels = physical.columns.filter(({ name, semantic }) => semantic === "tag" && !isInternalColumn(physical, name));
    ids = new Map(labels.map(({ name, id }) => [name, id]));
    labelIds.set(physical, ids);
  }
  return ids;
}

/**
 * Values of a tag set by position: those given, NULL where NULL was given, defaults elsewhere.
 *
 * @throws DbError TableColumnNotFound, InvalidArguments for a text that is no value of its tag's type
 */
export function tagTextsOf({ names, values, nulls }: TagSet, { tags, positions, table }: TablePlacement): (string | undefined)[] {
  const texts = tags.map((tag) => tag.default);
  for (const name of nulls ?? []) {
    const position = positions.get(name);
    if (position !== undefined) texts[position] = undefined;
  }
  for (const [i, name] of names.entries()) {
    const position = positions.get(name);
    const tag = position === undefined ? undefined : tags[position];
    if (position === undefined || tag === undefined) throw columnNotFound(table, name);
    texts[position] = ownTagText(values[i] ?? "", tag.type, name, table);
  }
  return texts;
}

/** The mark of the values of all tags, by position; undefined is NULL. */
export function markOf(placement: TablePlacement, texts: readonly (string | undefined)[]): number {
  if (placement.rules !== undefined) return partitionOf(placement.rules, texts);
  let sum = placement.start;
  for (const [position, tag] of placement.tags.entries()) sum = (sum + tagMark(tag, texts[position])) | 0;
  return mixed(sum);
}

/** What a tag adds to the sum: NULL and what a column began with add nothing. */
export function tagMark({ id, initial, counts }: PlacedTag, text: string | undefined): number {
  return text === undefined || text === initial || !counts ? 0 : textHash(text, id);
}

/** The shard of a mark where the spread is so. */
export function shardOf({ base, shards }: TablePlacement, mark: number, spread: number): number {
  const shard = base + remainder(mark, spread);
  return shard < shards ? shard : shard - shards;
}
