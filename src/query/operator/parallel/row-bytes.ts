/**
 * Rows on their way between machines, partial groups among them, as bytes of the plan format: batches as threads hand them over
 * (`plain-batch.ts`), each a value of its own, in their order.
 */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import { NO_TABLES, type PlanReader, readBytes } from "../../plan-format/plan-reader.ts";
import { PlanWriter } from "../../plan-format/plan-writer.ts";
import { kinds, list, optional, record, type Shape, whole } from "../../plan-format/shape.ts";
import { dictionaryTexts, places, PLAIN_VECTORS, textTable, wrongWithVector } from "../../plan-format/vector-shape.ts";
import type { PlainBatch, PlainVector } from "../contract/query-workers.ts";

const plainBatch: Shape<PlainBatch> = record<PlainBatch>({
  rowCount: whole(0),
  vectors: list(
    kinds<PlainVector>({
      ...PLAIN_VECTORS,
      dictionary: { codes: places, start: whole(0), texts: dictionaryTexts },
      coded: { codes: places, entries: optional(textTable) },
    }),
  ),
  runs: optional(record<SeriesRuns>({ starts: places, series: places })),
});

/** A batch as bytes. @throws DbError Unsupported when it is too large */
export function encodeRows(batch: PlainBatch): Uint8Array<ArrayBuffer> {
  const to = new PlanWriter();
  plainBatch.write(batch, to);
  return to.finish();
}

/** The batch again. @param types of its columns @throws DbError InvalidArguments for other bytes, Unsupported for a newer version */
export function decodeRows(bytes: Uint8Array, types: readonly DataType[]): PlainBatch {
  return readBytes(bytes, NO_TABLES, (from) => {
    const batch = plainBatch.read(from);
    check(batch, types, from);
    return batch;
  });
}

function check({ rowCount, vectors, runs }: PlainBatch, types: readonly DataType[], from: PlanReader): void {
  if (vectors.length !== types.length) from.fail(`${vectors.length} columns are there, and ${types.length} are wanted`);
  for (const [i, vector] of vectors.entries()) {
    // Codes may name texts that came before, which this batch does not hold.
    const whole = vector.kind === "dictionary" ? { ...vector, dictionary: { length: vector.start + vector.texts.length } } : vector;
    const why = wrongWithVector(whole, rowCount, types[i] ?? { kind: "null" }, true);
    if (why !== undefined) from.fail(why);
  }
  if (runs === undefined) return;
  const { starts, series } = runs;
  const isAscending = starts.every((at, i) => i === 0 || at > (starts[i - 1] as number));
  if (starts.length !== series.length + 1 || starts[0] !== 0 || starts.at(-1) !== rowCount || !isAscending)
    from.fail("its runs are not all of its rows");
}
