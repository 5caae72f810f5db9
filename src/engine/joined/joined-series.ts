/**
 * The series of several parts of a table as one: each part numbers its own, and these numbers mean nothing in another. A joined number is
 * given to a series when it is first seen; codes of tags likewise.
 *
 *   part 0   series 0 1 2 ──► 0 1 3        codes of "host"  a=1 b=2 ──► a=1 b=2
 *   part 1   series 0 1   ──► 2 4                           c=1 a=2 ──► c=3 a=1
 *
 * Where a series may lie in several parts, at different times, it is found again by its tags.
 */
import { NumberList } from "../../base/bytes/number-list.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import type { DictionaryVector } from "../../column/vector.ts";
import type { SeriesView } from "../../table/series-view.ts";

/** A tag column of all parts. */
interface JoinedColumn {
  /** By joined code; index 0 is NULL. */
  readonly dictionary: (string | undefined)[];
  readonly codeOf: Map<string, number>;
  /** Joined code by the code of a part's series. */
  readonly codes: readonly NumberList[];
  /** Joined code by joined series, as far as they were asked for. */
  readonly ofSeries: NumberList;
}

/** Where a series is: its part, and its number there. */
export interface SeriesPlace {
  readonly part: number;
  readonly number: number;
}

/**
 * See the file header. Memory: 12 bytes a series, 4 more a tag column that is read; a text for each of its values. Where series repeat, a
 * text of its tags for each.
 */
export class JoinedSeries implements SeriesView {
  /** The parts' own. */
  readonly parts: readonly SeriesView[];
  /** Joined number by the number of a part. */
  private readonly joined: readonly NumberList[];
  /** Part, and number in it, by joined number. */
  private readonly partOf: NumberList = new NumberList();
  private readonly numberOf: NumberList = new NumberList();
  private readonly columns: Map<string, JoinedColumn> = new Map();
  /** Names of all tags where a series may lie in several parts. */
  readonly repeating: readonly string[] | undefined;
  private readonly byTags: Map<string, number> = new Map();
  /** Places of a series but its first. */
  private readonly otherPlaces: Map<number, SeriesPlace[]> = new Map();

  /** @param repeating names of all tags where a series may lie in several parts; undefined: each lies in one */
  constructor(parts: readonly SeriesView[], repeating?: readonly string[]) {
    this.parts = parts;
    this.joined = parts.map(() => new NumberList());
    this.repeating = repeating;
  }

  /** Whether a series may lie in several parts. */
  get repeats(): boolean {
    return this.repeating !== undefined;
  }

  get count(): number {
    this.refresh();
    return this.partOf.length;
  }

  codesOf(name: string): Uint32Array {
    this.refresh();
    const column = this.column(name);
    const { ofSeries } = column;
    const codesOfParts = this.parts.map((part) => part.codesOf(name));
    for (let series = ofSeries.length; series < this.partOf.length; series++) {
      const part = this.partOf.values[series] as number;
      const code = (codesOfParts[part] as Uint32Array)[this.numberOf.values[series] as number] as number;
      ofSeries.push(this.joinedCode(column, name, part, code));
    }
    return ofSeries.values;
  }

  tagOf(column: string, series: number): string | undefined {
    if (series >= this.partOf.length) this.refresh();
    return this.parts[this.partOf.values[series] as number]?.tagOf(column, this.numberOf.values[series] as number);
  }

  hasValue(column: string, value: string): boolean {
    return this.parts.some((part) => part.hasValue(column, value));
  }

  dictionaryOf(name: string): readonly (string | undefined)[] {
    const column = this.column(name);
    for (const [part, view] of this.parts.entries()) {
      const { length } = view.dictionaryOf(name);
      for (let code = column.codes[part]?.length ?? 0; code < length; code++) this.joinedCode(column, name, part, code);
    }
    return column.dictionary;
  }

  eachTagOf(series: number, each: (column: string, value: string) => void): void {
    const part = this.parts[this.partOf.values[series] as number];
    const number = this.numberOf.values[series] as number;
    if (part?.eachTagOf !== undefined) return part.eachTagOf(number, each);
    for (const name of this.columns.keys()) {
      const value = part?.tagOf(name, number);
      if (value !== undefined) each(name, value);
    }
  }

