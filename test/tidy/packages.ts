/** Dependencies are few, pinned, imported by the server, and each has its reason. */
import { codeOf } from "./code-text.ts";
import { isTestOrBench, type SourceFile } from "./source-tree.ts";

/** The parts of package.json that the rules look at. */
export interface Manifest {
  readonly packageManager?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Why each runtime dependency is there. A package without an entry does not come in; an entry without its package goes. */
export const RUNTIME_REASONS: Readonly<Record<string, string>> = {
  "@bufbuild/protobuf": "writes protobuf answers; with the messages generated from proto/ the oracle of the decoders by hand",
  "@connectrpc/connect": "gRPC services: codes, interceptors and streams, independent of the transport",
  "@connectrpc/connect-node": "HTTP/1.1 requests for those services, gzip; clients of tests",
  "@nats-io/transport-node":
    "connections to NATS, which clusters agree by: the protocol, reconnects, ways to sign in; JetStream is our own",
  "@opentelemetry/otlp-transformer": "OTLP's own serialisers of JSON and protobuf; see NOT_IMPORTED",
  "@noble/hashes": "BLAKE3 in SQL, which the runtime lacks: audited, no dependencies, 13 times the speed of plain code",
  chevrotain: "lexer and parser of SQL and PromQL: fast, typed, with error recovery",
  "h3-js": "cells of H3 in SQL: the index's own C library, compiled; loaded by the first query that needs it",
  hyparquet: "reads the footer of foreign Parquet files; the oracle of our own reader",
  pino: "log lines as JSON with little work a line",
  "pino-pretty": "log lines as words on a terminal; loaded by a server that has one",
  "prom-client": "metric families and their text format at /metrics",
  re2js: "regular expressions of pipelines, SQL and label matchers in time linear in the text: patterns come from anyone",
  s2js: "cells of S2 in SQL, typed and without native code; loaded by the first query that needs it",
  "smol-toml": "configuration files: TOML with exact positions in errors",
  snappyjs: "packs the answers of remote read; the oracle of our own snappy decoder",
  "xz-decompress": "xz files in COPY: streams, bounded memory, four times the speed of plain code; the runtime has no xz",
};

/** Runtime dependencies that the server does not import: by whom they are, and why they are kept. */
export const NOT_IMPORTED: Readonly<Record<string, { readonly by: "tests" | "nobody"; readonly why: string }>> = {
  "@opentelemetry/otlp-transformer": { by: "tests", why: "the oracle of our OTLP decoders and of our answers" },
};

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** One line a dependency that is not pinned or not allowed. */
export function packageBreaks(manifest: Manifest, reasons: Readonly<Record<string, string>> = RUNTIME_REASONS): readonly string[] {
  const found: string[] = [];
  const runtime = manifest.dependencies ?? {};
  for (const [name, version] of Object.entries({ ...runtime, ...manifest.devDependencies })) {
    if (!EXACT.test(version)) found.push(`${name}: ${version} is no exact version`);
  }
  for (const name of Object.keys(runtime)) if (reasons[name] === undefined) found.push(`${name}: no reason in test/tidy/packages.ts`);
  for (const name of Object.keys(reasons)) if (runtime[name] === undefined) found.push(`${name}: has a reason but is no dependency`);
  const bun = /^bun@(\d+\.\d+\.\d+)$/.exec(manifest.packageManager ?? "")?.[1];
  if (bun === undefined) found.push("packageManager: must be bun@ and an exact version");
  if (bun !== manifest.engines?.["bun"]) found.push(`engines.bun: ${manifest.engines?.["bun"]} is not that of packageManager, ${bun}`);
  return found;
}

/** `from "pkg"`, `import("pkg")`, `require("pkg")` and `resolve("pkg")`, with what stands in the package behind its name. */
const IMPORT = /\b(?:from|import|require|resolve)\s*\(?\s*["']((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^"']*)?["']/g;

/** One line a runtime dependency that the server does not import, but for those of the list, which must be as the list says. */
export function unusedPackages(
  manifest: Manifest,
  files: readonly SourceFile[],
  excepted: typeof NOT_IMPORTED = NOT_IMPORTED,
): readonly string[] {
  const importers = { server: new Set<string>(), tests: new Set<string>() };
  for (const file of files) {
    if (!file.path.endsWith(".ts")) continue;
    const isServer = file.path.startsWith("src/") && !isTestOrBench(file);
    const code = codeOf(file.text); // Of the same length, without comments and texts.
    for (const found of file.text.matchAll(IMPORT)) {
      if (code[found.index] !== " ") importers[isServer ? "server" : "tests"].add(found[1] ?? "");
    }
  }
  const found: string[] = [];
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const by = importers.server.has(name) ? "server" : importers.tests.has(name) ? "tests" : "nobody";
    const said = excepted[name]?.by ?? "server";
    if (by !== said) found.push(`${name}: is imported by ${by}; test/tidy/packages.ts says by ${said}`);
  }
  for (const name of Object.keys(excepted)) {
    if (manifest.dependencies?.[name] === undefined) found.push(`${name}: is excepted but is no dependency`);
  }
  return found;
}
