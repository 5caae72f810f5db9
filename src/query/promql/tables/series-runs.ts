/** Rows of a scan by series and time → series, each whole. */
import type { Labels, EvaluationRun, SampledSeries } from "../evaluation/series-source.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import { mergeModeOf, timeIndexOf } from "../../../table/schema.ts";
import { SampleBuffer, type SampleShape } from "./sample-buffer.ts";
import type { SeriesReading } from "./series-reading.ts";

/** See the file header. A series may go on in the next batch. */
export class SeriesRuns {
  private readonly reading: SeriesReading;
  private readonly buffer: SampleBuffer;
  /** Told of each series how many samples it has. */
  private readonly counted: (samples: number) => void;
  private current = -1;
  private labels: Labels | undefined;

  constructor(reading: SeriesReading, run: Pick<EvaluationRun, "reserve" | "release">, counted: (samples: number) => void) {
    this.reading = reading;
    this.counted = counted;
    this.buffer = new SampleBuffer(shapeOf(reading), run);
  }

  /** The series that end in a batch. Arrays are borrowed until the next one. @param only the series that are wanted; undefined: all */
  *add({ rowCount, vectors, runs }: ScanBatch, only: ReadonlySet<number> | undefined): Generator<SampledSeries> {
    const { buffer, reading } = this;
    const { starts, series } = runs;
    for (let i = 0; i + 1 < starts.length && (starts[i] as number) < rowCount; i++) {
      const number = series[i] as number;
      if (number !== this.current) {
        const before = this.finished();
        if (before !== undefined) {
          this.counted(before.count);
          yield before;
        }
        buffer.clear();
        this.current = number;
        this.labels = only?.has(number) === false ? undefined : reading.labels.of(number);
      }
      if (this.labels !== undefined)
        buffer.append(vectors[0], vectors[1], starts[i] as number, Math.min(rowCount, starts[i + 1] as number));
    }
  }

  /** The series of the last rows, when there are no more. */
  finished(): SampledSeries | undefined {
    const { buffer, labels } = this;
    if (labels === undefined || buffer.count === 0) return undefined;
    return buffer.seriesOf(labels);
  }

  /** Lets go of all memory. */
  close(): void {
    this.buffer.close();
  }
}

/** How the rows of a scan become samples. */
export function shapeOf({ table: { schema }, column }: SeriesReading): SampleShape {
  const { type } = timeIndexOf(schema);
  const unit = type.kind === "timestamp" ? type.unit : "nanosecond";
  const isFiner = unit === "microsecond" || unit === "nanosecond";
  return { column, unit, mayRepeat: isFiner || mergeModeOf(schema) === "append" };
}
