/**
 * Series of another server by Prometheus' remote read: one request a window of time, answered in chunks (frames) or in samples.
 *
 *   window ─► ReadRequest ─► frames of ChunkedReadResponse, or one ReadResponse ─► samples ─► requests of remote write
 *
 * Places are windows; the pieces of a window are parts of one, which is read anew as a whole when an import goes on within it. Source:
 * remote.proto and storage/remote/chunked.go of Prometheus.
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import { field, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { decodeSnappy } from "../../../format/snappy/decode.ts";
import { crc32c } from "../../../ingest/prometheus/read/read-series.ts";
import { parsePromql } from "../../../query/promql/syntax/parse.ts";
import { ConfigError, EXIT_USAGE } from "../../../config/config-error.ts";
import { Refusal, refusalOf } from "../../common/refusal.ts";
import { pause, waitMillis } from "../../common/retry.ts";
import type { Piece, Source } from "../source.ts";
import { readChunk } from "./chunk.ts";
import type { Histograms } from "./histogram-chunk.ts";
import { type Label, SeriesPieces } from "./series-pieces.ts";
import type { Samples } from "./xor-samples.ts";

/** Milliseconds of a window. Reason: an answer of samples lies in memory whole; ten thousand series scraped each 15 s are 2.4M of them. */
const WINDOW_MILLIS = 3_600_000;
/** Most bytes of an answer of samples, unpacked, and of a frame. */
const ANSWER_BYTES_MAX: number = 1024 * 1024 * 1024;
const FRAME_BYTES_MAX: number = 64 * 1024 * 1024;
const TRIES_MAX = 10;
const STREAMED = "application/x-streamed-protobuf";
const MATCH_KINDS: Readonly<Record<string, number>> = { "=": 0, "!=": 1, "=~": 2, "!~": 3 };

/** What is read. */
export interface RemoteRead {
  readonly url: string;
  readonly match: string;
  /** Milliseconds: from the first, up to but not with the second. */
  readonly from: number;
  readonly to: number;
  /** What flags say of it. */
  readonly identity: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Series of a server as a source. @throws ConfigError for a selector that is none */
export function remoteSource(read: RemoteRead, database: string, rowsMax: number, stopped: AbortSignal): Source {
  const matchers = matchersOf(read.match);
  const windows = Math.max(1, Math.ceil((read.to - read.from) / WINDOW_MILLIS));
  return {
    name: read.url,
    identity: read.identity,
    size: windows,
    isStable: false,
    pieces: async function* (start) {
      let ended = start.at;
      for (let window = Math.floor(start.at); window < windows; window++) {
        const from = read.from + window * WINDOW_MILLIS;
        const body = requestOf(matchers, from, Math.min(read.to, from + WINDOW_MILLIS) - 1);
        for await (const piece of windowPieces(
          window,
          seriesOf(await answerOf(read, body, stopped)),
          new SeriesPieces(database, rowsMax, ended),
        )) {
          ended = piece.to;
          yield piece;
        }
      }
    },
    close: async () => undefined,
  };
}

/** Pieces of a window; the last one ends with it, whatever its number of pieces. */
async function* windowPieces(
  window: number,
  series: AsyncIterable<readonly [readonly Label[], Samples | Histograms]>,
  pieces: SeriesPieces,
): AsyncGenerator<Piece> {
  let part = 0;
  for await (const [labels, samples] of series) {
    pieces.add(labels, samples);
    // Parts of a window lie between its number and the next.
    const piece = pieces.isFull ? pieces.take(window + 1 - 1 / (++part + 1)) : undefined;
    if (piece !== undefined) yield piece;
  }
  const last = pieces.take(window + 1);
  if (last !== undefined) yield last;
}

async function answerOf(read: RemoteRead, body: Uint8Array, stopped: AbortSignal): Promise<Response> {
  const headers = {
    ...read.headers,
    "content-type": "application/x-protobuf",
    "content-encoding": "snappy",
    "accept-encoding": "snappy",
    "x-prometheus-remote-read-version": "0.1.0",
  };
  for (let attempt = 1; ; attempt++) {
    const answer = await fetched(read.url, { method: "POST", headers, body: body as Uint8Array<ArrayBuffer>, signal: stopped });
    if (answer instanceof Response && answer.ok) return answer;
    const refusal = answer instanceof Response ? await refusalOf(answer) : answer;
    if (!refusal.isPassing || attempt === TRIES_MAX) throw refusal;
    await pause(waitMillis(attempt, refusal.retryAfterMillis), stopped);
  }
}

async function fetched(url: string, init: RequestInit): Promise<Response | Refusal> {
  try {
    return await fetch(url, init);
  } catch (thrown) {
    init.signal?.throwIfAborted();
    return new Refusal(`cannot reach ${url}`, { status: 0, cause: thrown });
  }
}

/** A `ReadRequest` of one query, which takes chunks, and samples of those who have no chunks. Both times belong to it. */
function requestOf(matchers: readonly (readonly [number, string, string])[], from: number, to: number): Uint8Array {
  const query = new BinaryWriter().tag(1, WireType.Varint).int64(from).tag(2, WireType.Varint).int64(to);
  for (const [kind, name, value] of matchers) {
    query.tag(3, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int32(kind);
    query.tag(2, WireType.LengthDelimited).string(name).tag(3, WireType.LengthDelimited).string(value).join();
  }
  const request = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(query.finish());
  return compress(request.tag(2, WireType.Varint).int32(1).tag(2, WireType.Varint).int32(0).finish());
}

/** The matchers of a selector, as remote read numbers them. @throws ConfigError */
export function matchersOf(selector: string): readonly (readonly [number, string, string])[] {
  const parsed = parsePromql(selector);
  if (!parsed.ok || parsed.expression.kind !== "VectorSelector") {
    throw new ConfigError('cannot use --match: want a selector, such as {job="node"} or up', EXIT_USAGE);
  }
  return parsed.expression.matchers.map(({ name, operator, value }) => [MATCH_KINDS[operator] ?? 0, name, value] as const);
}

async function* seriesOf(response: Response): AsyncGenerator<readonly [readonly Label[], Samples | Histograms]> {
  if (response.headers.get("content-type")?.startsWith(STREAMED) !== true) {
    yield* seriesOfSamples(decodeSnappy(await response.bytes(), ANSWER_BYTES_MAX));
    return;
  }
  let held: Uint8Array = new Uint8Array(0);
  if (response.body === null) return;
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    for (let frame = frameIn(held); frame !== undefined; frame = frameIn(held)) {
      held = held.subarray(frame.end);
      yield* seriesOfChunks(frame.message);
    }
  }
  if (held.length > 0) throw new Error("the answer of remote read was cut off");
}

/** The frame that bytes begin with: length, CRC-32C, message; undefined: more are needed. */
function frameIn(bytes: Uint8Array): { readonly message: Uint8Array; readonly end: number } | undefined {
  let length = 0;
  let at = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * scale;
    if (length > FRAME_BYTES_MAX) throw new Error(`a frame of remote read has more than ${FRAME_BYTES_MAX} bytes`);
    if (byte < 0x80) break;
  }
  const end = at + 4 + length;
  if (bytes.length < end) return undefined;
  const message = bytes.subarray(at + 4, end);
  if (new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0) !== crc32c(message)) {
    throw new Error("a frame of remote read has a wrong checksum");
  }
  return { message, end };
}

