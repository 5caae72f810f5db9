/** Hashes of rows by the keys of an aggregation: rows of one group have one hash, in every batch. */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { GroupKey } from "./node.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { type BucketSpan, frameOf, locate } from "../../expression/kernels/bucket-starts.ts";
import { foldHash, rowHashes, valueHash } from "../spill/row-hashes.ts";

type KeyOf<K extends GroupKey["kind"]> = Extract<GroupKey, { kind: K }>;

/** See the file header. */
export class GroupHashes {
  private readonly table: ScannedTable | undefined;
  private readonly context: ExecContext;
  private readonly seriesKeys: readonly KeyOf<"series">[];
  private readonly bucketKeys: readonly KeyOf<"bucket">[];
  private readonly rowKeys: readonly { readonly key: KeyOf<"row">; readonly evaluator: VectorEvaluator }[];
  /** By series number. */
  private readonly series: Map<number, number> = new Map();

  constructor(keys: readonly GroupKey[], table: ScannedTable | undefined, headers: readonly ColumnHeader[], context: ExecContext) {
    this.table = table;
    this.context = context;
    this.seriesKeys = keys.filter((key) => key.kind === "series");
    this.bucketKeys = keys.filter((key) => key.kind === "bucket");
    this.rowKeys = keys
      .filter((key) => key.kind === "row")
      .map((key) => ({ key, evaluator: new VectorEvaluator(key.expression, headers, context) }));
  }

  /** A 32-bit hash of each row. */
  of(batch: ExecBatch): Uint32Array {
    const { rowCount, runs } = batch;
    const hashes = rowHashes(
      this.rowKeys.map(({ evaluator }) => evaluator.vector(batch)),
      this.rowKeys.map(({ key }) => key.type),
      rowCount,
    );
    for (const key of this.bucketKeys) addBuckets(hashes, batch, key);
    if (this.seriesKeys.length === 0) return hashes;
    assert(runs !== undefined, "series keys group batches of a scan");
    for (let run = 0; run < runs.series.length; run++) {
      const own = this.seriesHash(runs.series[run] ?? 0);
      const end = runs.starts[run + 1] ?? 0;
      for (let row = runs.starts[run] ?? 0; row < end; row++) hashes[row] = foldHash(hashes[row] ?? 0, own);
    }
    return hashes;
  }

  private seriesHash(series: number): number {
    const known = this.series.get(series);
    if (known !== undefined) return known;
    const { table, context } = this;
    assert(table !== undefined, "series keys come with their table");
    const read = (index: number): string | undefined => {
      const column = table.schema.columns[index];
      return column === undefined ? undefined : context.series.of(table).tagOf(column.name, series);
    };
    let hash = 0;
    for (const key of this.seriesKeys) hash = foldHash(hash, valueHash(evaluate(key.expression, read, context.environment)));
    this.series.set(series, hash);
    return hash;
  }
}

/** By the number of the bucket, which is the same from any base. */
function addBuckets(hashes: Uint32Array, batch: ExecBatch, { column, buckets }: KeyOf<"bucket">): void {
  const vector = batch.vectors[column];
  assert(vector?.kind === "time", "a bucket key reads a time column");
  const frame = frameOf(buckets, vector.base);
  const span: BucketSpan = { steps: 0, start: 1, end: 0 };
  let own = 0;
  for (let row = 0; row < batch.rowCount; row++) {
    const offset = vector.offsets[row] ?? 0;
    if (offset < span.start || offset >= span.end) {
      locate(frame, offset, span);
      own = valueHash(frame.baseIndex + BigInt(span.steps));
    }
    hashes[row] = foldHash(hashes[row] ?? 0, own);
  }
}
