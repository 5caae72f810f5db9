/**
 * `POST /v1/arrow/write?db=…&table=…`: the rows of an Arrow IPC stream into a table that exists, as Flight SQL's ingest takes them, for
 * tools that speak HTTP alone. Columns go by name and are cast as INSERT casts; columns of the table that the stream lacks take their
 * defaults. Answered once all rows are in the log.
 *
 * A stream of at most 65,536 rows and 16 MiB is one write, whole or not at all; of a longer one the rows before a failure stay.
 */
import { invalidArguments } from "../../../base/error.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { type ArrowColumn, ArrowReader } from "../../../format/arrow/reading/arrow-reader.ts";
import { streamMessages } from "../../../format/arrow/reading/stream-messages.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { quotedName } from "../../common/quoted-name.ts";
import type { Exchange } from "../exchange.ts";
import type { HttpServerOptions } from "../options.ts";
import { decodedValueOf } from "../query-string.ts";
import { jsonReply, type Reply } from "../reply.ts";
import type { Route } from "../router.ts";
import { acceptWrite, writeBody } from "./accepted-write.ts";

/** Rows that are taken at a time. Reason: their columns are made at once on the thread, 1.8 µs a row; others get a turn between. */
const STEP_ROWS = 8192;

/** The route of this file. The main thread serves it: the schema of the table decides how rows are cast. */
export function arrowRoutes(options: HttpServerOptions): readonly Route[] {
  return [{ path: "/v1/arrow/write", methods: { POST: (exchange) => writeRows(exchange, options) }, errors: "coded", ingest: "arrow" }];
}

async function writeRows(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  const { db } = options;
  const { session } = acceptWrite(exchange, db);
  const table = decodedValueOf(exchange.rawQuery, "table");
  if (table === undefined || table === "") throw invalidArguments("cannot write: the parameter table is missing");
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  await db.admit(exchange.signal);
  const reader = new ArrowReader();
  let types: readonly ArrowColumn["type"][] = [];
  let intake: RowIntake | undefined;
  try {
    for (const { metadata, body: values } of streamMessages(body)) {
      const message = reader.read(metadata, values);
      if (message.kind === "schema") {
        types = message.headers.map(({ type }) => type);
        const names = message.headers.map(({ name }) => name);
        intake = db.intake([session.database, table], names, `INSERT INTO ${quotedName(table)} (an Arrow stream)`, session);
      }
      if (message.kind !== "batch" || intake === undefined) continue;
      const { batch } = message;
      for (let from = 0; from < batch.rowCount; from += STEP_ROWS) {
        const { vectors, rowCount } = sliceBatch(batch, from, Math.min(batch.rowCount, from + STEP_ROWS));
        await intake.add(vectors, types, rowCount);
      }
    }
    if (intake === undefined) throw invalidArguments("cannot write: the body is no Arrow IPC stream, since it has no schema");
    return jsonReply(200, JSON.stringify({ code: 0, output: [{ affectedrows: await intake.finish() }] }));
  } finally {
    await intake?.close();
  }
}
