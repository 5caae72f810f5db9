/**
 * The load generator of gRPC: a process of its own that sends messages over some connections and prints one JSON line.
 *
 *   bun bench/macro/grpc-loader.ts --url http://127.0.0.1:4001 --workload rows --rows 1000000 --batch 1000 --connections 8
 *
 * Messages are made before the clock starts and framed by hand, so that the loader costs as little as node:http2 itself.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { parseArgs } from "node:util";
import { columnsBody, rowsBody } from "./native-bodies.ts";
import { percentile } from "./statistics.ts";

/** What one run measured. */
export interface GrpcReport {
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  /** The first call that was not answered well. */
  readonly firstBad: string | undefined;
}

/** All workloads, the ceiling first. */
export const GRPC_WORKLOADS = ["transport", "rows", "columns", "rows-stream"] as const;

/** One of them. */
export type GrpcWorkload = (typeof GRPC_WORKLOADS)[number];

/** What a workload sends: a method, and whether all messages of a connection are one stream. */
interface Work {
  readonly path: string;
  readonly isStream: boolean;
  message(body: number, rowCount: number): Uint8Array;
}

const DATABASE = "/greptime.v1.GreptimeDatabase";
const asRows = (body: number, rowCount: number): Uint8Array => new BinaryWriter().tag(6, 2).bytes(rowsBody(body, rowCount)).finish();
const asColumns = (body: number, rowCount: number): Uint8Array => new BinaryWriter().tag(2, 2).bytes(columnsBody(body, rowCount)).finish();

/** By name. "transport" sends the same bytes to a method that does nothing with them: the ceiling. */
const WORKLOADS: Readonly<Record<GrpcWorkload, Work>> = {
  transport: { path: "/greptime.v1.HealthCheck/HealthCheck", isStream: false, message: asRows },
  rows: { path: `${DATABASE}/Handle`, isStream: false, message: asRows },
  columns: { path: `${DATABASE}/Handle`, isStream: false, message: asColumns },
  "rows-stream": { path: `${DATABASE}/HandleRequests`, isStream: true, message: asRows },
};

/** A message in its frame: not compressed, four bytes of length. */
function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(message.length + 5);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

/** A header that comes once. */
function wordOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}

/** One call. Resolves with its failure, if any. */
function call(session: ClientHttp2Session, path: string, frames: readonly Buffer[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
    let status: string | undefined;
    let text = "";
    const read = (headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void => {
      status = wordOf(headers["grpc-status"]) ?? status;
      text = wordOf(headers["grpc-message"]) ?? text;
    };
    stream.on("response", read);
    stream.on("trailers", read);
    stream.on("error", (error) => resolve(error.message));
    stream.on("end", () => resolve(status === "0" ? undefined : `status ${status}: ${decodeURIComponent(text)}`));
    stream.resume();
    for (const frame of frames) stream.write(frame);
    stream.end();
  });
}

/** Sends everything and reports. */
async function load(url: string, work: Work, rows: number, rowsPerBatch: number, connections: number): Promise<GrpcReport> {
  const count = Math.ceil(rows / rowsPerBatch);
  const frames = Array.from({ length: count }, (_, body) => framed(work.message(body, rowsPerBatch)));
  const sessions = Array.from({ length: connections }, () => connect(url));
  const acks: number[] = [];
  let firstBad: string | undefined;
  let next = 0;
  const started = performance.now();
  const timed = async (session: ClientHttp2Session, sent: readonly Buffer[]): Promise<void> => {
    const begun = performance.now();
    firstBad ??= await call(session, work.path, sent);
    acks.push(performance.now() - begun);
  };
  const oneByOne = async (session: ClientHttp2Session): Promise<void> => {
    for (let frame = frames[next++]; frame !== undefined && firstBad === undefined; frame = frames[next++]) await timed(session, [frame]);
  };
  const part = Math.ceil(count / connections);
  await Promise.all(
    sessions.map((session, i) => (work.isStream ? timed(session, frames.slice(i * part, (i + 1) * part)) : oneByOne(session))),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const session of sessions) session.close();
  const bytes = frames.reduce((sum, { length }) => sum + length, 0);
  return { rows: count * rowsPerBatch, bytes, seconds, ackMsP50: percentile(acks, 0.5), ackMsP99: percentile(acks, 0.99), firstBad };
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { url: text, workload: text, rows: text, batch: text, connections: text } });
  const name = GRPC_WORKLOADS.find((each) => each === values.workload);
  if (name === undefined || values.url === undefined) throw new Error(`--url, and --workload: one of ${GRPC_WORKLOADS.join(", ")}`);
  const report = await load(values.url, WORKLOADS[name], Number(values.rows), Number(values.batch), Number(values.connections));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
