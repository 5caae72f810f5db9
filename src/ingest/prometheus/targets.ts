/**
 * Where series go. Nearly all go where the request says, target 0, under the number that the decoder's index gives them; those whose
 * labels name a database or a physical table have a dictionary of their own a target, since numbers mean series of one database.
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { invalid } from "./failure.ts";
import type { LabelledSeries } from "./label-set.ts";
import { TARGETS_MAX } from "./limits.ts";
import { SampleRows } from "./sample-rows.ts";

/** One database and physical table. */
export interface Target {
  readonly database: string | undefined;
  readonly physicalTable: string;
  readonly dictionary: SeriesDictionary;
  readonly rows: SampleRows;
}

/** See the file header. */
export class Targets {
  readonly list: Target[];
  /** Index into `list` of each key. */
  private targetOf: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  /** Key in that target's dictionary, where it is not target 0. */
  private readonly keyOf: Map<number, number> = new Map();
  /** Target 0. */
  readonly main: Target;

  constructor(dictionary: SeriesDictionary, physicalTable: string) {
    this.main = { database: undefined, physicalTable, dictionary, rows: new SampleRows() };
    this.list = [this.main];
  }

  get memoryBytes(): number {
    let bytes = this.targetOf.byteLength;
    for (const target of this.list) bytes += target.rows.byteSize + (target === this.main ? 0 : target.dictionary.memoryBytes);
    return bytes;
  }

  get isFull(): boolean {
    return this.list.some(({ dictionary }) => dictionary.full);
  }

  /** Forgets all but target 0. */
  clear(): void {
    this.list.length = 1;
    this.targetOf = new Uint8Array(1024);
    this.keyOf.clear();
  }

  /** Where rows of a key go. */
  of(key: number): Target {
    const target = this.targetOf[key] as number;
    return target === 0 ? this.main : (this.list[target] as Target);
  }

  /** The key that those rows have there. */
  rowKey(key: number): number {
    return this.targetOf[key] === 0 ? key : (this.keyOf.get(key) as number);
  }

  /** Takes a key that is new and names no place. */
  reserve(key: number): void {
    const { targetOf } = this;
    if (key >= targetOf.length) this.targetOf = longerBytes(targetOf, targetOf.length, key + 1);
  }

  /** Takes a key that is new. @throws DbError InvalidArguments when there are too many places */
  add(key: number, { tags, database, physicalTable }: LabelledSeries): void {
    this.reserve(key);
    if (database === undefined && physicalTable === undefined) return;
    const index = this.indexOf(database, physicalTable ?? this.main.physicalTable);
    if (index === 0) return;
    const { dictionary } = this.list[index] as Target;
    // Nobody looks a key up here, so neither bytes nor hash matter; equal ones would only make a long chain.
    this.keyOf.set(key, dictionary.add(NO_BYTES, 0, 0, Math.imul(key, 0x9e37_79b1) >>> 0, tags));
    this.targetOf[key] = index;
  }

  private indexOf(database: string | undefined, physicalTable: string): number {
    const known = this.list.findIndex((target) => target.database === database && target.physicalTable === physicalTable);
    if (known >= 0) return known;
    if (this.list.length >= TARGETS_MAX) throw invalid(`series name more than ${TARGETS_MAX} databases and physical tables by labels`);
    return this.list.push({ database, physicalTable, dictionary: new SeriesDictionary(), rows: new SampleRows() }) - 1;
  }
}

const NO_BYTES = new Uint8Array(0);
