/**
 * The series of one answer: a table's numbers mean nothing elsewhere, so rows go under numbers of the stream, 0, 1, 2, …, and each is
 * defined before the first rows that name it.
 *
 * What is looked at are codes of tags; a text is made for each value that is new to the stream, not for each series. Of a physical table
 * the few labels that a series has are read one by one, since it may have hundreds of columns.
 *
 * Memory: 4 bytes a series of the table, 4 a value of its tags; counted.
 */
import { grown } from "../../base/bytes/longer-array.ts";
import type { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { isPhysicalTable, SERIES_HASH_COLUMN } from "../../table/metric.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { SERIES_IN_FRAME_MAX } from "../wire/limits.ts";
import { encodeSeries, type SentTag } from "../wire/series-frame.ts";

/** One tag of the stream. */
interface Tag {
  /** Code of the stream by code of the table; 0: none yet. Where codes are not looked at, it stays empty. */
  codes: Uint32Array;
  /** Codes of the stream by text, where codes are not looked at. */
  readonly byText: Map<string, number>;
  /** Texts so far. */
  count: number;
}

/** See the file header. */
export class StreamSeries {
  private readonly table: ScannedTable;
  private readonly view: SeriesView;
  private readonly budget: MemoryBudget;
  private readonly tags: readonly Tag[];
  private readonly reads: "codes" | "labels";
  /** Number in the stream plus one, by number of the table; 0: none yet. */
  private numbers: Uint32Array = new Uint32Array(0);
  private defined = 0;
  private isFirst = true;

  /** @param view gave the numbers that runs have */
  constructor(table: ScannedTable, view: SeriesView, budget: MemoryBudget) {
    this.table = table;
    this.view = view;
    this.budget = budget.part("series of the answer");
    // A tag keeps its place whatever happens to the schema meanwhile; new ones come behind.
    this.tags = table.schema.primaryKey.map(() => ({ codes: new Uint32Array(0), byText: new Map<string, number>(), count: 0 }));
    this.reads = isPhysicalTable(table.schema) && view.eachTagOf !== undefined ? "labels" : "codes";
  }

  /** Gives back the memory. */
  close(): void {
    this.budget.close();
  }

  /** Runs under numbers of the stream, and the frames that define those of them that are new. */
  renumbered({ starts, series }: SeriesRuns): { readonly runs: SeriesRuns; readonly frames: readonly Uint8Array[] } {
    const known = this.numbersFor();
    const length = starts.length - 1;
    const own = new Uint32Array(length);
    const fresh: number[] = [];
    for (let run = 0; run < length; run++) {
      const number = series[run] as number;
      let mine = known[number] as number;
      if (mine === 0) {
        mine = ++this.defined;
        known[number] = mine;
        fresh.push(number);
      }
      own[run] = mine - 1;
    }
    const frames: Uint8Array[] = [];
    for (let from = 0; from < fresh.length; from += SERIES_IN_FRAME_MAX) {
      frames.push(this.frame(fresh.slice(from, from + SERIES_IN_FRAME_MAX)));
    }
    return { runs: { starts: starts.slice(0, length + 1), series: own }, frames };
  }

  private numbersFor(): Uint32Array {
    this.numbers = this.longEnough(this.numbers, this.view.count);
    return this.numbers;
  }

  private longEnough(array: Uint32Array, length: number): Uint32Array {
    const made = grown(array, length);
    if (made !== array) this.budget.reserve(made.byteLength - array.byteLength);
    return made;
  }

  private frame(fresh: readonly number[]): Uint8Array {
    const sent = this.reads === "codes" ? this.byCodes(fresh) : this.byLabels(fresh);
    const emptyTags = this.isFirst ? this.emptyTags() : [];
    this.isFirst = false;
    return encodeSeries(fresh.length, this.tags.length, sent, emptyTags);
  }

  /** Of a physical table nobody asks: it has labels of many metrics. */
  private emptyTags(): readonly number[] {
    if (isPhysicalTable(this.table.schema)) return [];
    return [...this.tags.keys()].filter((place) => this.view.hasValue(this.nameAt(place), ""));
  }

  private byCodes(fresh: readonly number[]): readonly SentTag[] {
    return this.tags.map((tag, place): SentTag => {
      const name = this.nameAt(place);
      const of = this.view.codesOf(name);
      const codes = new Uint32Array(fresh.length);
      const texts: string[] = [];
      for (let i = 0; i < codes.length; i++) {
        const code = of[fresh[i] as number] as number;
        if (code === 0) continue;
        if (code >= tag.codes.length) tag.codes = this.longEnough(tag.codes, code + 1);
        let mine = tag.codes[code] as number;
        if (mine === 0) {
          texts.push(this.view.tagOf(name, fresh[i] as number) ?? "");
          mine = ++tag.count;
          tag.codes[code] = mine;
        }
        codes[i] = mine;
      }
      return { place, texts, codes };
    });
  }

  private byLabels(fresh: readonly number[]): readonly SentTag[] {
    const { view } = this;
    const places = new Map(this.tags.map((_, place) => [this.nameAt(place), place]));
    const sent = new Map<number, { readonly place: number; readonly texts: string[]; readonly codes: Uint32Array }>();
    const add = (place: number | undefined, i: number, text: string | undefined): void => {
      const tag = place === undefined ? undefined : this.tags[place];
      if (place === undefined || tag === undefined || text === undefined) return;
      let own = sent.get(place);
      if (own === undefined) {
        own = { place, texts: [], codes: new Uint32Array(fresh.length) };
        sent.set(place, own);
      }
      let code = tag.byText.get(text);
      if (code === undefined) {
        this.budget.reserve(BYTES_PER_TEXT + text.length);
        code = ++tag.count;
        tag.byText.set(text, code);
        own.texts.push(text);
      }
      own.codes[i] = code;
    };
    const hash = places.get(SERIES_HASH_COLUMN);
    for (const [i, series] of fresh.entries()) {
      view.eachTagOf?.(series, (column, value) => add(places.get(column), i, value));
      if (hash !== undefined) add(hash, i, view.tagOf(SERIES_HASH_COLUMN, series));
    }
    return [...sent.values()].sort((a, b) => a.place - b.place);
  }

  private nameAt(place: number): string {
    return this.table.schema.primaryKey[place] ?? "";
  }
}

/** A text in a map, beside its characters. */
const BYTES_PER_TEXT = 64;
