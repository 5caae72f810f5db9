/**
 * The tags of a logical table's series as columns, each taken from the label sets when it is first asked for:
 *
 *   label set of series s ─► where the label's value lies ─► a block of values ─► their codes, looked up together
 *
 * A query looks at few labels, and a label that tells users apart has a value a series. Of 1,000,000 series with four labels the two that
 * `sum by (zone) (rate(events{shard="3"}[5m]))` looks at take 0.2 s, where all four took 1.4 s
 * (`bun bench promql`, 2026-11-23).
 */
import { assert } from "../../base/assert.ts";
import { STRING } from "../../column/data-type.ts";
import { textAt } from "../../column/text-table.ts";
import { decodeLabels } from "../../storage/series/label-set.ts";
import { type LabelSets, LabelSpans } from "../../storage/series/label-spans.ts";
import { grownWords, powerOfTwoFrom } from "../../storage/series/shared-array.ts";
import { TagColumn } from "../../storage/series/tag-column.ts";
import { TagColumns } from "../../storage/series/tag-columns.ts";

/** Up to so many series all labels are read together: an answer that shows them asks for one after the other. */
const ALL_AT_ONCE_MAX = 4096;

/** What label columns are read from. */
export interface LabelSource {
  /** Their sets as they are now. */
  sets(): LabelSets;
  /** The id that a label has in them. @throws AssertionError when no series can have it */
  labelId(name: string): number;
}

/** One label. */
interface Label {
  readonly column: TagColumn;
  /** Series below it have their code. */
  filled: number;
}

/** One that is read. */
interface WantedLabel {
  readonly column: TagColumn;
  readonly labelId: number;
}

/** See the file header. */
export class LabelColumns extends TagColumns {
  private readonly labels: Label[] = [];
  private readonly source: LabelSource;

  /** @param source what series and labels are in the region; of all series that it is told of */
  constructor(source: LabelSource) {
    super();
    this.source = source;
  }

  /** Says how many series there are: at least as many as before. */
  grow(count: number): void {
    assert(count >= this.size, `series only come; had ${this.size}, got ${count}`);
    this.size = count;
  }

  /** Makes sure that there is a column for each label, in key order. */
  setColumns(columns: readonly { readonly id: number; readonly name: string }[]): void {
    for (const { id, name } of columns) {
      const known = this.labels[this.positionOf(id)];
      if (known !== undefined) known.column.name = name;
      else {
        const column = new TagColumn(id, name, STRING, 0);
        this.byId.set(id, this.labels.length);
        this.columns.push(column);
        this.labels.push({ column, filled: 0 });
      }
    }
    this.byName = new Map(columns.map(({ id, name }) => [name, this.positionOf(id)]));
  }

  protected complete(): void {
    this.fill(this.labels);
  }

  protected columnAt(position: number): TagColumn {
    const label = this.labels[position];
    assert(label !== undefined, `a label of ${this.labels.length}; got position ${position}`);
    if (label.filled < this.size) this.fill(this.size <= ALL_AT_ONCE_MAX ? this.labels : [label]);
    return label.column;
  }

  /** Brings labels up to date, in one pass over the label sets for those that got equally far. */
  private fill(labels: readonly Label[]): void {
    const behind = labels.filter(({ filled }) => filled < this.size);
    for (const [from, equal] of Map.groupBy(behind, ({ filled }) => filled)) this.read(equal, from);
  }

  private read(labels: readonly Label[], from: number): void {
    const { size } = this;
    const sets = this.source.sets();
    const wanted = labels.map(({ column }) => ({ column, labelId: this.source.labelId(column.name) }));
    wanted.sort((a, b) => a.labelId - b.labelId);
    for (const { column } of wanted) {
      if (column.codes.length < size) column.codes = grownWords(column.codes, powerOfTwoFrom(size));
    }
    const spans = new LabelSpans(wanted.map(({ labelId }) => labelId));
    for (let at = from; at < size; at += spans.blockMax) {
      const to = Math.min(size, at + spans.blockMax);
      if (spans.locate(sets, at, to)) for (const [w, { column }] of wanted.entries()) spans.encode(w, column, sets.texts.bytes);
      else for (let series = at; series < to; series++) readText(sets, series, wanted);
    }
    for (const label of labels) label.filled = size;
  }
}

/** The labels of a series whose values need not be ASCII. */
function readText({ texts, codes, regionSeries }: LabelSets, series: number, wanted: readonly WantedLabel[]): void {
  const text = textAt(texts, codes[regionSeries[series] as number] as number);
  decodeLabels(text, (id, start, end) => {
    const column = wanted.find(({ labelId }) => labelId === id)?.column;
    if (column !== undefined) column.codes[series] = column.dictionary.encode(text?.slice(start, end));
  });
}
