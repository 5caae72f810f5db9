/**
 * Order inside layers: the rooms of a folder stand on each other too. A room sees those of lower ranks; rooms of one rank do not see each
 * other unless the rank says so. Files directly in the folder are its top and see all of it. Tests and benchmarks may look anywhere.
 */
import { posix } from "node:path";
import type { SourceFile } from "./source-tree.ts";

/** The rooms of one folder. */
interface House {
  /** Lowest first. `*` are all rooms that are not named. */
  readonly ranks: readonly (readonly string[])[];
  /** Files directly in the folder that only say what others agree on: every room may see them. */
  readonly contracts: readonly string[];
  /** Files of this name are a room of their own, which has it for a name, in whichever room they lie but one. */
  readonly apart?: { readonly name: string; readonly but: string };
}

const HOUSES: Readonly<Record<string, House>> = {
  "src/base": {
    ranks: [
      ["bytes", "wasm"],
      ["scheduler", "text"],
      ["memory", "process"],
      ["profile", "trace"],
    ],
    contracts: ["assert.ts", "clock.ts", "error.ts", "limits.ts", "log.ts", "metrics.ts", "status-code.ts", "told-error.ts", "units.ts"],
  },
  "src/query": {
    ranks: [
      ["sql"],
      ["postgres", "function"],
      ["plan-format"],
      ["expression"],
      ["operator"],
      ["copy"],
      ["plan"],
      ["known-plans"],
      ["statement", "workers", "promql"],
      ["bench"],
    ],
    contracts: [
      "promql-engine.ts",
      "system-facts.ts",
      "query-context.ts",
      "statement-result.ts",
      "session-settings.ts",
      "postgres-settings.ts",
      "postgres-types.ts",
      "connection-client.ts",
      "connection.ts",
      "kept-statements.ts",
      "prepared-query.ts",
    ],
  },
  "src/query/sql": { ranks: [["syntax"], ["tokens"], ["print"], ["grammar"]], contracts: [] },
  "src/query/sql/grammar": { ranks: [["base"], ["expression"], ["query"], ["statement"]], contracts: [] },
  "src/query/function": {
    ranks: [
      ["value"],
      ["time"],
      ["signature"],
      ["number"],
      ["text", "geo", "json", "nested", "sketch"],
      ["columns"],
      ["aggregate"],
      ["family"],
    ],
    contracts: [],
  },
  "src/query/plan": { ranks: [["bind"], ["common"], ["virtual"], ["rules"], ["from"], ["select"], ["range"]], contracts: [] },
  "src/query/statement": { ranks: [["shared"], ["table"], ["rows", "show"]], contracts: [] },
  "src/query/operator": {
    ranks: [
      ["node-parts"],
      ["node.ts"],
      ["contract"],
      ["kernels"],
      ["rows"],
      ["group-keys"],
      ["spill"],
      ["sort", "scan"],
      ["*"],
      ["parallel"],
    ],
    contracts: [],
    apart: { name: "node.ts", but: "contract" },
  },
  "src/cluster": {
    ranks: [
      ["port"],
      ["log-message", "meta-log", "nats"],
      ["catalog", "lanes"],
      ["shard"],
      ["ownership"],
      ["wire"],
      ["remote", "serve"],
      ["frontend", "statements"],
    ],
    contracts: [],
  },
  "src/engine": {
    ranks: [
      ["schema", "series", "log", "time", "joined"],
      ["health", "table", "follow"],
      ["metric"],
      ["write"],
      ["threads"],
      ["catalog"],
      ["flush", "compaction", "recovery"],
      ["change", "backup"],
      ["wiring"],
    ],
    contracts: ["engine-parts.ts", "background-work.ts", "elsewhere.ts"],
  },
  "src/format/parquet": {
    ranks: [["encodings", "thrift"], ["schema"], ["page"], ["chunks"], ["footer"], ["reading", "writing"], ["groups"], ["testing"]],
    contracts: ["types.ts", "limits.ts", "corruption.ts"],
  },
  "src/ingest": { ranks: [["common"], ["pipeline"], ["*"]], contracts: [] },
  "src/storage": {
    ranks: [
      ["s3"],
      ["cache", "file-store", "series"],
      ["external", "index", "meta-store", "spill", "tombstone", "wal", "worker"],
      ["memtable"],
      ["sst"],
      ["scan", "region"],
      ["compaction", "share"],
    ],
    contracts: ["data-directory.ts", "file-identity.ts", "private-folder.ts"],
  },
  "src/storage/scan": { ranks: [["runs"], ["select"], ["merge"], ["source"]], contracts: [] },
  "src/server": { ranks: [["connections"], ["common"], ["wire", "http2"], ["*"]], contracts: [] },
  "src/storage/sst": {
    ranks: [["series"], ["write", "read"]],
    contracts: ["data-file.ts", "time-window.ts", "label-columns.ts", "unreadable.ts"],
  },
  "src/server/http": {
    ranks: [["*"], ["protocols"]],
    contracts: [
      "answer-stream.ts",
      "context.ts",
      "errors.ts",
      "exchange.ts",
      "header-text.ts",
      "hints.ts",
      "http-metrics.ts",
      "limits.ts",
      "options.ts",
      "query-string.ts",
      "reply.ts",
      "router.ts",
    ],
  },
};

/** `from "./x"`, `import "./x"`, `import("./x")`. */
const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']/g;
/** Rank of what stands directly in a folder. */
const TOP = Number.POSITIVE_INFINITY;

function rankOf({ ranks }: House, room: string): number {
  if (room === "") return TOP;
  const named = ranks.findIndex((rooms) => rooms.includes(room));
  return named >= 0 ? named : ranks.findIndex((rooms) => rooms.includes("*"));
}

/** The room of a path below a folder, "" for the folder itself; undefined for what lies elsewhere. */
function roomOf(folder: string, { apart }: House, path: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined;
  const inside = path.slice(folder.length + 1);
  const room = inside.includes("/") ? inside.slice(0, inside.indexOf("/")) : "";
  return apart !== undefined && room !== apart.but && posix.basename(path) === apart.name ? apart.name : room;
}

/** One line an import that runs up or sideways, sorted. */
export function roomBreaks(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const [folder, house] of Object.entries(HOUSES)) {
    for (const { path, text } of files) {
      const from = roomOf(folder, house, path);
      if (from === undefined || from === "" || !path.endsWith(".ts") || /\.(?:test|bench)\.ts$/.test(path)) continue;
      if (rankOf(house, from) < 0) found.push(`${path}: ${from} is no room of ${folder}; give it a rank in test/tidy/rooms.ts`);
      for (const [, specifier = ""] of text.matchAll(IMPORT)) {
        const target = posix.join(posix.dirname(path), specifier);
        const to = roomOf(folder, house, target);
        if (to === undefined || to === from || (to === "" && house.contracts.includes(posix.basename(target)))) continue;
        if (rankOf(house, to) >= rankOf(house, from))
          found.push(`${path}: ${folder}/${from} must not import ${target.slice(folder.length + 1)}`);
      }
    }
  }
  return found.sort();
}
