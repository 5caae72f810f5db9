/**
 * Series of remote write 2.0 that have native histograms: their numbers, places and rows, apart from those of samples that are numbers,
 * since what is known of a series holds for one kind of sample.
 *
 *   message ─► NativeHistogram ─► bytes ─► one buffer; a row's two words are where its bytes begin and end
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import type { Vector } from "../../column/vector.ts";
import type { ProtoReader } from "../../format/proto/reader.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import { batchesOf, type Declared, type RowWords } from "./batches.ts";
import { invalid } from "./failure.ts";
import { KeyIndex } from "../common/key-index.ts";
import { labelledSeries } from "./label-set.ts";
import { HISTOGRAM_BYTES_KEPT_MAX, HISTOGRAM_BYTES_MAX } from "./limits.ts";
import { NativeHistogram } from "./native-histogram.ts";
import { Targets } from "./targets.ts";
import type { RemoteWriteBatch, RemoteWriteOptions } from "./types.ts";

/** See the file header. Belongs to a decoder. */
export class HistogramLane {
  readonly index: KeyIndex;
  private readonly options: RemoteWriteOptions;
  private readonly targets: Targets;
  private readonly message: NativeHistogram = new NativeHistogram();
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private used = 0;

  /** @param column name of the histograms' column; no label may have it */
  constructor(options: RemoteWriteOptions, column: string, dictionaryBytesMax: number | undefined) {
    this.options = { ...options, valueColumn: column };
    this.index = new KeyIndex(dictionaryBytesMax);
    this.targets = new Targets(this.index.dictionary, options.physicalTable);
  }

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.index.memoryBytes + this.targets.memoryBytes + this.bytes.byteLength;
  }

  /** Whether it is time to `clear`. */
  get isFull(): boolean {
    return this.targets.isFull;
  }

  /** Forgets all series. */
  clear(): void {
    this.index.clear();
    this.targets.clear();
  }

  /** Begins a request: forgets all rows. */
  begin(): void {
    for (const { rows } of this.targets.list) rows.reset();
    this.used = 0;
    if (this.bytes.length > HISTOGRAM_BYTES_KEPT_MAX) this.bytes = new Uint8Array(0);
  }

  /** Takes the series that `index` was asked for last, and returns its key and metric. @throws DbError InvalidArguments */
  add(key: Uint8Array, names: readonly string[], values: readonly string[]): { readonly key: number; readonly metric: string } {
    const series = labelledSeries(names, values, this.options);
    const number = this.index.add(key, 0, key.length, series.tags);
    this.targets.add(number, series);
    return { key: number, metric: series.tags.table };
  }

  /** Reads one histogram of a series. @throws ProtoError, DbError InvalidArguments */
  read(reader: ProtoReader, end: number, key: number): void {
    this.message.read(reader, end);
    const value = this.message.encode();
    const start = this.used;
    this.reserve(value.length);
    this.bytes.set(value, start);
    this.used = start + value.length;
    const { rows } = this.targets.of(key);
    const row = rows.count;
    if (row === rows.keys.length) rows.grow();
    rows.words[2 * row] = start;
    rows.words[2 * row + 1] = this.used;
    rows.times[row] = this.message.time;
    rows.keys[row] = this.targets.rowKey(key);
    rows.count = row + 1;
  }

  /** The rows of this request as writes. */
  batches(declared: Declared): RemoteWriteBatch[] {
    const column = {
      name: this.options.valueColumn,
      type: NATIVE_HISTOGRAM,
      kind: "histograms" as const,
      vectorOf: (rows: RowWords) => this.vectorOf(rows),
    };
    return this.targets.list.flatMap((target) => (target.rows.count > 0 ? batchesOf(target, this.options, declared, column) : []));
  }

  private vectorOf({ words, count }: RowWords): Vector {
    const offsets = new Uint32Array(count + 1);
    for (let row = 0; row < count; row++) {
      offsets[row + 1] = (offsets[row] as number) + (words[2 * row + 1] as number) - (words[2 * row] as number);
    }
    const bytes = new Uint8Array(offsets[count] as number);
    for (let row = 0; row < count; row++) bytes.set(this.bytes.subarray(words[2 * row], words[2 * row + 1]), offsets[row]);
    return { kind: "bytes", offsets, bytes, validity: undefined };
  }

  private reserve(count: number): void {
    const need = this.used + count;
    if (need <= this.bytes.length) return;
    if (need > HISTOGRAM_BYTES_MAX) {
      throw invalid(`its native histograms take more than ${HISTOGRAM_BYTES_MAX / 1024 / 1024} MiB; send smaller requests`);
    }
    this.bytes = longerBytes(this.bytes, this.used, Math.max(need, 4096), HISTOGRAM_BYTES_MAX);
  }
}
