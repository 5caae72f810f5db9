/**
 * Dictionary keys of a decoder → series numbers of a table. The first row with a key resolves its tags; every other row is one lookup.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { TagMarks } from "../../storage/memtable/series-definitions.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { SeriesTags } from "../../storage/series/series-tags.ts";
import type { SeriesDictionary, TagSet } from "../../table/series-dictionary.ts";
import { ownTagText } from "../../table/tag-value.ts";
import { type PlainShape, resolvePlainKeys } from "./plain-keys.ts";

const UNKNOWN = 0xffff_ffff;

/** What one dictionary's keys mean. Valid for one generation of the dictionary, one database and one drop epoch. */
interface KeyMap {
  readonly generation: number;
  readonly database: string;
  readonly epoch: number;
  readonly renewals: number;
  series: Uint32Array;
  /** See `RoutedBatch.strays`. */
  readonly strays: Map<number, string>;
}

/** Maps keys to series. `epoch` must change when a table is dropped, since its series numbers are gone. */
export class SeriesMapper {
  private readonly maps: WeakMap<SeriesDictionary, KeyMap> = new WeakMap();

  /**
   * The series of each key, UNKNOWN where a key was not resolved yet; at least `dictionary.size` long.
   *
   * @param renewals of registries so far: a dictionary that is older than one of them mostly has keys of series that are dead
   */
  mapOf(dictionary: SeriesDictionary, database: string, epoch: number, renewals = 0): Uint32Array {
    let map = this.maps.get(dictionary);
    if (map !== undefined && map.generation === dictionary.generation && map.renewals !== renewals) dictionary.expire();
    if (map === undefined || map.generation !== dictionary.generation || map.database !== database || map.epoch !== epoch) {
      const { generation } = dictionary;
      map = { generation, database, epoch, renewals, series: new Uint32Array(1024).fill(UNKNOWN), strays: new Map() };
      this.maps.set(dictionary, map);
    }
    const { length } = map.series;
    if (length < dictionary.size) map.series = longer(map.series, dictionary.size).fill(UNKNOWN, length);
    return map.series;
  }

  /** Keys that went elsewhere than their writes say (`RoutedBatch.strays`), since the last `mapOf` that began anew. */
  straysOf(dictionary: SeriesDictionary): Map<number, string> {
    const map = this.maps.get(dictionary);
    assert(map !== undefined, "mapOf was called before");
    return map.strays;
  }
}

/** Keys of `keys[0, count)` that are not resolved yet, each once. */
export function unresolvedKeys(keys: Uint32Array, count: number, seriesOfKey: Uint32Array): number[] {
  const found: number[] = [];
  const RESOLVING = UNKNOWN - 1;
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number;
    if (seriesOfKey[key] !== UNKNOWN) continue;
    seriesOfKey[key] = RESOLVING;
    found.push(key);
  }
  for (const key of found) seriesOfKey[key] = UNKNOWN;
  return found;
}

/** What the keys of one tag shape have in common. */
interface ShapePlan extends PlainShape {
  /** Whether all of the tags are text, so that their bytes are their values. */
  readonly isText: boolean;
}

/**
 * Gives keys their series. All tag names are columns of the registry.
 *
 * Where a key's values lie in it as plain text, they go from its bytes to codes without a string (`plain-keys.ts`).
 *
 * @throws DbError RateLimited at the series limit, InvalidArguments for a text that is no value of its tag's type
 */
export function resolveKeys(
  keys: readonly number[],
  dictionary: SeriesDictionary,
  registry: SeriesRegistry,
  seriesOfKey: Uint32Array,
): void {
  let plan: ShapePlan | undefined;
  for (let at = 0; at < keys.length; ) {
    const key = keys[at] as number;
    const { names } = dictionary.shapeOf(key);
    if (plan?.names !== names) plan = planOf(names, registry);
    const next = plan.isText ? resolvePlainKeys(keys, at, plan, dictionary, registry, seriesOfKey) : at;
    if (next === at) seriesOfKey[key] = registry.register(valuesOf(dictionary.tagsOf(key), registry));
    at = Math.max(next, at + 1);
  }
}

function planOf(names: readonly string[], registry: SeriesRegistry): ShapePlan {
  const positions = names.map((name) => registry.positionOfName(name));
  const absent = Array.from({ length: registry.columnCount }, (_, position) => position).filter(
    (position) => !positions.includes(position),
  );
  const leftOut = absent.map((position) => ({ position, code: registry.encode(position, registry.defaultAt(position)) }));
  return { names, positions, leftOut, isText: positions.every((position) => registry.typeAt(position).kind === "string") };
}

/**
 * The series of a tag set, or -1 when there is none: nothing is registered.
 *
 * @throws DbError TableColumnNotFound for a tag that the table has not, InvalidArguments as `resolveKeys`
 */
export function seriesOfTags(tags: TagSet, registry: SeriesRegistry): number {
  checkTags(tags, registry);
  return registry.find(valuesOf(tags, registry));
}

/** Whether the table has the tags that a set names. @throws DbError TableColumnNotFound */
export function checkTags({ names, table }: TagSet, columns: Pick<SeriesTags, "positionOfName">): void {
  const unknown = names.find((name) => columns.positionOfName(name) < 0);
  if (unknown !== undefined) throw new DbError(StatusCode.TableColumnNotFound, `Column ${unknown} is not a tag of table ${table}`);
}

/** Values by position: those given, NULL where NULL was given, defaults elsewhere. */
function valuesOf(tags: TagSet, registry: SeriesRegistry): (string | undefined)[] {
  const values = Array.from({ length: registry.columnCount }, (_, position) => registry.defaultAt(position));
  for (const name of tags.nulls ?? []) {
    const position = registry.positionOfName(name);
    if (position >= 0) values[position] = undefined;
  }
  for (let t = 0; t < tags.names.length; t++) {
    const name = tags.names[t] as string;
    const position = registry.positionOfName(name);
    values[position] = ownTagText(tags.values[t] as string, registry.typeAt(position), name, tags.table);
  }
  return values;
}

/** Series and tag values of a table that a log segment has not defined yet: one mark a series or value. */
export class SegmentMarks {
  readonly tags: TagMarks = new TagMarks();
  private marks: Uint32Array = new Uint32Array(16);

  /** Bytes held. */
  get byteLength(): number {
    return this.marks.byteLength + this.tags.byteLength;
  }

  /** Forgets all marks: every series is defined again with its next use. */
  forget(): void {
    this.marks = new Uint32Array(16);
    this.tags.forget();
  }

  /** Makes room for series below `count`. */
  reserve(count: number): Uint32Array {
    if (this.marks.length < count) this.marks = longer(this.marks, count);
    return this.marks;
  }
}

/**
 * Writes the series of rows `[0, count)` to `target` and returns the largest; appends to `fresh` the series that `segment` has not
 * defined yet, and marks them.
 */
export function mapRows(
  keys: Uint32Array,
  count: number,
  seriesOfKey: Uint32Array,
  marks: Uint32Array,
  segment: number,
  target: Uint32Array,
  fresh: number[],
): number {
  let max = 0;
  for (let i = 0; i < count; i++) {
    const series = seriesOfKey[keys[i] as number] as number;
    target[i] = series;
    if (series > max) max = series;
    if (marks[series] !== segment) {
      marks[series] = segment;
      fresh.push(series);
    }
  }
  return max;
}
