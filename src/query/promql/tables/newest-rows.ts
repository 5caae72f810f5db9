/** The newest rows of series → series of one sample. */
import type { EvaluationRun, SampledSeries } from "../evaluation/series-source.ts";
import type { ScanBatch } from "../../../table/scan.ts";
import { SampleBuffer } from "./sample-buffer.ts";
import type { SeriesReading } from "./series-reading.ts";
import { shapeOf } from "./series-runs.ts";

/** Bytes of a number in a set, nearly. */
const NUMBER_BYTES = 40;

/** See the file header. */
export class NewestRows {
  /** Series whose newest row has no value: an older one may have some. */
  readonly missed: Set<number> = new Set();
  private readonly reading: SeriesReading;
  private readonly run: Pick<EvaluationRun, "reserve" | "release">;
  private readonly buffer: SampleBuffer;
  private readonly counted: (samples: number) => void;

  /** @param counted told of each series how many samples it has */
  constructor(reading: SeriesReading, run: Pick<EvaluationRun, "reserve" | "release">, counted: (samples: number) => void) {
    this.counted = counted;
    this.reading = reading;
    this.run = run;
    this.buffer = new SampleBuffer(shapeOf(reading), run);
  }

  /** The series of a batch, which has one row each. Arrays are borrowed until the next one. */
  *add({ rowCount, vectors, runs }: ScanBatch): Generator<SampledSeries> {
    const { buffer, missed, reading } = this;
    const { starts, series } = runs;
    for (let i = 0; i + 1 < starts.length && (starts[i] as number) < rowCount; i++) {
      const number = series[i] as number;
      const labels = reading.labels.of(number);
      if (labels === undefined) continue;
      buffer.clear();
      buffer.append(vectors[0], vectors[1], starts[i] as number, Math.min(rowCount, starts[i + 1] as number));
      if (buffer.count > 0) {
        this.counted(buffer.count);
        yield buffer.seriesOf(labels);
      } else if (!missed.has(number)) {
        this.run.reserve(NUMBER_BYTES);
        missed.add(number);
      }
    }
  }

  /** Lets go of all memory. */
  close(): void {
    this.buffer.close();
    this.run.release(NUMBER_BYTES * this.missed.size);
  }
}
