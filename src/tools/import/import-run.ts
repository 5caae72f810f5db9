/** Runs an import: opens sources one after the other, with what an earlier run left of them. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import { copyOptions } from "../../query/copy/copy-options.ts";
import { localFiles } from "../../storage/external/local-files.ts";
import type { OpenFile } from "../../table/file-access.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import type { Client } from "../common/client.ts";
import { quotedName } from "../common/names.ts";
import { ownPace } from "../common/pace.ts";
import { appendTables } from "../common/table-facts.ts";
import { ProgressLine } from "../common/progress.ts";
import { shownCount } from "../common/shown.ts";
import { stateFolder } from "../common/state-folder.ts";
import type { ToolIo } from "../tool.ts";
import { bytesFrom } from "./bytes-from.ts";
import { formatOf, type ImportFormat, type ImportOptions, type RemoteOptions } from "./import-options.ts";
import { lineSource } from "./line-source.ts";
import { blockSource, hasTombstones, isBlock } from "./prometheus/block-source.ts";
import { remoteSource } from "./prometheus/remote-read.ts";
import { type SendParts, sendAll } from "./sender.ts";
import type { Source } from "./source.ts";
import { ImportState } from "./state.ts";
import { tableSource } from "./table-source.ts";
import { targetColumns } from "./target-table.ts";

/** Bytes of the beginning of a file that tell it from another one. */
const IDENTITY_BYTES: number = 64 * 1024;
/** Most bytes of a request. */
const PIECE_BYTES_MAX: number = 4 * 1024 * 1024;
/** Refused pieces that are told. */
const TOLD_MAX = 20;

/** A source, and what tells its state from that of others. */
interface Opened {
  readonly source: Source;
  /** What flags say of its pieces and of where they go. */
  readonly settings: string;
}

/** Imports all that options name. @returns the exit status @throws as sources and sending */
export async function importAll(client: Client, options: ImportOptions, io: ToolIo): Promise<number> {
  const folder = stateFolder(io.env);
  if (folder === undefined) throw new Error("cannot keep what is done: neither XDG_STATE_HOME nor HOME is set");
  const finished: ImportState[] = [];
  const append = appendLookup(client);
  const run: Run = { client, options, io, folder, append, finished };
  const { remote } = options;
  const names = remote === undefined ? options.files.map((name) => resolve(name)) : [remote.url];
  for (const name of names) {
    const status = await importOne(name, run);
    if (status !== 0) return status;
  }
  // Only now: a later file's end must not make an earlier one come again.
  for (const state of finished) await state.remove();
  return 0;
}

/** What imports of one command share. */
interface Run {
  readonly client: Client;
  readonly options: ImportOptions;
  readonly io: ToolIo;
  readonly folder: string;
  readonly append: (database: string) => Promise<ReadonlySet<string>>;
  readonly finished: ImportState[];
}

