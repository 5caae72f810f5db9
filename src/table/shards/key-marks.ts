/**
 * Dictionary keys of a decoder → marks of their tag sets (`placement.ts`), which are found out once and kept by key: every further row is
 * an array lookup. Values that lie in a key as text are hashed where they lie.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import type { SeriesDictionary, TagShape } from "../series-dictionary.ts";
import { markOf, tagMark, type TablePlacement, tagTextsOf } from "./placement.ts";
import { mixed, murmur3 } from "./place-hash.ts";

/** Marks by key, for one generation of a dictionary, one database and one epoch. */
export interface KeyMarks {
  readonly generation: number;
  readonly database: string;
  readonly epoch: number;
  marks: Int32Array;
  /** 1 where a key has its mark. */
  known: Uint8Array;
  /** Spread and shard, as `placed` packs them, where a key's rows were placed last; 0: nowhere yet. */
  places: Int32Array;
  /** Of shapes that many keys share. */
  readonly plans: WeakMap<TagShape, ShapePlan>;
}

/** What the keys of one shape have in common. */
interface ShapePlan {
  readonly placement: TablePlacement;
  /** Ids of the columns of the shape's tags; 0 for those that do not count. */
  readonly ids: Int32Array;
  /** Of the same tags: what does not count. */
  readonly initials: readonly (Uint8Array | undefined)[];
  /** The sum of everything but them: of the tags that the shape leaves out. */
  readonly rest: number;
}

/** Where the values of a key lie. */
let spans = new Uint32Array(64);
const encoder = new TextEncoder();

/** Keys that there is room for at first. */
const KEYS_MIN = 1024;

/** Marks by dictionary, for as long as somebody has it. */
export class MarksOfKeys {
  private readonly maps: WeakMap<SeriesDictionary, KeyMarks> = new WeakMap();

  /** The marks, with room for all keys. `epoch` changes when a table's name means another one, and with defaults of tags. */
  marksOf(dictionary: SeriesDictionary, database: string, epoch: number): KeyMarks {
    const { generation } = dictionary;
    let map = this.maps.get(dictionary);
    if (map === undefined || map.generation !== generation || map.database !== database || map.epoch !== epoch) {
      const [marks, known, places] = [new Int32Array(KEYS_MIN), new Uint8Array(KEYS_MIN), new Int32Array(KEYS_MIN)];
      map = { generation, database, epoch, marks, known, places, plans: new WeakMap() };
      this.maps.set(dictionary, map);
    }
    if (map.known.length < dictionary.size) {
      map.marks = longer(map.marks, dictionary.size);
      map.known = longer(map.known, dictionary.size);
      map.places = longer(map.places, dictionary.size);
    }
    return map;
  }
}

/**
 * Finds out the marks of the keys of `keys[0, count)` that have none.
 *
 * @param placementOf of the rows of a table that a key names
 * @throws DbError what `placementOf` throws; TableColumnNotFound, InvalidArguments for a tag set that the table cannot have
 */
export function markKeys(
  map: KeyMarks,
  dictionary: SeriesDictionary,
  keys: Uint32Array,
  count: number,
  placementOf: (table: string) => TablePlacement,
): void {
  const { known } = map;
  for (let i = 0; i < count; i++) {
    const key = keys[i] as number;
    if (known[key] === 1) continue;
    map.marks[key] = markOfKey(map, dictionary, key, placementOf(dictionary.shapeOf(key).table));
    known[key] = 1;
  }
}

function markOfKey(map: KeyMarks, dictionary: SeriesDictionary, key: number, placement: TablePlacement): number {
  const shape = dictionary.sharedShapeOf(key);
  if (shape !== undefined && placement.isText && placement.rules === undefined) {
    const { names } = shape;
    if (names.length * 2 > spans.length) spans = new Uint32Array(names.length * 4);
    if (dictionary.locateValues(key, names, spans, 0)) return plainMark(planOf(map, shape, placement), dictionary.arena);
  }
  return markOf(placement, tagTextsOf(dictionary.tagsOf(key), placement));
}

/** The mark of a key whose values lie in `arena` at `spans`. */
function plainMark({ ids, initials, rest }: ShapePlan, arena: Uint8Array): number {
  let sum = rest;
  for (let t = 0; t < ids.length; t++) {
    const id = ids[t] as number;
    if (id === 0) continue;
    const start = spans[2 * t] as number;
    const end = spans[2 * t + 1] as number;
    const initial = initials[t];
    if (initial === undefined || !isAt(initial, arena, start, end)) sum = (sum + murmur3(arena, start, end, id)) | 0;
  }
  return mixed(sum);
}

function isAt(text: Uint8Array, arena: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text[i] !== arena[start + i]) return false;
  return true;
}

function planOf(map: KeyMarks, shape: TagShape, placement: TablePlacement): ShapePlan {
  const kept = map.plans.get(shape);
  if (kept?.placement === placement) return kept;
  // Values of which none is wanted, so that what is left out remains.
  const { names, table } = shape;
  const texts = tagTextsOf({ table, names, values: names.map(() => "") }, placement);
  const given = new Set(names);
  let rest = placement.start;
  for (const [position, tag] of placement.tags.entries()) if (!given.has(tag.name)) rest = (rest + tagMark(tag, texts[position])) | 0;
  const tags = names.map((name) => placement.tags[placement.positions.get(name) as number]);
  const plan: ShapePlan = {
    placement,
    ids: Int32Array.from(tags, (tag) => (tag?.counts === true ? tag.id : 0)),
    initials: tags.map((tag) => (tag?.initial === undefined ? undefined : encoder.encode(tag.initial))),
    rest,
  };
  map.plans.set(shape, plan);
  return plan;
}
