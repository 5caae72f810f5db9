/**
 * Imports point down the layer DAG: a folder sees only folders of a lower rank, never a sibling of its own rank.
 * The text is read on purpose: `Bun.Transpiler.scanImports` drops `import type`, and a type is a dependency as well.
 */
import { posix } from "node:path";
import type { SourceFile } from "./source-tree.ts";

/** Folders of `src/`, lowest first; a folder may import those of the ranks before its own. */
const RANKS: readonly (readonly string[])[] = [
  ["base"],
  ["column"],
  ["value"],
  ["format", "table"],
  ["ingest", "storage", "query"],
  ["engine", "db"],
  ["cluster"],
  ["server", "tools"],
];

/**
 * Folders beside the ranks, and what they may import. `config` is read by `main.ts` alone: the rest gets plain arguments. `dashboard` runs
 * in browsers.
 */
const BESIDE: Readonly<Record<string, readonly string[]>> = { config: ["base"], dashboard: [] };

/** Of a layer that another sees only in part: the files that it may import. Servers know results and nothing that makes them. */
const FACES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  server: {
    query: [
      "connection-client.ts",
      "statement-result.ts",
      "connection.ts",
      "kept-statements.ts",
      "prepared-query.ts",
      "session-settings.ts",
      "postgres-settings.ts",
      "language-facts.ts",
    ],
  },
};

/** Files that wire the layers together and so see all of them. */
const WIRING: readonly string[] = [
  "main.ts",
  "built-program.ts",
  "program.ts",
  "standalone.ts",
  "foundation.ts",
  "statements.ts",
  "clients.ts",
  "build-info.ts",
  "frontend.ts",
  "frontend-peers.ts",
  "datanode.ts",
  "cluster-parts.ts",
  "running-server.ts",
  "servers.ts",
  "data-files.ts",
  "ingest-worker.ts",
  "ingest-workers.ts",
  "query-worker.ts",
  "query-threads.ts",
  "thread-parts.ts",
  "rehearsal.ts",
  "rehearsed-asker.ts",
  "rehearsed-requests.ts",
  "rehearsed-tables.ts",
  "version.ts",
];

const ALLOWED: ReadonlyMap<string, readonly string[]> = new Map([
  ...RANKS.flatMap((folders, rank) => folders.map((folder) => [folder, RANKS.slice(0, rank).flat()] as const)),
  ...Object.entries(BESIDE),
  ["tools", [...RANKS.slice(0, -1).flat(), "config"]], // Tools read command lines and settings themselves.
]);

/** `from "./x"`, `import "./x"`, `import("./x")`, `new URL("./x", import.meta.url)`, `new Worker("./x")`. */
const IMPORT = /\b(?:from|import|new URL|new Worker|require)\s*\(?\s*["'](\.[^"']*)["']/g;

/** One line a broken import, sorted. */
export function layerBreaks(files: readonly SourceFile[]): readonly string[] {
  const found: string[] = [];
  for (const file of files) {
    if (!file.path.startsWith("src/") || !file.path.endsWith(".ts")) continue;
    const from = file.path.split("/")[1] ?? "";
    if (WIRING.includes(from)) continue;
    const allowed = ALLOWED.get(from);
    if (allowed === undefined) {
      found.push(`${file.path}: ${from} is in no layer; put it in a folder of src/ or add it to test/tidy/layers.ts`);
      continue;
    }
    // Services of gRPC answer with the messages that are generated from proto/.
    const isTest = /\.(?:test|bench)\.ts$/.test(file.path);
    for (const [, specifier = ""] of file.text.matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(file.path), specifier).split("/");
      const to = target[0] === "src" ? (target[1] ?? "") : `${target[0]}/`;
      const isSeen =
        to === from ||
        allowed.includes(to) ||
        (to === "proto/" && (from === "server" || from === "db")) ||
        (isTest && (to === "test/" || to === "bench/" || to === "proto/"));
      if (!isSeen) found.push(`${file.path}: ${from} must not import ${to}`);
      const face = isTest ? undefined : FACES[from]?.[to];
      const inside = target.slice(2).join("/");
      if (face !== undefined && !face.includes(inside))
        found.push(`${file.path}: ${from} may import ${face.join(", ")} of ${to}, not ${inside}`);
    }
  }
  return found.sort();
}
