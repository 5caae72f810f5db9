/**
 * The load generator of remote write: a process of its own that posts bodies `[from, to)` of a file and prints one JSON line.
 *
 *   bun bench/macro/remote-write-loader.ts --url http://127.0.0.1:4000/v1/prometheus/write --file rw.bin --from 0 --to 50 --connections 8
 *
 * Bodies are slices of the file, which Bun sends with `sendfile`: the bytes never enter this process.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { remoteHeaders } from "./remote-write-body.ts";
import { percentile } from "./statistics.ts";

/** What one run of the load generator measured. */
export interface RemoteReport {
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Milliseconds from the start of a request to the end of its answer. */
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  /** Requests that were not answered with 2xx, and the first of these answers. */
  readonly bad: number;
  readonly firstBad: string | undefined;
  /** User and system time of the load generator while it sent. */
  readonly cpuSeconds: number;
}

/** What to send, and where. */
export interface RemoteLoadOptions {
  readonly url: string;
  readonly file: string;
  readonly version: 1 | 2;
  readonly from: number;
  readonly to: number;
  readonly connections: number;
}

/** The command line of the load generator for these options, without the program. */
export function remoteLoaderArguments(options: RemoteLoadOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** Sends the bodies. */
async function load({ url, file: path, version, from, to, connections }: RemoteLoadOptions): Promise<RemoteReport> {
  const index = readFileSync(`${path}.index`);
  const offsets = new Float64Array(index.buffer, index.byteOffset, index.length / 8);
  const file = Bun.file(path);
  const headers = remoteHeaders(version);
  const ackMs = new Float64Array(to - from);
  let bad = 0;
  let firstBad: string | undefined;
  let next = from;
  const connection = async (): Promise<void> => {
    while (next < to) {
      const request = next++;
      const body = file.slice(offsets[request], offsets[request + 1]);
      const started = performance.now();
      const response = await fetch(url, { method: "POST", body, headers });
      const answer = await response.text();
      ackMs[request - from] = performance.now() - started;
      if (response.ok) continue;
      bad++;
      firstBad ??= `${response.status} ${answer.slice(0, 300)}`;
    }
  };
  const before = process.cpuUsage();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(before);
  return {
    requests: to - from,
    bytes: (offsets[to] ?? 0) - (offsets[from] ?? 0),
    seconds,
    ackMsP50: percentile(ackMs, 0.5),
    ackMsP99: percentile(ackMs, 0.99),
    bad,
    firstBad,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { url: text, file: text, version: text, from: text, to: text, connections: text } });
  if (values.url === undefined || values.file === undefined) throw new Error("cannot load: --url and --file are needed");
  const report = await load({
    url: values.url,
    file: values.file,
    version: values.version === "2" ? 2 : 1,
    from: Number(values.from),
    to: Number(values.to),
    connections: Number(values.connections),
  });
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