  /** Where a series is, first of all. */
  placeOf(series: number): SeriesPlace {
    return { part: this.partOf.values[series] as number, number: this.numberOf.values[series] as number };
  }

  /** A series' number in a part; undefined where it is not there. */
  numberIn(part: number, series: number): number | undefined {
    if (this.partOf.values[series] === part) return this.numberOf.values[series];
    return this.otherPlaces.get(series)?.find((place) => place.part === part)?.number;
  }

  /** The joined number of a series of a part. */
  joinedNumber(part: number, number: number): number {
    const known = this.joined[part] as NumberList;
    if (number >= known.length) this.refresh();
    return known.values[number] as number;
  }

  /** Runs of a part under joined numbers. */
  joinedRuns({ starts, series }: SeriesRuns, part: number): SeriesRuns {
    const joined = new Uint32Array(Math.max(0, starts.length - 1));
    for (let run = 0; run < joined.length; run++) joined[run] = this.joinedNumber(part, series[run] as number);
    return { starts, series: joined };
  }

  private joinedCode(column: JoinedColumn, name: string, part: number, code: number): number {
    const known = column.codes[part] as NumberList;
    if (code >= known.length) {
      const dictionary = (this.parts[part] as SeriesView).dictionaryOf(name);
      for (let next = known.length; next < dictionary.length; next++) known.push(codeOfText(column, dictionary[next]));
    }
    return known.values[code] as number;
  }

  private column(name: string): JoinedColumn {
    const known = this.columns.get(name);
    if (known !== undefined) return known;
    const made: JoinedColumn = {
      dictionary: [undefined],
      codeOf: new Map<string, number>(),
      codes: this.parts.map(() => new NumberList()),
      ofSeries: new NumberList(),
    };
    this.columns.set(name, made);
    return made;
  }

  private refresh(): void {
    for (const [part, view] of this.parts.entries()) {
      const joined = this.joined[part] as NumberList;
      const { count } = view;
      for (let number = joined.length; number < count; number++) joined.push(this.numbered(part, number, view));
    }
  }

  private numbered(part: number, number: number, view: SeriesView): number {
    const made = this.partOf.length;
    if (this.repeating !== undefined) {
      const tags = JSON.stringify(this.repeating.map((name) => view.tagOf(name, number) ?? null));
      const known = this.byTags.get(tags);
      if (known !== undefined) {
        const places = this.otherPlaces.get(known) ?? [];
        this.otherPlaces.set(known, places);
        places.push({ part, number });
        return known;
      }
      this.byTags.set(tags, made);
    }
    this.partOf.push(part);
    this.numberOf.push(number);
    return made;
  }
}

/** The values of one tag column in one scan: parts have dictionaries of their own, and what a scan does not meet is in none. */
export class ScannedTags {
  private readonly values = { dictionary: [undefined] as (string | undefined)[], codeOf: new Map<string, number>() };
  private readonly known: Map<DictionaryVector["dictionary"], NumberList> = new Map();

  /** By code of the scan; index 0 is NULL. Grows. */
  get dictionary(): readonly (string | undefined)[] {
    return this.values.dictionary;
  }

  /** Writes codes of the scan for rows `[from, to)` of a part's vector to the beginning of `joined`. */
  code({ codes, dictionary }: DictionaryVector, from: number, to: number, joined: Uint32Array): void {
    let known = this.known.get(dictionary);
    if (known === undefined) {
      known = new NumberList();
      this.known.set(dictionary, known);
    }
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      while (known.length <= code) known.push(codeOfText(this.values, dictionary[known.length]));
      joined[row - from] = known.values[code] as number;
    }
  }
}

function codeOfText({ dictionary, codeOf }: Pick<JoinedColumn, "dictionary" | "codeOf">, text: string | undefined): number {
  if (text === undefined) return 0;
  const known = codeOf.get(text);
  if (known !== undefined) return known;
  const code = dictionary.push(text) - 1;
  codeOf.set(text, code);
  return code;
}
