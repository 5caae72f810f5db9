/** Rows as the bytes of a file, in each format. */
import { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { Batch } from "../../column/batch.ts";
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../../format/arrow/encode-stream.ts";
import { copyOptions } from "../../query/copy/copy-options.ts";
import { encodeParquet } from "../../query/copy/encode-parquet.ts";
import { encodeCsv, encodeJson } from "../../query/copy/encode-text.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import { ownPace } from "../common/pace.ts";
import { encodeLines, type LineTable } from "./line-protocol.ts";

/** Formats of files. */
export const EXPORT_FORMATS = ["csv", "json", "parquet", "lines", "arrow"] as const;

/** A format of files; json is an object a line, arrow an IPC stream. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * The bytes of a file.
 *
 * @param table undefined: rows are those of a query
 * @throws DbError, ConfigError for columns that the format cannot hold; those of the answer
 */
export function encodedRows(
  rows: AnsweredRows,
  format: ExportFormat,
  table: LineTable | undefined,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const { headers, batches } = rows;
  switch (format) {
    case "csv":
      return encodeCsv(headers, batches, copyOptions({ format: "csv" }, "to"));
    case "json":
      return encodeJson(headers, batches, copyOptions({ format: "json" }, "to"));
    case "parquet":
      return encodeParquet(headers, batches, { budget: new MemoryBudget(), signal, pace: ownPace() });
    case "lines":
      return encodeLines(rows, table);
    case "arrow":
      return encodeArrow(headers, batches);
  }
}

async function* encodeArrow(headers: AnsweredRows["headers"], batches: AsyncIterable<Batch>): AsyncGenerator<Uint8Array> {
  yield encodeArrowSchema(headers);
  for await (const batch of batches) if (batch.rowCount > 0) yield encodeArrowBatch(headers, batch, "zstd");
  yield encodeArrowEnd();
}

/** The format that a file's name tells; undefined: none. */
export function formatOfName(path: string): ExportFormat | undefined {
  switch (/\.(\w+)$/.exec(path.toLowerCase())?.[1]) {
    case "csv":
      return "csv";
    case "json":
    case "jsonl":
    case "ndjson":
      return "json";
    case "parquet":
      return "parquet";
    case "lp":
    case "line":
    case "lines":
      return "lines";
    case "arrow":
    case "arrows":
      return "arrow";
    default:
      return undefined;
  }
}
