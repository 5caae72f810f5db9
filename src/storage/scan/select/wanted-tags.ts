import { bloomHash } from "../../../format/parquet/chunks/bloom-filter.ts";
import type { TagPredicate } from "../../../table/scan.ts";
import type { SeriesRegistry } from "../../series/series-registry.ts";
import { WANTED_VALUES_MAX, type WantedTag } from "../../sst/read/tag-filter.ts";

const encoder = new TextEncoder();

/**
 * Tag values that rule files out which do not hold them: those of predicates on tags of text that name few values.
 *
 * @param textColumnOf id of a tag column of text in files; undefined where files cannot tell
 * @param initialOf what rows mean that are older than a tag column: its default then, or NULL
 */
export function wantedTags(
  predicates: readonly TagPredicate[],
  textColumnOf: (name: string) => number | undefined,
  initialOf: (name: string) => string | undefined = () => undefined,
): readonly WantedTag[] {
  return predicates.flatMap((predicate): readonly WantedTag[] => {
    if (predicate.kind !== "in" || predicate.values.length > WANTED_VALUES_MAX) return [];
    const columnId = textColumnOf(predicate.column);
    if (columnId === undefined) return [];
    const texts = predicate.values.filter((value) => value !== undefined);
    const hashes = texts.map((text) => bloomHash(encoder.encode(text)));
    const orAbsent = predicate.values.includes(initialOf(predicate.column));
    return [{ columnId, hashes, orNull: texts.length < predicate.values.length, orAbsent }];
  });
}

/** As `wantedTags`, for tags that series have as columns. */
export function wantedTagsIn(predicates: readonly TagPredicate[], registry: SeriesRegistry): readonly WantedTag[] {
  const textColumnOf = (name: string): number | undefined => {
    const position = registry.positionOfName(name);
    const columnId = registry.columnIds()[position];
    return columnId === undefined || registry.typeAt(position).kind !== "string" ? undefined : columnId;
  };
  return wantedTags(predicates, textColumnOf, (name) => {
    const position = registry.positionOfName(name);
    return registry.textAt(position, registry.initialCodes()[position] ?? 0);
  });
}
