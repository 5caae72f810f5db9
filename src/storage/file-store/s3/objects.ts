/** What data files need of a bucket: names used once, whole files in and out, ranges, names, deletions. */
import { crc32 } from "../../../base/bytes/hash.ts";
import { failPoint } from "../../../base/process/fail-point.ts";
import type { MemoryCounter } from "../../../base/memory/server-memory.ts";
import { codeOf, escaped, type ListedObject, listOf, tagOf, uploadsOf } from "../../s3/answers.ts";
import { FILE_REQUESTS_MAX, LIST_PAGES_MAX, PART_BYTES, PARTS_MAX, RANGE_BYTES } from "./limits.ts";
import { ObjectFailure } from "./object-failure.ts";
import { bytesOf, counted, type ObjectAnswer, type ObjectRequest, type ObjectRequests } from "./object-requests.ts";

/** An object as it is. */
export interface ObjectFacts {
  readonly byteLength: number;
  readonly etag: string;
  /** CRC-32 of its bytes in hex, undefined where another than us made it. */
  readonly crc: string | undefined;
}

/** Bytes of an object. `total` is its length. */
export interface ObjectRange {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly total: number;
  readonly facts: ObjectFacts;
}

/** An object changed or went while it was read. */
export type ObjectGone = "gone" | "changed";

const CRC_HEADER = "x-amz-meta-varve-crc32";
/** The object must not exist. Source: RFC 9110 13.1.2; conditional writes of S3. */
const MUST_BE_NEW = { "if-none-match": "*" };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** See the file header. Methods throw ObjectFailure. */
export class Objects {
  private readonly requests: ObjectRequests;

  constructor(requests: ObjectRequests) {
    this.requests = requests;
  }

  /** What is known of an object; undefined when there is none. */
  async look(key: string): Promise<ObjectFacts | undefined> {
    const request: ObjectRequest = { method: "HEAD", key, expected: [404] };
    const { status, headers } = await this.requests.send(request);
    if (status === 404) return undefined;
    return factsOf(headers, this.lengthOf(request, headers.get("content-length")));
  }

  /** Bytes `[offset, offset + length)`; fewer at the end of the object. @param etag that it must have; undefined: any */
  async range(key: string, offset: number, length: number, etag: string | undefined): Promise<ObjectRange | ObjectGone> {
    const condition = etag === undefined ? {} : { "if-match": etag };
    const headers = { range: `bytes=${offset}-${offset + length - 1}`, ...condition };
    const request: ObjectRequest = { method: "GET", key, headers, bytesMax: length, expected: [404, 412, 416] };
    const answer = await this.requests.send(request);
    if (answer.status === 404) return "gone";
    if (answer.status === 412) return "changed";
    if (answer.status === 416) {
      const facts = await this.look(key);
      return facts === undefined ? "gone" : { bytes: new Uint8Array(0), total: facts.byteLength, facts };
    }
    const total = this.lengthOf(request, answer.headers.get("content-range")?.split("/")[1] ?? null);
    const want = Math.max(0, Math.min(length, total - offset));
    if (answer.status !== 206 || answer.body.length !== want)
      throw this.requests.failure(request, 0, "", `status ${answer.status}, ${answer.body.length} bytes instead of ${want}`);
    return { bytes: answer.body, total, facts: factsOf(answer.headers, total) };
  }

  /**
   * Uploads a local file under a name that is used once. Should an answer get lost, what is there is looked at: an object of the same
   * length and sum is ours.
   */
  async putFile(key: string, path: string, byteLength: number): Promise<void> {
    const crc = await counted(this.requests.memory, Math.min(byteLength, PART_BYTES), () => crcOf(path, byteLength));
    if (byteLength > PART_BYTES) return this.putInParts(key, path, byteLength, crc);
    const file = { path, start: 0, end: byteLength };
    const request: ObjectRequest = { method: "PUT", key, headers: MUST_BE_NEW, amz: { [CRC_HEADER]: crc }, file, expected: [412] };
    const { status } = await this.requests.send(request);
    if (status === 412) await this.mustBeOurs(request, byteLength, crc);
  }

