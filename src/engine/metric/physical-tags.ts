/**
 * Tags of a physical table's series: the engine's own columns, and a column for each label, taken from the label sets when they are asked
 * for. Reading all labels of a large physical table is rare, so only columns used last are kept.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import { assert } from "../../base/assert.ts";
import { textAt } from "../../column/text-table.ts";
import type { TagCodes } from "../../storage/scan/select/tag-codes.ts";
import { decodeLabels } from "../../storage/series/label-set.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { SERIES_HASH_COLUMN, TABLE_ID_COLUMN } from "../../table/metric.ts";
import type { SeriesView } from "../../table/series-view.ts";

/** Label columns kept, 4 B a series each. */
const COLUMNS_KEPT = 64;

/** A string, its place in the list and in the map. */
const BYTES_PER_TEXT = 100;

/** A tag column: codes of the series below `seen`. */
interface TagColumn {
  codes: Uint32Array;
  readonly dictionary: (string | undefined)[];
  readonly known: Map<string, number>;
  seen: number;
}

/** What the tags are read from. */
export interface PhysicalTagSource {
  readonly registry: SeriesRegistry;
  /** Id of a label column by its name. @throws AssertionError when there is none */
  labelId(name: string): number;
  labelName(id: number): string;
  /** Hash of a series's label set. */
  hashOf(series: number): bigint;
}

/** See the file header. Series numbers are the region's. */
export class PhysicalTags implements SeriesView {
  private readonly source: PhysicalTagSource;
  /** Least recently used first. */
  private readonly columns: Map<string, TagColumn> = new Map();

  constructor(source: PhysicalTagSource) {
    this.source = source;
  }

  get count(): number {
    return this.source.registry.count;
  }

  codesOf(column: string): Uint32Array {
    return column === TABLE_ID_COLUMN ? this.source.registry.codesAt(0) : this.columnOf(column).codes;
  }

  dictionaryOf(column: string): readonly (string | undefined)[] {
    return column === TABLE_ID_COLUMN ? this.source.registry.dictionaryAt(0) : this.columnOf(column).dictionary;
  }

  tagOf(column: string, series: number): string | undefined {
    return this.dictionaryOf(column)[this.codesOf(column)[series] as number];
  }

  hasValue(column: string, value: string): boolean {
    return this.dictionaryOf(column).includes(value);
  }

  eachTagOf(series: number, each: (column: string, value: string) => void): void {
    const { source } = this;
    const { registry } = source;
    const id = textAt(registry.textsAt(0), registry.codesAt(0)[series] as number);
    if (id !== undefined) each(TABLE_ID_COLUMN, id);
    const text = textAt(registry.textsAt(1), registry.codesAt(1)[series] as number);
    decodeLabels(text, (columnId, start, end) => each(source.labelName(columnId), text?.slice(start, end) ?? ""));
  }

  /** The columns of these names, by position, for one scan. They are all read in one pass over the series. */
  columnsAt(names: readonly string[]): TagCodes {
    return {
      codesAt: (position) => this.codesOf(nameAt(names, position)),
      dictionaryAt: (position) => this.dictionaryOf(nameAt(names, position)),
      textAt: (position, code) => this.dictionaryOf(nameAt(names, position))[code],
    };
  }

  /** Reads columns that will be asked for, in one pass over the series. */
  prepare(names: readonly string[]): void {
    const wanted = names.filter((name) => name !== TABLE_ID_COLUMN && !this.isCurrent(name));
    const labels = new Map<number, TagColumn>();
    for (const name of new Set(wanted)) {
      const column = this.columns.get(name) ?? { codes: new Uint32Array(0), dictionary: [undefined], known: new Map(), seen: 0 };
      this.columns.delete(name);
      this.columns.set(name, column);
      column.codes = resized(column.codes, this.count);
      if (name === SERIES_HASH_COLUMN) this.hash(column);
      else labels.set(this.source.labelId(name), column);
    }
    if (labels.size > 0) this.read(labels);
    for (const name of this.columns.keys()) {
      if (this.columns.size <= Math.max(COLUMNS_KEPT, names.length)) break;
      this.columns.delete(name);
    }
  }

  /** Bytes held, about: 4 a series, and 100 a distinct text. */
  get byteLength(): number {
    let bytes = 0;
    for (const { codes, dictionary } of this.columns.values()) bytes += codes.byteLength + dictionary.length * BYTES_PER_TEXT;
    return bytes;
  }

  private isCurrent(name: string): boolean {
    return this.columns.get(name)?.seen === this.count;
  }

  private columnOf(name: string): TagColumn {
    if (!this.isCurrent(name)) this.prepare([name]);
    const column = this.columns.get(name);
    assert(column !== undefined, `column ${name} was prepared`);
    return column;
  }

  private read(labels: ReadonlyMap<number, TagColumn>): void {
    const { registry } = this.source;
    const codes = registry.codesAt(1);
    const texts = registry.textsAt(1);
    let from = registry.count;
    for (const { seen } of labels.values()) from = Math.min(from, seen);
    for (let series = from; series < registry.count; series++) {
      const text = textAt(texts, codes[series] as number) ?? "";
      decodeLabels(text, (columnId, start, end) => {
        const column = labels.get(columnId);
        if (column !== undefined) column.codes[series] = codeIn(column, text.slice(start, end));
      });
    }
    for (const column of labels.values()) column.seen = registry.count;
  }

  private hash(column: TagColumn): void {
    const { registry } = this.source;
    for (let series = column.seen; series < registry.count; series++) {
      column.codes[series] = codeIn(column, String(this.source.hashOf(series)));
    }
    column.seen = registry.count;
  }
}

function codeIn({ dictionary, known }: TagColumn, value: string): number {
  let code = known.get(value);
  if (code === undefined) {
    code = dictionary.length;
    dictionary.push(value);
    known.set(value, code);
  }
  return code;
}

function nameAt(names: readonly string[], position: number): string {
  const name = names[position];
  assert(name !== undefined, `a tag column of ${names.length}; got position ${position}`);
  return name;
}