/** @param path of a file, absolute, or an address */
async function importOne(path: string, run: Run): Promise<number> {
  const { client, options } = run;
  const key = [path, client.url, client.database, options.table ?? ""].join("\n");
  const statePath = join(run.folder, "import", `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
  const now = systemClock.nowNanos();
  const nanos = options.restarts ? now : await ImportState.nanosAt(statePath, now);
  const { source, settings } = options.remote === undefined ? await openSource(path, run, nanos) : openRemote(options.remote, run, nanos);
  const parts = { source: path, identity: source.identity, settings, nanos };
  try {
    const { state, isResumed } = await ImportState.open(statePath, parts, options.restarts);
    run.finished.push(state);
    if (state.isFinished) return 0;
    if (isResumed) await settleDoubts(source, state, run);
    return await send(source, state, run, isResumed);
  } finally {
    await source.close();
  }
}

async function send(source: Source, state: ImportState, run: Run, isResumed: boolean): Promise<number> {
  const { client, options, io } = run;
  const shown = options.remote === undefined ? basename(source.name) : source.name;
  const progress = new ProgressLine(io, shown);
  if (isResumed && io.isTerminal.stderr) io.err(`${shown}: goes on behind ${shownCount(state.rowCount)} rows\n`);
  let told = 0;
  const parts: SendParts = {
    client,
    state,
    connections: options.connections,
    stopped: io.interrupted,
    appendTables: run.append,
    onPiece: (piece) => {
      const place = source.progressOf?.(piece.to) ?? piece.to;
      progress.update({ rowCount: state.rowCount, part: source.size === undefined ? undefined : place / Math.max(1, source.size) });
    },
    onBadRows: options.skipsBadRows
      ? (piece, refusal) => {
          if (++told <= TOLD_MAX) io.err(`${shown}, behind ${piece.place}: ${refusal.message}\n`);
        }
      : undefined,
  };
  const isWhole = await sendAll(source, parts);
  if (told > TOLD_MAX) io.err(`${shown}: ${told - TOLD_MAX} more requests had rows that were refused\n`);
  if (isWhole) {
    await state.end();
    progress.end(`${shown}: ${state.rowCount} rows`);
    return 0;
  }
  progress.end(`${shown}: stopped behind ${state.rowCount} rows; the same command goes on`);
  return 130;
}

/** Of pieces in doubt those that go into tables that keep every row: they are refused, or what the flag says is done. */
async function settleDoubts(source: Source, state: ImportState, { append, options }: Run): Promise<void> {
  if (state.doubts.length === 0) return;
  const doubts = new Map(state.doubts);
  const open: string[] = [];
  for await (const piece of source.pieces(state.start)) {
    if (doubts.get(piece.from) !== piece.to) continue;
    doubts.delete(piece.from);
    const kept = await append(piece.database);
    const tables = [...piece.tables()].filter((table) => kept.has(table));
    if (tables.length > 0) {
      if (options.inDoubt === undefined) open.push(`${piece.rowCount} rows from ${piece.place} on, of ${tables.join(", ")}`);
      if (options.inDoubt === "skip") await state.finish(piece, 0);
    }
    if (doubts.size === 0) break;
  }
  if (open.length === 0) return;
  throw new Error(
    `cannot go on: the last run was cut off while it sent ${open.join("; ")}, which may be there or not; that table keeps every row: ` +
      "look, then run it again with --in-doubt send or --in-doubt skip",
  );
}

async function openSource(path: string, run: Run, nanos: bigint): Promise<Opened> {
  const found = await stat(path).catch((thrown: unknown) => {
    throw new ConfigError(`cannot read ${path}: there is no such file`, EXIT_USAGE, { cause: thrown });
  });
  if (found.isDirectory()) return openBlock(path, run);
  const file = await localFiles("/").open(path, {});
  try {
    return await openFile(path, file, `${found.size} ${found.mtimeMs}`, run, nanos);
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

function openBlock(path: string, { client, options, io }: Run): Opened {
  if (!isBlock(path))
    throw new ConfigError(`cannot import ${path}: a folder without meta.json and index is no block of Prometheus`, EXIT_USAGE);
  if (hasTombstones(path)) io.err(`${path}: samples that were deleted and are still in the block are imported too\n`);
  return { source: blockSource(path, client.database, options.rowsMax), settings: JSON.stringify(["block", options.rowsMax]) };
}

/** The environment variable with what `--remote-read` sends as Authorization. */
const REMOTE_AUTHORIZATION = "VARVE_REMOTE_AUTHORIZATION";

function openRemote({ url, match, from, to }: RemoteOptions, { client, options, io }: Run, nanos: bigint): Opened {
  if (match === undefined || from === undefined) throw new ConfigError("--remote-read needs --match and --from", EXIT_USAGE);
  const authorization = io.env[REMOTE_AUTHORIZATION];
  const read = {
    url,
    match,
    from: millisOf("from", from),
    // An import that goes on ends where it was to end at first.
    to: to === undefined ? Number(nanos / 1_000_000n) : millisOf("to", to),
    identity: JSON.stringify([match, from, to]),
    headers: authorization === undefined ? {} : { authorization },
  };
  if (read.to <= read.from) throw new ConfigError("--to is not later than --from", EXIT_USAGE);
  return {
    source: remoteSource(read, client.database, options.rowsMax, io.interrupted),
    settings: JSON.stringify(["remote", options.rowsMax]),
  };
}

/** Milliseconds since 1970 of RFC 3339, or of seconds. */
function millisOf(name: string, text: string): number {
  if (/^\d{1,12}(?:\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  const nanos = parseTimestamp(text, "UTC");
  if (nanos === undefined)
    throw new ConfigError(`cannot use --${name}: want a time such as 2024-01-31T00:00:00Z, or seconds since 1970`, EXIT_USAGE);
  return Number(nanos / 1_000_000n);
}

async function openFile(path: string, file: OpenFile, stamp: string, run: Run, nanos: bigint): Promise<Opened> {
  const { options, client } = run;
  const first = await file.read(0, Math.min(IDENTITY_BYTES, file.byteLength));
  const identity = `${stamp} ${createHash("sha256").update(first).digest("hex")}`;
  const format = options.format ?? formatOf(path, await headOf(file));
  if (format === undefined) throw new ConfigError(`cannot tell what ${path} holds: say it by --format`, EXIT_USAGE);
  const settings = JSON.stringify([format, options.rowsMax, PIECE_BYTES_MAX, options.precision, options.delimiter ?? ","]);
  if (format === "csv" || format === "json" || format === "parquet")
    return { source: await openTable(path, file, identity, format, run), settings };
  const source = await lineSource(
    file,
    identity,
    {
      database: client.database,
      precision: options.precision,
      rowsMax: options.rowsMax,
      bytesMax: PIECE_BYTES_MAX,
      nanos,
      isExport: format === "influx",
      isDatabaseFixed: options.isDatabaseGiven,
      onDatabase: async (name) => void (await client.run(`CREATE DATABASE IF NOT EXISTS ${quotedName(name)}`)),
    },
    ownPace(),
  );
  return { source, settings };
}

async function openTable(
  path: string,
  file: OpenFile,
  identity: string,
  format: Exclude<ImportFormat, "lines" | "influx" | "block">,
  run: Run,
): Promise<Source> {
  const { options, client } = run;
  const table = options.table ?? tableOfName(basename(path));
  const reading = copyOptions({ format, ...(options.delimiter === undefined ? {} : { delimiter: options.delimiter }) }, "from");
  const timeDigits = ({ s: 0, ms: 3, us: 6, ns: 9 } as const)[options.precision as "s" | "ms" | "us" | "ns"];
  const columns = await targetColumns(client, client.database, table, file, reading, { ...options, timeDigits });
  return tableSource(file, identity, { database: client.database, table, columns, options: reading, rowsMax: options.rowsMax }, ownPace());
}

/** The table that a file's name means; exports write what no name of a file may hold as %XX. */
function tableOfName(name: string): string {
  const plain = name.replace(/\.(?:gz|gzip|zst|zstd|bz2|xz)$/i, "").replace(/\.(?:csv|json|jsonl|ndjson|parquet)$/i, "");
  try {
    return decodeURIComponent(plain);
  } catch (thrown) {
    if (thrown instanceof URIError) return plain; // Somebody else's percent sign.
    throw thrown;
  }
}

/** The first characters of a file, unpacked. */
async function headOf(file: OpenFile): Promise<string> {
  for await (const piece of bytesFrom(file, 0, ownPace(), () => undefined)) return Buffer.from(piece.subarray(0, 4096)).toString("latin1");
  return "";
}

/** Tables that keep every row, asked for once a database. Reason: a table that a write makes keeps the newest. */
function appendLookup(client: Client): (database: string) => Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  return (database) => {
    let asked = known.get(database);
    if (asked === undefined) known.set(database, (asked = appendTables(client, database)));
    return asked;
  };
}
