/**
 * A client of the measurement of wires, a process of its own: reads one line of JSON from stdin, does what it says, prints lines of JSON.
 *
 *   (echo '{"server":{"wire":"postgres","port":4003,"user":"root","database":"public"},"kind":"select","text":"SELECT 1","form":"text"}') |
 *     bun bench/macro/wires/wire-client.ts
 */
import { percentile } from "../statistics.ts";
import { driverRows } from "./drivers.ts";
import { connectMysql } from "./mysql-link.ts";
import { connectPostgres } from "./postgres-link.ts";
import type { WireLink } from "./wire-link.ts";
import type { WireAddress, WirePlan, WireReport, WireRequest } from "./wire-plan.ts";
import { KINDS, rowAt, rowsSql, rowsTabbed, timeText } from "./wire-rows.ts";

/** Rows that are made at once: texts of a million would be hundreds of megabytes. */
const ROWS_AT_ONCE = 20_000;

async function connect({ wire, port, user, database }: WireAddress, isBinary = false): Promise<WireLink> {
  return wire === "mysql" ? await connectMysql(port, user, database) : await connectPostgres(port, user, database, isBinary);
}

/** Does what a plan says. @throws Error with the server's words; or when rows are missing */
async function perform(request: WireRequest): Promise<WireReport> {
  switch (request.kind) {
    case "select":
      return await select(request);
    case "run":
    case "load": {
      const link = await connect(request.server);
      const began = performance.now();
      if (request.kind === "run") for (const text of request.texts) await link.query(text);
      else
        for (const [from, to] of steps(request.rows, request.rowsPerInsert))
          await link.query(`INSERT INTO ${request.table} VALUES ${rowsSql(from, to)}`);
      link.end();
      return report(0, began);
    }
    case "points":
      return await points(request);
    case "idle": {
      const links = await Promise.all(Array.from({ length: request.clients }, async () => await connect(request.server)));
      for (const link of links) if ((await link.query("SELECT 1")) !== 1) throw new Error("SELECT 1 had no row");
      process.stdout.write(`${JSON.stringify({ isReady: true })}\n`);
      await stdinEnd.promise;
      for (const link of links) link.end();
      return report(request.clients, performance.now());
    }
    case "copy":
      return await copy(request);
    case "insert":
      return await insert(request);
  }
}

type Of<K extends WirePlan["kind"]> = Extract<WirePlan, { readonly kind: K }> & { readonly server: WireAddress };

async function select({ server, text, form }: Of<"select">): Promise<WireReport> {
  if (form === "driver") {
    const began = performance.now();
    return report(await driverRows(server, text), began);
  }
  const link = await connect(server, form === "binary");
  const run = form === "binary" ? (await link.prepare(text)).bytes([], []) : undefined;
  const began = performance.now();
  const rows = run === undefined ? await link.query(text) : await link.execute(run);
  const result = report(rows, began);
  link.end();
  return result;
}

async function points({ server, table, rows, clients, seconds, isPrepared }: Of<"points">): Promise<WireReport> {
  const ms: number[] = [];
  const isPostgres = server.wire === "postgres";
  const where = (host: string, ts: string): string =>
    `SELECT host, ts, value, total, state FROM ${table} WHERE host = ${host} AND ts = ${ts}`;
  const links = await Promise.all(Array.from({ length: clients }, async () => await connect(server)));
  const statement = where(isPostgres ? "$1" : "?", isPostgres ? "$2" : "?");
  const prepared = isPrepared ? await Promise.all(links.map(async (link) => await link.prepare(statement))) : [];
  const began = performance.now();
  const until = began + seconds * 1000;
  const client = async (link: WireLink, number: number): Promise<void> => {
    for (let i = number; performance.now() < until; i++) {
      const [host, time] = rowAt((i * 7919 * clients + number) % rows);
      const started = performance.now();
      const bytes = prepared[number]?.bytes([String(host), Number(time)], ["text", "time"]);
      const found = bytes === undefined ? await link.query(where(`'${host}'`, `'${timeText(Number(time))}'`)) : await link.execute(bytes);
      if (found !== 1) throw new Error(`a point query of ${host} at ${time} found ${found} rows`);
      ms.push(performance.now() - started);
    }
  };
  await Promise.all(links.map(client));
  const result = report(ms.length, began, ms);
  for (const link of links) link.end();
  return result;
}

async function copy({ server, statement, rows }: Of<"copy">): Promise<WireReport> {
  const pieces = steps(rows, ROWS_AT_ONCE).map(([from, to]) => Buffer.from(rowsTabbed(from, to)));
  const link = await connect(server);
  const began = performance.now();
  await link.load(statement, pieces);
  const result = report(rows, began);
  link.end();
  return result;
}

async function insert({ server, table, rows, rowsPerInsert, clients }: Of<"insert">): Promise<WireReport> {
  const isPostgres = server.wire === "postgres";
  const mark = (i: number): string => (isPostgres ? `$${i + 1}` : "?");
  const tuple = (row: number): string => `(${KINDS.map((_, i) => mark(row * KINDS.length + i)).join(",")})`;
  const text = `INSERT INTO ${table} VALUES ${Array.from({ length: rowsPerInsert }, (_, row) => tuple(row)).join(",")}`;
  const links = await Promise.all(Array.from({ length: clients }, async () => await connect(server)));
  const shares = await Promise.all(
    links.map(async (link, client) => {
      const prepared = await link.prepare(text);
      return steps(rows, rowsPerInsert)
        .filter((_, i) => i % clients === client)
        .map(([from]) => {
          const values = Array.from({ length: rowsPerInsert }, (_, i) => rowAt(from + i)).flat();
          return prepared.bytes(values, KINDS);
        });
    }),
  );
  const ms: number[] = [];
  const began = performance.now();
  await Promise.all(
    links.map(async (link, client) => {
      for (const bytes of shares[client] ?? []) {
        const started = performance.now();
        await link.execute(bytes);
        ms.push(performance.now() - started);
      }
    }),
  );
  const result = report(rows, began, ms);
  for (const link of links) link.end();
  return result;
}

/** `[from, to)` of `count` in steps of `size`. */
function steps(count: number, size: number): readonly (readonly [number, number])[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => [i * size, Math.min(count, (i + 1) * size)]);
}

function report(count: number, began: number, ms: readonly number[] = []): WireReport {
  const [msP50, msP99] = ms.length === 0 ? [0, 0] : [percentile(ms, 0.5), percentile(ms, 0.99)];
  return { count, seconds: (performance.now() - began) / 1000, msP50, msP99 };
}

const stdinEnd = Promise.withResolvers<undefined>();

if (import.meta.main) {
  let text = "";
  let work: Promise<WireReport> | undefined;
  for await (const piece of Bun.stdin.stream()) {
    text += new TextDecoder().decode(piece);
    if (text.includes("\n")) work ??= perform(JSON.parse(text) as WireRequest);
  }
  stdinEnd.resolve(undefined);
  process.stdout.write(`${JSON.stringify(await work)}\n`);
}
