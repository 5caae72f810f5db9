import { assert } from "../../base/assert.ts";
import { textAt } from "../../column/text-table.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { TagCodes } from "../scan/select/tag-codes.ts";
import type { TagColumnView } from "../series/series-ranks.ts";

/** Tags of series as of some moment, on a thread that has no registry. Strings are made when they are asked for, and kept. */
export class SharedTags implements TagCodes, SeriesView {
  readonly count: number;
  private readonly columns: readonly TagColumnView[];
  private readonly positions: ReadonlyMap<string, number>;
  private readonly strings: (string | undefined)[][];

  /** @param names of the columns, in their order */
  constructor(columns: readonly TagColumnView[], names: readonly string[], count: number) {
    this.columns = columns;
    this.count = count;
    this.positions = new Map(names.map((name, position) => [name, position]));
    this.strings = columns.map(() => []);
  }

  codesAt(position: number): Uint32Array {
    return this.columnAt(position).codes;
  }

  textAt(position: number, code: number): string | undefined {
    const strings = this.strings[position] ?? [];
    strings[code] ??= textAt(this.columnAt(position).texts, code);
    return strings[code];
  }

  dictionaryAt(position: number): readonly (string | undefined)[] {
    const { size } = this.columnAt(position).texts;
    const strings = this.strings[position] ?? [];
    for (let code = 0; code < size; code++) this.textAt(position, code);
    return strings;
  }

  codesOf(column: string): Uint32Array {
    return this.codesAt(this.positionOf(column));
  }

  tagOf(column: string, series: number): string | undefined {
    const position = this.positionOf(column);
    return this.textAt(position, this.codesAt(position)[series]!);
  }

  hasValue(column: string, value: string): boolean {
    return this.dictionaryOf(column).includes(value);
  }

  dictionaryOf(column: string): readonly (string | undefined)[] {
    return this.dictionaryAt(this.positionOf(column));
  }

  private positionOf(name: string): number {
    const position = this.positions.get(name) ?? -1;
    assert(position >= 0, `a tag of the table; got ${name}`);
    return position;
  }

  private columnAt(position: number): TagColumnView {
    const column = this.columns[position];
    assert(column !== undefined, `a tag column of ${this.columns.length}; got position ${position}`);
    return column;
  }
}
