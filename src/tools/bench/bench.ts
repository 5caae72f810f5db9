/**
 * `varve bench`: what this machine does, in half a minute. A server of its own with default settings, writes of several connections, each
 * answered once its rows are on disk, then small writes, queries, and how many bytes a row takes. Nothing is left behind.
 *
 * The generator runs on the same machine: it takes 0.2 µs of processor time a row, and sending about as much.
 */
import { tmpdir } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { type Flag, readFlags } from "../../config/flag.ts";
import { Client } from "../common/client.ts";
import { countOf } from "../common/count-flag.ts";
import { helpText } from "../common/help.ts";
import { refusalOf } from "../common/refusal.ts";
import { DATABASE_DEFAULT } from "../common/server-flags.ts";
import { shownCount, shownMillis } from "../common/shown.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { FIELDS, HostLoad } from "./load.ts";
import { machineText, quantile, syncMillis } from "./machine.ts";
import { OwnServer } from "./own-server.ts";

const BATCH_ROWS = 10_000;
const SMALL_ROWS = 10;
const SMALL_WRITES = 200;
const QUERY_RUNS = 20;

const FLAGS: readonly Flag[] = [
  { name: "seconds", value: "<n>", help: "how long rows are written (default: 10)" },
  { name: "hosts", value: "<n>", help: "hosts that rows are of (default: 1000)" },
  { name: "connections", value: "<n>", help: "connections that write (default: 4)" },
  { name: "dir", value: "<folder>", help: "where the server's folder is made: the disk that is measured (default: the temporary folder)" },
];

/** See the file header. */
export const bench: ToolProgram = {
  flags: FLAGS,
  help: () =>
    helpText({
      about: "Measures this machine with a server of its own: rows a second on disk, latencies of writes and queries, bytes a row.",
      usage: ["varve bench [flags]"],
      examples: ["varve bench", "varve bench --seconds 60 --hosts 4000 --dir /var/lib"],
      flags: FLAGS,
      notes: ["Load and server share the machine. The server has default settings; it and its data are gone at the end."],
    }),
  run: async (args, io) => {
    const flags = readFlags(args, FLAGS);
    if (flags.words.length > 0) throw new ConfigError("bench takes no arguments: see --help", EXIT_USAGE);
    const seconds = countOf(flags, "seconds", 10, 3600);
    const load = new HostLoad(countOf(flags, "hosts", 1000, 100_000));
    const connections = countOf(flags, "connections", 4, 64);
    const server = await OwnServer.start(flags.values.get("dir") ?? tmpdir());
    try {
      const client = new Client({ url: server.url, user: undefined, password: "", database: DATABASE_DEFAULT, tls: undefined });
      await measure(client, server, load, { seconds, connections }, io);
    } catch (thrown) {
      if (!io.interrupted.aborted) throw thrown;
    } finally {
      await server.end();
    }
    return io.interrupted.aborted ? 130 : 0;
  },
};

async function measure(
  client: Client,
  server: OwnServer,
  load: HostLoad,
  { seconds, connections }: { readonly seconds: number; readonly connections: number },
  io: ToolIo,
): Promise<void> {
  const say = (what: string, ...figures: readonly string[]): Promise<void> =>
    io.out(`${what.padEnd(44)}${figures.map((figure) => figure.padStart(14)).join("")}\n`);
  for (const line of await machineText(server.folder)) await io.out(`${line}\n`);
  await io.out("\n");
  await say("", "p50", "p99");
  const latencies = async (what: string, millis: readonly number[]): Promise<void> =>
    say(what, shownMillis(quantile(millis, 0.5)), shownMillis(quantile(millis, 0.99)));
  await latencies("sync of 4 KiB to the disk", await syncMillis(server.folder));

  const written = await writeFor(client, load, seconds, connections, io.interrupted);
  await latencies(`write of ${BATCH_ROWS} rows, ${connections} connections`, written.millis);
  const small: number[] = [];
  for (let i = 0; i < SMALL_WRITES; i++) small.push(await timed(() => write(client, load.body(SMALL_ROWS), io.interrupted)));
  await latencies(`write of ${SMALL_ROWS} rows, idle server`, small);

  await client.rows("ADMIN flush_table('cpu')", io.interrupted);
  const rows = await client.rows("SELECT data_length, table_rows FROM information_schema.tables WHERE table_name = 'cpu'", io.interrupted);
  const [bytes = 0n, count = 0n] = (rows[0] ?? []).map((value) => Number(value));
  for (const { name, sql } of queries(load)) {
    const millis: number[] = [];
    await client.rows(sql, io.interrupted); // The first one reads what later ones have.
    for (let i = 0; i < QUERY_RUNS; i++) millis.push(await timed(() => client.rows(sql, io.interrupted)));
    await latencies(name, millis);
  }
  await io.out("\n");
  await say("rows a second, each on disk", shownCount(written.rows / written.seconds));
  await say("rows; bytes a row on disk", shownCount(Number(count)), (Number(bytes) / Math.max(1, Number(count))).toFixed(2));
}

/** Writes for some seconds. Bodies are made beside the requests. */
async function writeFor(client: Client, load: HostLoad, seconds: number, connections: number, signal: AbortSignal) {
  const began = systemClock.monotonicMillis();
  const end = began + seconds * 1000;
  const millis: number[] = [];
  let rows = 0;
  const connection = async (): Promise<void> => {
    while (systemClock.monotonicMillis() < end) {
      const body = load.body(BATCH_ROWS);
      millis.push(await timed(() => write(client, body, signal)));
      rows += BATCH_ROWS;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return { rows, millis, seconds: (systemClock.monotonicMillis() - began) / 1000 };
}

async function write(client: Client, body: Uint8Array, signal: AbortSignal): Promise<void> {
  const response = await client.send("/v1/influxdb/write", { body, signal });
  if (!response.ok) throw await refusalOf(response);
  await response.bytes();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = systemClock.monotonicMillis();
  await work();
  return systemClock.monotonicMillis() - began;
}

/** A few of TSBS' types of queries, over the last hour that was written, or all of it. */
function queries(load: HostLoad): readonly { readonly name: string; readonly sql: string }[] {
  const last = `(SELECT max(greptime_timestamp) FROM cpu)`;
  const hour = `greptime_timestamp > ${last} - INTERVAL '1 hour'`;
  const means = FIELDS.slice(0, 5).map((name) => `avg(usage_${name})`);
  const minute = "date_trunc('minute', greptime_timestamp)";
  return [
    {
      name: "one host, one metric by minute, an hour",
      sql: `SELECT ${minute} m, max(usage_user) FROM cpu WHERE hostname = 'host_1' AND ${hour} GROUP BY m ORDER BY m`,
    },
    {
      name: "eight hosts, five metrics by minute, an hour",
      sql:
        `SELECT ${minute} m, ${FIELDS.slice(0, 5)
          .map((name) => `max(usage_${name})`)
          .join(", ")} FROM cpu ` +
        `WHERE hostname IN (${Array.from({ length: 8 }, (_, i) => `'host_${i}'`).join(", ")}) AND ${hour} GROUP BY m ORDER BY m`,
    },
    {
      name: `five averages by host and hour, ${shownCount(load.rowCount)} rows`,
      sql: `SELECT date_trunc('hour', greptime_timestamp) h, hostname, ${means.join(", ")} FROM cpu GROUP BY h, hostname`,
    },
    { name: "rows of the last hour with usage over 90", sql: `SELECT count(*) FROM cpu WHERE usage_user > 90 AND ${hour}` },
  ];
}