  /** Names and lengths of all objects below a prefix, some at a time. */
  async *list(prefix: string): AsyncGenerator<readonly ListedObject[]> {
    let after: string | undefined;
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const token = after === undefined ? {} : { "continuation-token": after };
      const { body } = await this.requests.send({ method: "GET", query: { "list-type": "2", "encoding-type": "url", prefix, ...token } });
      const found = listOf(decoder.decode(body));
      yield found.objects;
      ({ after } = found);
      if (after === undefined) return;
    }
    throw this.requests.failure({ method: "GET" }, 0, "", `a list of more than ${LIST_PAGES_MAX} answers`);
  }

  /** Gives up uploads that nobody goes on with: what is begun and not completed is paid for and never seen. */
  async abortUploads(prefix: string): Promise<void> {
    const query = { uploads: "", "encoding-type": "url", prefix };
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const { status, body } = await this.requests.send({ method: "GET", query, expected: [501] });
      if (status === 501) return; // The store keeps no such list, and its own rules forget them.
      const uploads = uploadsOf(decoder.decode(body));
      if (uploads.length === 0) return;
      await each(uploads, ({ key, uploadId }) => this.abort(key, uploadId));
    }
    throw this.requests.failure({ method: "GET" }, 0, "", "uploads that cannot be given up");
  }

  /** One that does not exist is no error. */
  async delete(key: string): Promise<void> {
    await this.requests.send({ method: "DELETE", key, expected: [404] });
  }

  private async putInParts(key: string, path: string, byteLength: number, crc: string): Promise<void> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(byteLength / PARTS_MAX));
    const begin: ObjectRequest = { method: "POST", key, query: { uploads: "" }, amz: { [CRC_HEADER]: crc } };
    const uploadId = tagOf(decoder.decode((await this.requests.send(begin)).body), "UploadId");
    if (uploadId === undefined) throw this.requests.failure(begin, 0, "", "an upload without an id");
    failPoint("upload.parts-begun");
    try {
      const starts = Array.from({ length: Math.ceil(byteLength / partBytes) }, (_, i) => i * partBytes);
      const tags = new Array<string>(starts.length);
      await each(starts, async (start, i) => {
        const file = { path, start, end: Math.min(byteLength, start + partBytes) };
        const { headers } = await this.requests.send({ method: "PUT", key, query: { partNumber: String(i + 1), uploadId }, file });
        tags[i] = headers.get("etag") ?? "";
        failPoint("upload.part-done");
      });
      failPoint("upload.parts-done");
      await this.complete(key, uploadId, tags, byteLength, crc);
    } catch (error) {
      // The failure that led here is what counts; the next start gives up what stays.
      await Promise.allSettled([this.abort(key, uploadId)]);
      throw error;
    }
  }

  private async complete(key: string, uploadId: string, tags: readonly string[], byteLength: number, crc: string): Promise<void> {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`).join("");
    const body = encoder.encode(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`);
    const request: ObjectRequest = { method: "POST", key, query: { uploadId }, headers: MUST_BE_NEW, body, expected: [404, 412] };
    const answer: ObjectAnswer = await this.requests.send(request);
    const text = decoder.decode(answer.body);
    if (answer.status < 300 && !text.includes("<Error>")) return;
    // 404: completed before, and the answer got lost. Stores begin to answer with 200 before they know, so an error may follow it.
    const code = codeOf(text);
    await this.mustBeOurs(request, byteLength, crc, answer.status < 300 ? `200, then ${code}` : `${answer.status} ${code}`);
  }

  private async abort(key: string, uploadId: string): Promise<void> {
    await this.requests.send({ method: "DELETE", key, query: { uploadId }, expected: [404] });
  }

  /** @throws ObjectFailure unless the object is there with these bytes */
  private async mustBeOurs(request: ObjectRequest, byteLength: number, crc: string, else_?: string): Promise<void> {
    const facts = await this.look(request.key ?? "");
    if (facts?.byteLength === byteLength && facts.crc === crc) return;
    if (facts === undefined) throw this.requests.failure(request, 0, "", else_ ?? "it is there and not there");
    const text = this.requests.textOf(request.key ?? "");
    throw new ObjectFailure(
      412,
      "PreconditionFailed",
      `${text} is there already, with other bytes: see that no other server uses this storage.root: each needs its own`,
    );
  }

  private lengthOf(request: ObjectRequest, text: string | null): number {
    if (text !== null && /^\d{1,15}$/.test(text)) return Number(text);
    throw this.requests.failure(request, 0, "", "an answer without a length");
  }
}

/**
 * Ranges of an object in order, some of them under way; `use` has each before the next is taken.
 *
 * @param first the range from 0 on @param memory counts those that are here and were not used yet
 */
export async function eachRange(
  objects: Objects,
  key: string,
  first: ObjectRange,
  memory: MemoryCounter,
  use: (bytes: Uint8Array<ArrayBuffer>) => void,
): Promise<ObjectGone | undefined> {
  const { total, facts } = first;
  const next = async (offset: number): Promise<ObjectRange | ObjectGone> => {
    const range = await objects.range(key, offset, RANGE_BYTES, facts.etag);
    memory.take(bytesIn(range));
    return range;
  };
  const ahead: Promise<ObjectRange | ObjectGone>[] = [];
  let asked = first.bytes.length;
  try {
    use(first.bytes);
    for (;;) {
      for (; asked < total && ahead.length < FILE_REQUESTS_MAX; asked += RANGE_BYTES) ahead.push(next(asked));
      const range = await ahead.shift();
      if (range === undefined) return undefined;
      if (typeof range === "string") return range;
      memory.give(bytesIn(range)); // It goes with the next turn.
      use(range.bytes);
    }
  } finally {
    // One failure is enough; nothing is under way any more.
    for (const left of await Promise.allSettled(ahead)) if (left.status === "fulfilled") memory.give(bytesIn(left.value));
  }
}

const bytesIn = (range: ObjectRange | ObjectGone): number => (typeof range === "string" ? 0 : range.bytes.length);

/** Runs `work` on all items, some at a time; after a failure no further one begins. @throws the first failure, once all have ended */
export async function each<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        await work(items[index] as T, index);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(FILE_REQUESTS_MAX, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
}

function factsOf(headers: Headers, byteLength: number): ObjectFacts {
  return { byteLength, etag: headers.get("etag") ?? "", crc: headers.get(CRC_HEADER) ?? undefined };
}

/** A sum as `ObjectFacts` has it. */
export function crcText(crc: number): string {
  return (crc >>> 0).toString(16).padStart(8, "0");
}

async function crcOf(path: string, byteLength: number): Promise<string> {
  let crc = 0;
  for (let at = 0; at < byteLength; at += PART_BYTES)
    crc = crc32(await bytesOf({ path, start: at, end: Math.min(byteLength, at + PART_BYTES) }), crc);
  return crcText(crc);
}
