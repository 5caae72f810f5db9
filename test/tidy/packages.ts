/** Dependencies are few, pinned, and each has its reason. */

/** The parts of package.json that the rules look at. */
export interface Manifest {
  readonly packageManager?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Why each runtime dependency is there. A package without an entry does not come in; an entry without its package goes. */
export const RUNTIME_REASONS: Readonly<Record<string, string>> = {
  "@bufbuild/protobuf": "runtime of the messages generated from proto/; the oracle of the hand-tuned protobuf decoders",
  "@connectrpc/connect": "gRPC services: codes, interceptors and streams, independent of the transport",
  "@connectrpc/connect-node": "gRPC over node:http2, which Bun.serve does not speak",
  "@opentelemetry/otlp-transformer": "OTLP shapes of JSON and protobuf: payloads in tests, and export of the server's own traces",
  "@noble/hashes": "BLAKE3 in SQL, which the runtime lacks: audited, no dependencies, 15 times the speed of plain code",
  chevrotain: "lexer and parser of SQL and PromQL: fast, typed, with error recovery",
  "h3-js": "cells of H3 in SQL: the index's own C library, compiled; loaded by the first query that needs it",
  hyparquet: "reads foreign Parquet files and metadata; the oracle of our own reader",
  pino: "log lines as JSON with little work a line",
  "prom-client": "metric families and their text format at /metrics",
  re2js: "regular expressions of pipelines, SQL and label matchers in time linear in the text: patterns come from anyone",
  s2js: "cells of S2 in SQL, typed and without native code; loaded by the first query that needs it",
  "smol-toml": "configuration files: TOML with exact positions in errors",
  snappyjs: "snappy of Prometheus remote write, until a faster decoder proves itself against it",
  "xz-decompress": "xz files in COPY: streams, bounded memory, four times the speed of plain code; the runtime has no xz",
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
