/** Messages made beforehand: one a call, or all of a connection in one stream; or posted, for comparison. */
import { writeHeaders } from "./header-block.ts";
import { framed, type Framed } from "./frames.ts";
import { Http1Connection, postRequest } from "./http1-connection.ts";
import { Http2Connection } from "./http2-connection.ts";
import type { Failure } from "./load-socket.ts";
import type { Driver, Part } from "./load-plan.ts";

/** Where messages go. */
export interface Sending {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly rowsPerMessage: number;
  /** Messages of a full run; there are more, for the warm-up. */
  readonly units: number;
}

/** The header block of a call. */
export function callHeaders(path: string, headers: Readonly<Record<string, string>> = {}): Uint8Array {
  return writeHeaders([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "127.0.0.1"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ...Object.entries(headers),
  ]);
}

/** Opens so many connections. @throws Error when one fails */
export function connectAll(port: number, count: number): Promise<Http2Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Http2Connection.connect(port)));
}

/** @throws Error when a call failed */
export function expectNone(failure: Failure): void {
  if (failure !== undefined) throw new Error(`a call failed: ${failure}`);
}

/** Nobody looks at what writes answer: their trailers say whether they went well. */
function ignore(): void {}

function partOf(sent: readonly { readonly length: number }[], rowsPerMessage: number, ackMs: readonly number[]): Part {
  return { rows: sent.length * rowsPerMessage, bytes: sent.reduce((sum, { length }) => sum + length, 0), sum: 0, ackMs };
}

/** Each of `clients` takes the next of what is left when its last was answered. Milliseconds of each. */
async function eachInTurn<C, M>(clients: readonly C[], messages: readonly M[], send: (client: C, message: M) => Promise<Failure>) {
  const ackMs: number[] = [];
  let next = 0;
  const work = async (client: C): Promise<void> => {
    for (let message = messages[next++]; message !== undefined; message = messages[next++]) {
      const begun = performance.now();
      expectNone(await send(client, message));
      ackMs.push(performance.now() - begun);
    }
  };
  await Promise.all(clients.map(work));
  return ackMs;
}

/** One message a call, one call at a time on each connection. */
export async function driveUnary(to: Sending, messages: readonly Uint8Array[]): Promise<Driver> {
  const connections = await connectAll(to.port, to.connections);
  const headers = callHeaders(to.path, to.headers);
  const [{ frameBytes } = { frameBytes: 0 }] = connections;
  const frames = messages.map((message) => framed(message, { frameBytes, headers, isLast: true }));
  const call = (connection: Http2Connection, message: Framed): Promise<Failure> => {
    const made = connection.open(ignore);
    made.send(message);
    return made.ended;
  };
  return {
    units: to.units,
    run: async (from, end) => {
      const ackMs = await eachInTurn(connections, frames.slice(from, end), call);
      return partOf(messages.slice(from, end), to.rowsPerMessage, ackMs);
    },
    close: () => connections.forEach((connection) => connection.close()),
  };
}

/** All messages of a connection in one stream, answered once. */
export async function driveStreams(to: Sending, messages: readonly Uint8Array[]): Promise<Driver> {
  const connections = await connectAll(to.port, to.connections);
  const headers = callHeaders(to.path, to.headers);
  const [{ frameBytes } = { frameBytes: 0 }] = connections;
  const frames = messages.map((message) => framed(message, { frameBytes, isLast: false }));
  const begin = (): Framed => framed(undefined, { frameBytes, headers, isLast: false });
  const end = (): Framed => framed(undefined, { frameBytes, isLast: true });
  return {
    units: to.units,
    run: async (from, until) => {
      const share = Math.ceil((until - from) / connections.length);
      const stream = async (connection: Http2Connection, i: number): Promise<number> => {
        const begun = performance.now();
        const call = connection.open(ignore);
        const own = frames.slice(from + i * share, Math.min(until, from + (i + 1) * share));
        for (const message of [begin(), ...own, end()]) call.send(message);
        expectNone(await call.ended);
        return performance.now() - begun;
      };
      return partOf(messages.slice(from, until), to.rowsPerMessage, await Promise.all(connections.map(stream)));
    },
    close: () => connections.forEach((connection) => connection.close()),
  };
}

/** The same messages over HTTP/1.1, one at a time on each connection. */
export async function drivePosts(to: Sending, messages: readonly Uint8Array[]): Promise<Driver> {
  const connections = await Promise.all(Array.from({ length: to.connections }, () => Http1Connection.connect(to.port)));
  const requests = messages.map((message) => postRequest(to.path, to.headers, message));
  return {
    units: to.units,
    run: async (from, end) => {
      const ackMs = await eachInTurn(connections, requests.slice(from, end), (connection, request) => connection.request(request));
      return partOf(messages.slice(from, end), to.rowsPerMessage, ackMs);
    },
    close: () => connections.forEach((connection) => connection.close()),
  };
}
