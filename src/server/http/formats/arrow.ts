/**
 * The Arrow IPC stream format. A statement that returns no rows has an empty body. Columns whose type Arrow has not carry its name as
 * `greptime:type`: JSON, Json2, Interval, Vector(3).
 */
import { BytesInTurn } from "../../../base/bytes/bytes-in-turn.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { displayName } from "../../../column/data-type.ts";
import type { ArrowField } from "../../../format/arrow/field-type.ts";
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { ResultFormat } from "./format.ts";
import { singleResult } from "./single-result.ts";

/** `arrow`. */
export const arrow: ResultFormat = {
  label: "arrow",
  contentType: "application/arrow",
  encode: (results, options) =>
    singleResult(results, "arrow", async function* (result) {
      if (result.kind === "affected") return;
      yield encodeArrowSchema(result.headers.map(markedField));
      const room = new BytesInTurn();
      for await (const batch of result.batches) {
        if (batch.rowCount > 0) yield encodeArrowBatch(result.headers, batch, options.compression, room);
      }
      yield encodeArrowEnd();
    }),
};

function markedField(header: ColumnHeader): ArrowField {
  switch (header.type.kind) {
    case "json":
    case "vector":
      return { ...header, metadata: { "greptime:type": displayName(header.type) } };
    case "interval":
      return { ...header, metadata: { "greptime:type": "Interval" } };
    default:
      return header;
  }
}