/** A `ChunkedReadResponse`: series in field 1, of labels in 1 and chunks in 2, of a type in 3 and bytes in 4. */
function* seriesOfChunks(message: Uint8Array): Generator<readonly [readonly Label[], Samples | Histograms]> {
  for (const series of parts(message, 1)) {
    const labels = labelsOf(series);
    for (const chunk of parts(series, 2)) {
      const [data] = parts(chunk, 4);
      if (data === undefined) continue;
      yield [labels, readChunk(data, numberIn(chunk, 3))];
    }
  }
}

/** A `ReadResponse`: results in field 1, series in their 1, of labels in 1, samples in 2, histograms in 4. */
function* seriesOfSamples(message: Uint8Array): Generator<readonly [readonly Label[], Samples | Histograms]> {
  for (const result of parts(message, 1)) {
    for (const series of parts(result, 1)) {
      const labels = labelsOf(series);
      const messages = Array.from(parts(series, 4), (bytes) => bytes.slice());
      if (messages.length > 0) yield [labels, { count: messages.length, messages }];
      const samples = [...parts(series, 2)];
      const made = { count: samples.length, times: new Float64Array(samples.length), low: new Uint32Array(samples.length) };
      const high = new Uint32Array(samples.length);
      for (const [i, sample] of samples.entries()) [made.low[i], high[i], made.times[i]] = sampleOf(sample);
      yield [labels, { ...made, high }];
    }
  }
}

function labelsOf(series: Uint8Array): readonly Label[] {
  return [...parts(series, 1)].map((label) => {
    const [name] = parts(label, 1);
    const [value] = parts(label, 2);
    return [textOf(name), textOf(value)] as const;
  });
}

const textOf = (bytes: Uint8Array | undefined): string => (bytes === undefined ? "" : Buffer.from(bytes).toString("utf8"));

/** The values of a field that are bytes. */
function* parts(message: Uint8Array, number: number): Generator<Uint8Array> {
  const reader = new ProtoReader();
  reader.open(message);
  while (reader.at < message.length) {
    const tag = reader.tag(message.length);
    if (tag !== field(number, Wire.bytes)) {
      reader.skip(tag, message.length);
      continue;
    }
    const end = reader.lengthEnd(message.length);
    yield message.subarray(reader.at, end);
    reader.at = end;
  }
}

function numberIn(message: Uint8Array, number: number): number {
  const reader = new ProtoReader();
  reader.open(message);
  let found = 0;
  while (reader.at < message.length) {
    const tag = reader.tag(message.length);
    if (tag === field(number, Wire.varint)) found = reader.varint32(message.length);
    else reader.skip(tag, message.length);
  }
  return found;
}

/** A sample: the halves of its value, and its time. */
function sampleOf(sample: Uint8Array): readonly [low: number, high: number, time: number] {
  const reader = new ProtoReader();
  reader.open(sample);
  let [low, high, time] = [0, 0, 0];
  while (reader.at < sample.length) {
    const tag = reader.tag(sample.length);
    if (tag === field(1, Wire.fixed64)) {
      const at = reader.take(8, sample.length);
      const view = new DataView(sample.buffer, sample.byteOffset + at, 8);
      [low, high] = [view.getUint32(0, true), view.getUint32(4, true)];
    } else if (tag === field(2, Wire.varint)) {
      reader.varint64(sample.length);
      time = reader.signed();
    } else reader.skip(tag, sample.length);
  }
  return [low, high, time];
}
