/** What a benchmark writes to: Varve, the sink, a peer. All take line protocol over HTTP. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TABLE } from "./dataset.ts";
import { freePort } from "./free-port.ts";
import { type ServerProcess, startServer, startVarve, varveDataHome } from "./server-process.ts";
import { sqlNumber, sqlTable } from "./sql-client.ts";

/** A server that can be measured. */
export interface Target {
  readonly name: string;
  /** Where a row is when its request is acknowledged, in a few words for the table. */
  readonly durability: string;
  /** Starts it on a fresh directory. */
  start(directory: string): Promise<RunningTarget>;
}

/** A started server. */
export interface RunningTarget {
  readonly server: ServerProcess;
  readonly baseUrl: string;
  readonly writeUrl: string;
  /** Ports of the other protocols of Varve. */
  readonly wirePorts?: WirePorts;
  /** Everything the server stores. */
  readonly dataDirectory: string;
  /** Rows that a query can see now. */
  countRows(): Promise<number>;
  /** Asks the server to write what it holds in memory, where it can be asked. */
  flush(): Promise<void>;
}

/** Where Varve speaks MySQL, PostgreSQL and gRPC. */
export interface WirePorts {
  readonly mysql: number;
  readonly postgres: number;
  readonly grpc: number;
}

/** How Varve syncs its log: the values of `wal.sync`. */
export const DURABILITIES = ["always", "interval", "never"] as const;

/** One value of `wal.sync`. */
export type Durability = (typeof DURABILITIES)[number];

const DURABILITY_TEXT: Readonly<Record<Durability, string>> = {
  always: "disk (fdatasync, groups)",
  interval: "page cache, synced every second",
  never: "page cache",
};

/** Values of a switch. */
export const ON_OFF = ["on", "off"] as const;

/** One of them. */
export type OnOff = (typeof ON_OFF)[number];

/** How Varve is started, where it does not choose itself. */
export interface VarveChoices {
  readonly threads?: number | undefined;
  readonly compaction?: OnOff | undefined;
  readonly tracing?: OnOff | undefined;
}

/** Varve with a durability mode, further settings (`section.key` to TOML text), and what is chosen for it. */
export function varveTarget(
  durability: Durability,
  extra: ReadonlyMap<string, string> = new Map(),
  { threads, compaction, tracing }: VarveChoices = {},
): Target {
  const settings: Record<string, Record<string, string>> = { logging: { level: '"warn"' } };
  const own: [string, string][] = [["wal.sync", `"${durability}"`]];
  if (threads !== undefined) own.push(["ingest.threads", String(threads)]);
  if (compaction !== undefined) own.push(["storage.compaction", String(compaction === "on")]);
  for (const [path, value] of [...own, ...extra]) {
    const dot = path.lastIndexOf(".");
    const section = path.slice(0, dot);
    settings[section] = { ...settings[section], [path.slice(dot + 1)]: value };
  }
  return {
    name: [
      "Varve",
      ...(durability === "always" ? [] : [`wal.sync=${durability}`]),
      ...(threads === undefined ? [] : [threadsText(threads)]),
      ...(compaction === undefined ? [] : [`compaction ${compaction}`]),
      ...(tracing === undefined ? [] : [`tracing ${tracing}`]),
    ].join(", "),
    durability: DURABILITY_TEXT[durability],
    start: async (directory) => {
      const port = freePort();
      await mkdir(directory, { recursive: true });
      const wirePorts: WirePorts = { mysql: freePort(), postgres: freePort(), grpc: freePort() };
      const traced = {
        VARVE__LOGGING__ENABLE_OTLP_TRACING: "true",
        VARVE__LOGGING__OTLP_ENDPOINT: `http://127.0.0.1:${port}/v1/otlp/v1/traces`,
      };
      const wires = Object.fromEntries(
        Object.entries(wirePorts).map(([wire, wirePort]) => [
          `VARVE__${wire.toUpperCase()}__${wire === "grpc" ? "BIND_ADDR" : "ADDR"}`,
          `127.0.0.1:${wirePort}`,
        ]),
      );
      const env = { ...wires, ...(tracing === "on" ? traced : {}) };
      return { ...runningVarve(await startVarve({ directory, port, settings, env }), directory, port), wirePorts };
    },
  };
}

function threadsText(threads: number): string {
  return threads === 1 ? "1 ingest thread" : `${threads} ingest threads`;
}

/** The view of a Varve process that the benchmarks use. */
function runningVarve(server: ServerProcess, directory: string, port: number): RunningTarget {
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    server,
    baseUrl,
    writeUrl: `${baseUrl}/v1/influxdb/write?db=public`,
    dataDirectory: varveDataHome(directory),
    countRows: async () => await sqlNumber(baseUrl, `SELECT count(*) FROM ${TABLE}`),
    flush: async () => {
      await sqlTable(baseUrl, `ADMIN flush_table('${TABLE}')`);
    },
  };
}

/** Seconds that a start may take which replays whatever a benchmark left in the log. */
const REPLAY_SECONDS_MAX = 600;

/** Starts a stopped Varve again, on its directory and port. @throws Error when it does not answer in time */
export async function restarted(
  directory: string,
  before: RunningTarget,
  settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<RunningTarget> {
  const port = Number(new URL(before.baseUrl).port);
  const server = await startVarve({ directory, port, settings, readySecondsMax: REPLAY_SECONDS_MAX });
  return runningVarve(server, directory, port);
}

/** Asks Varve for the rows of a table. @throws Error when it does not show them all */
export async function expectRows({ baseUrl }: Pick<RunningTarget, "baseUrl">, table: string, want: number): Promise<void> {
  const rows = await sqlNumber(baseUrl, `SELECT count(*) FROM ${table}`);
  if (rows !== want) throw new Error(`Varve shows ${rows} of ${want} rows of ${table}`);
}

/** The bare HTTP server that every ratio is against; `lineBytes` is the mean size of a row. */
export function sinkTarget(lineBytes: number): Target {
  return {
    name: "bare Bun.serve sink",
    durability: "nothing kept",
    start: async (directory) => {
      const port = freePort();
      await mkdir(directory, { recursive: true });
      const baseUrl = `http://127.0.0.1:${port}`;
      const server = await startServer({
        name: "sink",
        command: [process.execPath, Bun.fileURLToPath(new URL("./sink.ts", import.meta.url)), String(port)],
        readyUrl: `${baseUrl}/bytes`,
        logPath: join(directory, "sink.log"),
      });
      return {
        server,
        baseUrl,
        writeUrl: `${baseUrl}/write`,
        dataDirectory: directory,
        countRows: async () => Math.round(Number(await (await fetch(`${baseUrl}/bytes`)).text()) / lineBytes),
        flush: async () => undefined,
      };
    },
  };
}
