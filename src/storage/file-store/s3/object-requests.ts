/**
 * Requests to the bucket of the data files: signed, bounded in number and bytes, in time, and sent again where that may help.
 *
 *   wait for room ─► sign, send, read the answer ─► fine, or an expected refusal ─► return
 *                         '── no whole answer, 5xx, 429: wait (twice as long each time, by chance shorter), again
 *                         '── any other: ObjectFailure
 *
 * The runtime's own S3 client is not used: it leaves out conditions (If-None-Match) without a word, and takes keys of the environment.
 */
import { createHash } from "node:crypto";
import { systemClock } from "../../../base/clock.ts";
import { MemoryCounter } from "../../../base/memory/server-memory.ts";
import { boundedBody } from "../../s3/bounded-body.ts";
import { codeOf } from "../../s3/answers.ts";
import { encodedPart, encodedQuery, type S3Keys, type S3Query, signedHeaders } from "../../s3/signature.ts";
import {
  ANSWER_BYTES_MAX,
  ANSWER_MILLIS_MAX,
  BYTES_PER_MILLI_MIN,
  REQUEST_BYTES_MAX,
  REQUESTS_MAX,
  RETRY_MILLIS,
  RETRY_MILLIS_MAX,
  TRIES_MAX,
} from "./limits.ts";
import { adviceFor, isAboutObject, isPassing, ObjectFailure } from "./object-failure.ts";
import { RequestRoom } from "../request-room.ts";

/** A part of a bucket. */
export interface ObjectPlace {
  readonly bucket: string;
  /** Before all keys: empty, or without a slash at either end. */
  readonly root: string;
  /** An origin; the bucket is not in its host. */
  readonly endpoint: URL;
  /** Whether the bucket is named in the host instead of the path. */
  readonly isVirtualHost: boolean;
  readonly keys: S3Keys;
}

/** Times of requests, for tests. */
export interface RequestTimes {
  readonly answerMillis: number;
  readonly retryMillis: number;
}

/** Bytes `[start, end)` of a local file. */
export interface FileRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** One request. */
export interface ObjectRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Without it: of the bucket. */
  readonly key?: string;
  readonly query?: S3Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that must be signed; names begin with `x-amz-`. */
  readonly amz?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Bytes of a local file as the body, read once there is room for them; the store checks their MD5. */
  readonly file?: FileRange;
  /** Most bytes of an object in the answer. */
  readonly bytesMax?: number;
  /** Refusals that are returned like an answer. */
  readonly expected?: readonly number[];
}

/** What a store answered. */
export interface ObjectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

const TIMES: RequestTimes = { answerMillis: ANSWER_MILLIS_MAX, retryMillis: RETRY_MILLIS };
/** Of an error, its code is in the first of them. */
const ERROR_BYTES_READ = 65_536;
const decoder = new TextDecoder();

/** See the file header. */
export class ObjectRequests {
  readonly place: ObjectPlace;
  private readonly origin: string;
  private readonly host: string;
  private readonly bucketPath: string;
  private readonly times: RequestTimes;
  private readonly room = new RequestRoom(REQUESTS_MAX, REQUEST_BYTES_MAX);
  /** Counts bodies under way, and what else of files is held for them. */
  readonly memory: MemoryCounter;

  constructor(place: ObjectPlace, times: RequestTimes = TIMES, memory: MemoryCounter = new MemoryCounter()) {
    this.place = place;
    this.times = times;
    this.memory = memory;
    const endpoint = new URL(place.endpoint);
    if (place.isVirtualHost) endpoint.hostname = `${place.bucket}.${endpoint.hostname}`;
    this.origin = endpoint.origin;
    this.host = endpoint.host;
    this.bucketPath = place.isVirtualHost ? "/" : `/${place.bucket}/`;
  }

  /** Where an object is, for people. */
  textOf(key: string): string {
    return `s3://${this.place.bucket}/${key}`;
  }

