/**
 * The load generator: a process of its own that posts a line-protocol file in batches and prints one JSON line.
 *
 *   bun bench/macro/loader.ts --url http://127.0.0.1:4000/v1/influxdb/write --file cpu.lp --batch 10000 --connections 4
 *
 * Bodies are slices of the file, which Bun sends with `sendfile`: the bytes never enter this process, so that it takes 0.07 CPU
 * seconds a million rows (reading into buffers: 0.2) and leaves the cores to the server. The file is scanned for line ends before the
 * clock starts, which also brings it into the page cache.
 */
import { parseArgs } from "node:util";
import { findBatches } from "./batches.ts";
import { percentile } from "./statistics.ts";

/** What one run of the load generator measured. */
export interface LoadReport {
  readonly rows: number;
  readonly bytes: number;
  readonly requests: number;
  readonly seconds: number;
  /** When the first request was sent, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Milliseconds from the start of a request to the end of its answer. */
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  readonly ackMsMax: number;
  /** Requests that were not answered with the wanted status. */
  readonly bad: number;
  /** The first bad answer: status and start of its text. */
  readonly firstBad: string | undefined;
  /** User and system time of the load generator while it sent. */
  readonly cpuSeconds: number;
}

/** What to send, and where. */
export interface LoadOptions {
  readonly url: string;
  readonly file: string;
  readonly rowsPerBatch: number;
  readonly connections: number;
  /** The status of a good answer. */
  readonly status: number;
  /** Sends part `index` of `of` equal parts, `[0, of)`; absent: all of the file. */
  readonly part?: FilePart | undefined;
}

/** A part of a file. */
export interface FilePart {
  readonly index: number;
  readonly of: number;
}

/** The command line of the load generator for these options, without the program. */
export function loaderArguments(options: LoadOptions): string[] {
  return [
    "--url",
    options.url,
    "--file",
    options.file,
    "--batch",
    String(options.rowsPerBatch),
    "--connections",
    String(options.connections),
    "--status",
    String(options.status),
    ...(options.part === undefined ? [] : ["--part", String(options.part.index), "--parts", String(options.part.of)]),
  ];
}

/** Sends a whole file. */
export async function load(options: LoadOptions): Promise<LoadReport> {
  const batches = findBatches(options.file, options.rowsPerBatch);
  const all = batches.offsets.length - 1;
  const { index, of } = options.part ?? { index: 0, of: 1 };
  const first = Math.floor((all * index) / of);
  const end = Math.floor((all * (index + 1)) / of);
  const requests = end - first;
  const file = Bun.file(options.file);
  const ackMs = new Float64Array(requests);
  const headers = { "content-type": "text/plain; charset=utf-8" };
  let next = first;
  let bad = 0;
  let firstBad: string | undefined;
  const connection = async (): Promise<void> => {
    while (next < end) {
      const batch = next++;
      const body = file.slice(batches.offsets[batch], batches.offsets[batch + 1]);
      const started = performance.now();
      const response = await fetch(options.url, { method: "POST", body, headers });
      const answer = await response.text();
      ackMs[batch - first] = performance.now() - started;
      if (response.status === options.status) continue;
      bad++;
      firstBad ??= `${response.status} ${answer.slice(0, 300)}`;
    }
  };
  const cpuBefore = process.cpuUsage();
  const startedAtMs = performance.timeOrigin + performance.now();
  const started = performance.now();
  await Promise.all(Array.from({ length: options.connections }, connection));
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  return {
    rows: Math.min(batches.rows, end * options.rowsPerBatch) - first * options.rowsPerBatch,
    bytes: (batches.offsets[end] ?? 0) - (batches.offsets[first] ?? 0),
    requests,
    seconds,
    startedAtMs,
    ackMsP50: percentile(ackMs, 0.5),
    ackMsP99: percentile(ackMs, 0.99),
    ackMsMax: percentile(ackMs, 1),
    bad,
    firstBad,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      file: { type: "string" },
      batch: { type: "string", default: "10000" },
      connections: { type: "string", default: "4" },
      status: { type: "string", default: "204" },
      part: { type: "string", default: "0" },
      parts: { type: "string", default: "1" },
    },
  });
  if (values.url === undefined || values.file === undefined) throw new Error("cannot load: --url and --file are needed");
  const report = await load({
    url: values.url,
    file: values.file,
    rowsPerBatch: Number(values.batch),
    connections: Number(values.connections),
    status: Number(values.status),
    part: { index: Number(values.part), of: Number(values.parts) },
  });
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
