/** Rows as batches: rows of many series go into one. */
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { EvaluationRun, QueryTimes, SteppedSeries } from "../evaluation/series-source.ts";
import type { RowColumn } from "./columns.ts";
import type { Row } from "./row-order.ts";
import { hasNumber, hasRow, type RowSeries, stepCount } from "./row-series.ts";

/** Most rows of a batch, and most values. */
const BATCH_ROWS = 8192;
const BATCH_VALUES = 65_536;

/** Texts of a label by code; 0 is NULL. */
interface LabelCodes {
  readonly name: string;
  readonly codes: Uint32Array;
  readonly dictionary: (string | undefined)[];
  readonly codeOf: Map<string, number>;
}

type Batches = AsyncGenerator<Batch>;

/** The rows of series as they come: a step is a row where a field has a number. */
export async function* batchesOf(
  all: AsyncIterable<RowSeries>,
  columns: readonly RowColumn[],
  times: QueryTimes,
  run: EvaluationRun,
): Batches {
  const steps = stepCount(times);
  let batch = new RowBatch(columns, times);
  for await (const series of all) {
    for (let step = 0; step < steps; step++) {
      if (!hasRow(series, step)) continue;
      batch.add(series, step);
      if (!batch.isFull) continue;
      yield batch.take();
      batch = new RowBatch(columns, times);
    }
    if (run.pace.isDue()) await run.pace.turn();
  }
  if (!batch.isEmpty) yield batch.take();
}

/** Rows in the order given. */
export async function* batchesInOrder(rows: readonly Row[], columns: readonly RowColumn[], times: QueryTimes, run: EvaluationRun): Batches {
  let batch = new RowBatch(columns, times);
  for (const { series, step } of rows) {
    batch.add(series, step);
    if (!batch.isFull) continue;
    yield batch.take();
    batch = new RowBatch(columns, times);
    await run.pace.turn();
  }
  if (!batch.isEmpty) yield batch.take();
}

/** One batch that is being filled. */
class RowBatch {
  private readonly columns: readonly RowColumn[];
  private readonly times: QueryTimes;
  private readonly rowsMax: number;
  private readonly offsets: Float64Array;
  private readonly numbers: readonly Float64Array[];
  /** Undefined while every row has the field. */
  private readonly validities: (Uint8Array | undefined)[];
  private readonly labels: readonly LabelCodes[];
  private readonly codesNow: Uint32Array;
  private series: RowSeries | undefined;
  private count = 0;

  constructor(columns: readonly RowColumn[], times: QueryTimes) {
    this.columns = columns;
    this.times = times;
    const fields = columns.filter(({ role }) => role === "value").length;
    this.rowsMax = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_VALUES / columns.length)));
    this.offsets = new Float64Array(this.rowsMax);
    this.numbers = Array.from({ length: fields }, () => new Float64Array(this.rowsMax));
    this.validities = this.numbers.map(() => undefined);
    this.labels = columns
      .filter(({ role }) => role === "label")
      .map(({ name }) => ({ name, codes: new Uint32Array(this.rowsMax), dictionary: [undefined], codeOf: new Map() }));
    this.codesNow = new Uint32Array(this.labels.length);
  }

  get isFull(): boolean {
    return this.count === this.rowsMax;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** Adds a step of a series. A full batch takes none. */
  add(series: RowSeries, step: number): void {
    if (series !== this.series) this.begin(series);
    const row = this.count++;
    const { startMillis, stepMillis } = this.times;
    this.offsets[row] = startMillis + step * stepMillis;
    for (let field = 0; field < this.numbers.length; field++) this.setValue(field, row, series.fields[field], step);
    for (let label = 0; label < this.labels.length; label++) {
      const { codes } = this.labels[label] as LabelCodes;
      codes[row] = this.codesNow[label] as number;
    }
  }

  /** The batch; nothing may be added to it any more. */
  take(): Batch {
    let label = 0;
    const vectors = this.columns.map((column): Vector => {
      switch (column.role) {
        case "time":
          return { kind: "time", base: 0n, offsets: this.offsets, validity: undefined };
        case "value":
          return { kind: "number", values: this.numbers[column.field] as Float64Array, validity: this.validities[column.field] };
        case "label": {
          const { codes, dictionary } = this.labels[label++] as LabelCodes;
          return { kind: "dictionary", codes, dictionary };
        }
      }
    });
    return { rowCount: this.count, vectors };
  }

  private setValue(field: number, row: number, series: SteppedSeries | undefined, step: number): void {
    if (hasNumber(series, step)) {
      (this.numbers[field] as Float64Array)[row] = series.values[step] as number;
      return;
    }
    const validity = (this.validities[field] ??= new Uint8Array(this.rowsMax).fill(1));
    validity[row] = 0;
  }

  /** The codes of a series' labels. */
  private begin(series: RowSeries): void {
    this.series = series;
    for (const [at, label] of this.labels.entries()) this.codesNow[at] = codeIn(label, series);
  }
}

function codeIn({ name, dictionary, codeOf }: LabelCodes, { labels }: RowSeries): number {
  const value = labels.find(([key]) => key === name)?.[1];
  if (value === undefined) return 0;
  let code = codeOf.get(value);
  if (code === undefined) {
    code = dictionary.push(value) - 1;
    codeOf.set(value, code);
  }
  return code;
}