  /** Sends a request, more than once where that may help. @throws ObjectFailure; what reading the file fails with */
  async send(request: ObjectRequest): Promise<ObjectAnswer> {
    const { body, file, bytesMax = 0 } = request;
    const bytes = (body?.length ?? 0) + (file === undefined ? 0 : file.end - file.start) + bytesMax;
    for (let tried = 1; ; tried++) {
      const answer = await this.room.run(bytes, () => counted(this.memory, bytes, () => this.attempt(request, bytes)));
      if (!(answer instanceof ObjectFailure)) return answer;
      if (tried === TRIES_MAX || !isPassing(answer.status, answer.code)) throw answer;
      await Bun.sleep(Math.random() * Math.min(RETRY_MILLIS_MAX, this.times.retryMillis * 2 ** (tried - 1)));
    }
  }

  private async attempt(request: ObjectRequest, bytes: number): Promise<ObjectAnswer | ObjectFailure> {
    const { method, key, query = {}, headers = {}, amz, file, expected } = request;
    const body = request.body ?? (file === undefined ? undefined : await bytesOf(file));
    const checked = file === undefined || body === undefined ? {} : { "content-md5": createHash("md5").update(body).digest("base64") };
    const path = this.bucketPath + (key === undefined ? "" : key.split("/").map(encodedPart).join("/"));
    const toSign = { method, host: this.host, path, query, ...(amz === undefined ? {} : { amz }) };
    const signed = signedHeaders(toSign, this.place.keys, systemClock.nowMillis());
    const search = encodedQuery(query);
    const until = AbortSignal.timeout(this.times.answerMillis + Math.ceil(bytes / BYTES_PER_MILLI_MIN));
    let response: Response;
    let answer: Uint8Array<ArrayBuffer> | undefined;
    try {
      response = await fetch(`${this.origin}${path}${search === "" ? "" : `?${search}`}`, {
        method,
        headers: { ...headers, ...checked, ...signed, "accept-encoding": "identity" },
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        decompress: false,
        signal: until,
      });
      answer = await boundedBody(response, Math.max(request.bytesMax ?? 0, ANSWER_BYTES_MAX));
    } catch (thrown) {
      return this.failure(request, 0, "", until.aborted ? "no answer in time" : `no answer (${reasonOf(thrown)})`);
    }
    const { status } = response;
    if (answer === undefined) return this.failure(request, 0, "", "more bytes than were asked for");
    if (status < 300) return { status, headers: response.headers, body: answer };
    const code = codeOf(decoder.decode(answer.subarray(0, ERROR_BYTES_READ)));
    if (expected?.includes(status) === true && (status !== 404 || isAboutObject(code)))
      return { status, headers: response.headers, body: answer };
    return this.failure(request, status, code, `${status}${code === "" ? "" : ` ${code}`}`);
  }

  /** An error of this store that speaks of a request. */
  failure({ method, key }: ObjectRequest, status: number, code: string, what: string): ObjectFailure {
    const where = key === undefined ? `bucket ${this.place.bucket}` : this.textOf(key);
    const advice = adviceFor(status, code, key !== undefined);
    return new ObjectFailure(status, code, `${method} of ${where} at ${this.place.endpoint.host}: ${what}: ${advice}`);
  }
}

/** Runs `work`, which holds so many bytes. Throws what it does. */
export async function counted<T>(memory: MemoryCounter, bytes: number, work: () => Promise<T>): Promise<T> {
  memory.take(bytes);
  try {
    return await work();
  } finally {
    memory.give(bytes);
  }
}

/** The word for an error of the connection: its message may repeat the whole address. */
function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "connection lost";
}

/** @throws Error when the file is shorter */
export async function bytesOf({ path, start, end }: FileRange): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(path).slice(start, end).bytes();
  if (bytes.length !== end - start) throw new Error(`${path} ends at byte ${start + bytes.length}, not ${end}`);
  return bytes;
}
