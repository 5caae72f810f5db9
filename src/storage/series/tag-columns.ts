/** The tags of series, read from columns of codes: what whoever fills such columns answers alike. */
import { countingUp } from "../../base/bytes/counting-up.ts";
import type { TextTable } from "../../column/text-table.ts";
import { orderByTags, type TagColumnView } from "./series-ranks.ts";
import type { SeriesTags } from "./series-tags.ts";
import type { TagColumn } from "./tag-column.ts";
import { TagPostings } from "./tag-postings.ts";

/** See the file header. */
export abstract class TagColumns implements SeriesTags {
  /** In key order. */
  protected readonly columns: TagColumn[] = [];
  protected readonly byId: Map<number, number> = new Map();
  protected byName: Map<string, number> = new Map();
  /** Number of series. */
  protected size = 0;
  private ordered: Uint32Array | undefined;
  private orderedColumns = 0;

  /** The column at `position`, with the codes of all series. */
  protected abstract columnAt(position: number): TagColumn;

  /** Sees to it that all columns have the codes of all series. */
  protected abstract complete(): void;

  /** Number of series. */
  get count(): number {
    return this.size;
  }

  /** Number of tag columns. Positions of tag columns never change. */
  get columnCount(): number {
    return this.columns.length;
  }

  positionOf(columnId: number): number {
    return this.byId.get(columnId) ?? -1;
  }

  positionOfName(name: string): number {
    return this.byName.get(name) ?? -1;
  }

  columnNames(): string[] {
    return this.columns.map((column) => column.name);
  }

  codesAt(position: number): Uint32Array {
    return this.columnAt(position).codes;
  }

  dictionaryAt(position: number): readonly (string | undefined)[] {
    return this.columnAt(position).dictionary.texts();
  }

  textsAt(position: number): TextTable {
    return this.columnAt(position).dictionary;
  }

  textAt(position: number, code: number): string | undefined {
    return this.columnAt(position).dictionary.textOf(code);
  }

  findCode(position: number, value: string | undefined): number {
    return this.columnAt(position).dictionary.find(value);
  }

  postingsAt(position: number): TagPostings {
    const column = this.columnAt(position);
    column.postings ??= new TagPostings();
    column.postings.extend(column.codes, this.size, column.dictionary.size);
    return column.postings;
  }

  /** All series in the order of their tags. Kept until a series is added: about 0.1 µs a series and tag. The caller must not change it. */
  order(): Uint32Array {
    if (this.ordered?.length !== this.size || this.orderedColumns !== this.columns.length) {
      this.ordered = orderByTags(countingUp(this.size), this.view());
      this.orderedColumns = this.columns.length;
    }
    return this.ordered;
  }

  view(): readonly TagColumnView[] {
    this.complete();
    return this.columns.map(({ columnId, type, codes, dictionary }) => ({
      columnId,
      type,
      codes,
      texts: { size: dictionary.size, bytes: dictionary.bytes, starts: dictionary.starts },
    }));
  }

  codesOf(column: string): Uint32Array {
    return this.codesAt(this.positionOfName(column));
  }

  dictionaryOf(column: string): readonly (string | undefined)[] {
    return this.dictionaryAt(this.positionOfName(column));
  }

  tagOf(column: string, series: number): string | undefined {
    const { codes, dictionary } = this.columnAt(this.positionOfName(column));
    return dictionary.textOf(codes[series]!);
  }

  hasValue(column: string, value: string): boolean {
    return this.findCode(this.positionOfName(column), value) > 0;
  }

  /** Bytes held: codes, texts, lists, and about those of strings. */
  get byteLength(): number {
    let bytes = this.ordered?.byteLength ?? 0;
    for (const { codes, dictionary, postings } of this.columns) {
      bytes += codes.byteLength + dictionary.byteLength + (postings?.byteLength ?? 0);
    }
    return bytes;
  }
}
