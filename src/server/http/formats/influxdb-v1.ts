/**
 * The JSON of InfluxDB 1.x queries: one series a statement, timestamps in the unit that `epoch` asks for.
 */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import { castTimes } from "./cast-times.ts";
import { type ResultFormat, utf8 } from "./format.ts";
import { arrayRows } from "./greptime-v1.ts";

async function* inUnit(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, unit: TimeUnit): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    const vectors = batch.vectors.map((vector, position) => {
      const type = headers[position]?.type;
      if (type?.kind !== "timestamp" || (vector.kind !== "time" && vector.kind !== "wide")) return vector;
      return castTimes(vector, batch.rowCount, type.unit, unit);
    });
    yield { rowCount: batch.rowCount, vectors };
  }
}

/** `influxdb_v1`. A result without rows has one series without columns. */
export const influxdbV1: ResultFormat = {
  label: "influxdb_v1",
  contentType: "application/json",
  async *encode(results, options) {
    yield utf8('{"results":[');
    let statement = 0;
    for await (const result of results) {
      yield utf8(`${statement > 0 ? "," : ""}{"statement_id":${statement},"series":[`);
      if (result.kind === "rows") {
        const { headers } = result;
        const batches = options.epoch === undefined ? result.batches : inUnit(headers, result.batches, options.epoch);
        const names = JSON.stringify(headers.map((header) => header.name));
        let opened = false;
        for await (const chunk of arrayRows(headers, batches, undefined, { rows: 0 }, options.pace)) {
          if (!opened) yield utf8(`{"name":"","columns":${names},"values":[`);
          opened = true;
          yield chunk;
        }
        yield utf8(opened ? "]}" : '{"name":"","columns":[],"values":[]}');
      }
      yield utf8("]}");
      statement++;
    }
    yield utf8(`],"execution_time_ms":${options.elapsedMillis()}}`);
  },
};
