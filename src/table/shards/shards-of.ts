/** Which shards can hold rows that a scan asks for: one for a full tag set, a few for a few of them, otherwise those of the table. */
import type { TagPredicate, TimeRange } from "../scan.ts";
import { markOf, shardOf, type TablePlacement } from "./placement.ts";

/** Tag sets that are looked at one by one. Reason: beyond them, most shards have one of them anyway. */
const TAG_SETS_MAX = 1024;

/**
 * The shards, ascending; none when no row can meet the conditions.
 *
 * @param placement of the schema that the scan goes by: rows that a later one has may have tags that this one does not know
 */
export function shardsOf(placement: TablePlacement, predicates: readonly TagPredicate[], times: TimeRange): readonly number[] {
  const spreads = spreadsIn(placement, times);
  const sets = tagSetsOf(placement, predicates);
  const found = new Set<number>();
  for (const spread of spreads) {
    if (sets === undefined) for (let place = 0; place < spread; place++) found.add((placement.base + place) % placement.shards);
    else for (const texts of sets) found.add(shardOf(placement, markOf(placement, texts), spread));
  }
  return [...found].sort((a, b) => a - b);
}

/** Spreads that hold for some of the times. */
function spreadsIn({ spans }: TablePlacement, { start, end }: TimeRange): readonly number[] {
  if (start >= end) return [];
  const held = spans.filter(({ from }, i) => {
    const next = spans[i + 1]?.from;
    return (from === undefined || from < end) && (next === undefined || next > start);
  });
  return held.map(({ spread }) => spread);
}

/** All values of tags, by position, that meet the conditions; undefined when they leave a tag open that counts, or are too many. */
function tagSetsOf(
  { tags }: TablePlacement,
  predicates: readonly TagPredicate[],
): readonly (readonly (string | undefined)[])[] | undefined {
  let sets: readonly (readonly (string | undefined)[])[] = [[]];
  for (const { name, counts } of tags) {
    const values = counts ? valuesOf(name, predicates) : [undefined];
    if (values === undefined || sets.length * values.length > TAG_SETS_MAX) return undefined;
    sets = sets.flatMap((set) => values.map((value) => [...set, value]));
  }
  return sets;
}

/** Values that all lists of a tag have; undefined when there is no list. */
function valuesOf(name: string, predicates: readonly TagPredicate[]): readonly (string | undefined)[] | undefined {
  let common: ReadonlySet<string | undefined> | undefined;
  for (const predicate of predicates) {
    if (predicate.kind !== "in" || predicate.column !== name) continue;
    const values = new Set(predicate.values);
    common = common === undefined ? values : common.intersection(values);
  }
  return common === undefined ? undefined : [...common];
}
