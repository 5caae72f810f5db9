/** Line protocol: three tables a request, overwrites of all fields and of some, deletes. */
import { amountOf, type Batch, isOf, labelOf, shardTag, tableOf, timeOf, writerTag } from "../batch.ts";
import { type Door, deleteRequest } from "./door.ts";

const TABLES = ["crash_0", "crash_1", "crash_2"];

function encode(batch: Batch): string {
  const { writer, number, origin } = batch;
  const lines: string[] = [];
  for (let seat = 0; isOf(batch, seat, TABLES.length); seat++) {
    const changing = `version=${number}i,amount=${amountOf(writer, number, seat)}`;
    const lasting = `,origin=${origin}i,seat=${seat}i,label="${labelOf(writer, number, seat)}"`;
    lines.push(
      `${TABLES[tableOf(origin, seat, TABLES.length)]!},writer=${writerTag(writer)},shard=${shardTag(seat)} ` +
        `${changing}${batch.kind === "partial" ? "" : lasting} ${timeOf(origin, seat)}\n`,
    );
  }
  return lines.join("");
}

/** See the file header. */
export const lineDoor: Door = {
  name: "line",
  tables: TABLES,
  changes: ["full", "partial", "delete"],
  isIdempotent: true,
  request(batch) {
    const { kind, writer, origin } = batch;
    if (kind === "delete") return deleteRequest(TABLES, batch, `writer = '${writerTag(writer)}' AND origin = ${origin}`);
    return { path: "/v1/influxdb/write?db=public", body: encode(batch), goodStatus: 204 };
  },
  rowsSql: (table, writer, origins) =>
    `SELECT origin, seat, version, shard, amount, label, greptime_timestamp FROM ${table} ` +
    `WHERE writer = '${writerTag(writer)}' AND origin IN (${origins.join(", ")})`,
  storedRow: ([origin, seat, version, shard, amount, label, time]) => ({
    origin: Number(origin),
    seat: Number(seat),
    version: Number(version),
    text: `shard ${String(shard)}, amount ${String(amount)}, label ${String(label)}, time ${String(time)}`,
  }),
  textOf: ({ writer, origin, seat, version, labelVersion }) =>
    `shard ${shardTag(seat)}, amount ${amountOf(writer, version, seat)}, label ${labelOf(writer, labelVersion, seat)}, ` +
    `time ${timeOf(origin, seat)}`,
  sumsSql: (table) => `SELECT writer, origin, count(*), sum(seat), sum(version), sum(amount) FROM ${table} GROUP BY writer, origin`,
  figuresOf: ({ writer, seat, version }) => [seat, version, amountOf(writer, version, seat)],
};
