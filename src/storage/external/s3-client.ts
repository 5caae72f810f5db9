/**
 * The operations of an S3 store that COPY needs. Source: the REST API of Amazon S3 (HeadObject, GetObject, ListObjectsV2, PutObject,
 * multipart uploads). Credentials are those it is given, never those of the server's environment.
 */
import { systemClock } from "../../base/clock.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import type { EndpointPattern } from "../../base/text/endpoint-pattern.ts";
import { ABORT_MILLIS_MAX, ANSWER_BYTES_MAX, REQUEST_TRIES_MAX } from "./limits.ts";
import { codeOf, escaped, listOf, type ObjectList, tagOf } from "../s3/answers.ts";
import { encodedPart, encodedQuery, type S3Keys, type S3Query, signedHeaders } from "../s3/signature.ts";
import { type StoreAnswer, type StoreNetwork, type StoreRequest, Unreachable } from "./store-network.ts";

/** A bucket and how to reach it. */
export interface Bucket {
  /** Where requests go: an origin. */
  readonly endpoint: URL;
  /** The entry of the list that allows it. */
  readonly pattern: EndpointPattern;
  /** What stands before the key in paths: `/bucket/`, or `/` where the bucket is in the host. */
  readonly root: string;
  readonly keys: S3Keys;
}

/** What a store refused, by its code such as `NoSuchKey`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

interface Sent {
  readonly method: StoreRequest["method"];
  readonly key?: string;
  readonly query?: S3Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: StoreRequest["body"];
  readonly bytesMax?: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** See the file header. Methods throw Refusal, Unreachable, and the DbError of the signal. */
export class S3Client {
  private readonly network: StoreNetwork;
  private readonly bucket: Bucket;
  private readonly signal: AbortSignal | undefined;

  constructor(network: StoreNetwork, bucket: Bucket, signal: AbortSignal | undefined) {
    this.network = network;
    this.bucket = bucket;
    this.signal = signal;
  }

  /** Bytes of an object. */
  async size(key: string): Promise<number> {
    const { headers } = await this.send({ method: "HEAD", key });
    const text = headers.get("content-length") ?? "";
    if (!/^\d{1,15}$/.test(text)) throw new Unreachable("an answer without a length");
    return Number(text);
  }

  /** Bytes `[offset, offset + length)` of an object. */
  async read(key: string, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length === 0) return new Uint8Array(0);
    const headers = { range: `bytes=${offset}-${offset + length - 1}` };
    const { body, status } = await this.send({ method: "GET", key, headers, bytesMax: length });
    if (status !== 206 || body.length !== length) throw new Unreachable(`${body.length} bytes instead of ${length}`);
    return body;
  }

  /** Objects whose keys begin with `prefix` and have no `/` behind it: some of them, and where to go on. */
  async list(prefix: string, after: string | undefined): Promise<ObjectList> {
    const token = after === undefined ? {} : { "continuation-token": after };
    const { body } = await this.send({
      method: "GET",
      query: { "list-type": "2", delimiter: "/", "encoding-type": "url", prefix, ...token },
    });
    return listOf(decoder.decode(body));
  }

  /** Makes an object. */
  async put(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.send({ method: "PUT", key, body });
  }

  /** Begins an upload in parts. @returns its id */
  async begin(key: string): Promise<string> {
    const { body } = await this.send({ method: "POST", key, query: { uploads: "" } });
    const id = tagOf(decoder.decode(body), "UploadId");
    if (id === undefined) throw new Unreachable("an upload without an id");
    return id;
  }

  /** Uploads a part, counted from 1. @returns its tag */
  async part(key: string, uploadId: string, partNumber: number, body: Uint8Array<ArrayBuffer>): Promise<string> {
    const { headers } = await this.send({ method: "PUT", key, query: { partNumber: String(partNumber), uploadId }, body });
    return headers.get("etag") ?? "";
  }

  /** Ends an upload: the object is there. @param tags of its parts */
  async complete(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`).join("");
    const text = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
    const { body } = await this.send({ method: "POST", key, query: { uploadId }, body: encoder.encode(text) });
    // Stores begin to answer with 200 before they know.
    const answer = decoder.decode(body);
    if (answer.includes("<Error>")) throw new Refusal(200, codeOf(answer));
  }

  /** Gives an upload up: once, briefly, also where the statement's signal has fired. */
  async abort(key: string, uploadId: string): Promise<void> {
    await this.once({ method: "DELETE", key, query: { uploadId } }, AbortSignal.timeout(ABORT_MILLIS_MAX));
  }

  private async send(sent: Sent): Promise<StoreAnswer> {
    for (let tried = 1; ; tried++) {
      const isLast = tried === REQUEST_TRIES_MAX;
      try {
        const answer = await this.once(sent, this.signal);
        if (answer.status < 300) return answer;
        const refusal = new Refusal(answer.status, codeOf(decoder.decode(answer.body)));
        if (isLast || (answer.status < 500 && answer.status !== 429)) throw refusal;
      } catch (thrown) {
        // A POST may have been done although its answer got lost.
        if (isLast || sent.method === "POST" || !(thrown instanceof Unreachable)) throw thrown;
      }
      await this.pause(this.network.times.retryMillis * 2 ** (tried - 1));
    }
  }

  private once({ method, key, query = {}, headers = {}, body, bytesMax = 0 }: Sent, signal: AbortSignal | undefined): Promise<StoreAnswer> {
    const { endpoint, pattern, root, keys } = this.bucket;
    const path = key === undefined ? root : root + key.split("/").map(encodedPart).join("/");
    const signed = signedHeaders({ method, host: endpoint.host, path, query }, keys, systemClock.nowMillis());
    const search = encodedQuery(query);
    const request = { method, path: search === "" ? path : `${path}?${search}`, headers: { ...headers, ...signed }, body };
    return this.network.send(endpoint, pattern, request, Math.max(bytesMax, ANSWER_BYTES_MAX), signal);
  }

  private async pause(millis: number): Promise<void> {
    const { signal } = this;
    throwIfCancelled(signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, millis);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
    throwIfCancelled(signal);
  }
}
