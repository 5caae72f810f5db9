import { bloomHash } from "../../format/parquet/bloom-filter.ts";
import type { TagPredicate } from "../../table/scan.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import { WANTED_VALUES_MAX, type WantedTag } from "../sst/tag-filter.ts";

const encoder = new TextEncoder();

/** Tag values that rule files out which do not hold them: those of predicates on tags of text that name few values. */
export function wantedTags(predicates: readonly TagPredicate[], registry: SeriesRegistry): readonly WantedTag[] {
  return predicates.flatMap((predicate): readonly WantedTag[] => {
    if (predicate.kind !== "in" || predicate.values.length > WANTED_VALUES_MAX) return [];
    const position = registry.positionOfName(predicate.column);
    const columnId = registry.columnIds()[position];
    if (columnId === undefined || registry.typeAt(position).kind !== "string") return [];
    const texts = predicate.values.filter((value) => value !== undefined);
    return [{ columnId, hashes: texts.map((text) => bloomHash(encoder.encode(text))), orNull: texts.length < predicate.values.length }];
  });
}
