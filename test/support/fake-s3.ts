/**
 * As much of an S3 store as its clients ask for: objects, ranges, conditions, lists, uploads in parts. Refuses what is not signed.
 * With `fault` it misbehaves.
 */
import { createHash } from "node:crypto";

/** A request, for faults. */
export interface FakeRequest {
  readonly method: string;
  /** With the bucket before it. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** How many came before. */
  readonly number: number;
}

/**
 * How a request goes wrong: refused; the connection ends before it is done, or after it; the answer comes late; or its bytes are not those
 * of the object.
 */
export type FakeFault =
  | { readonly kind: "refuse"; readonly status: number; readonly code: string }
  | { readonly kind: "reset" | "lost" | "damage" }
  | { readonly kind: "slow"; readonly millis: number };

/** A store in memory. */
export class FakeS3 {
  readonly objects: Map<string, Uint8Array> = new Map();
  /** Uploads begun and neither completed nor aborted. */
  readonly uploads: Map<string, Map<number, Uint8Array>> = new Map();
  /** Headers of the requests that came. */
  readonly requests: Headers[] = [];
  /** The n-th part of every upload fails from here on; 0: none. */
  failPart = 0;
  /** Most keys of one answer to a list. */
  pageKeys = 2;
  /** Asked before each signed request. */
  fault: ((request: FakeRequest) => FakeFault | undefined) | undefined;
  /** Requests that are being answered, and most of them so far. */
  running = 0;
  runningMax = 0;
  /** Own headers of objects and of uploads. */
  private readonly meta: Map<string, Readonly<Record<string, string>>> = new Map();
  private readonly uploadKeys: Map<string, string> = new Map();
  private readonly server: Bun.Server<undefined>;

  constructor() {
    this.server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.answer(request) });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  async close(): Promise<void> {
    await this.server.stop(true);
  }

  private async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.requests.push(request.headers);
    if (!(request.headers.get("authorization") ?? "").includes("Credential=key/")) return error(403, "AccessDenied");
    const key = decodeURIComponent(url.pathname.slice(1));
    const { method } = request;
    const fault = this.fault?.({ method, key, query: url.searchParams, number: this.requests.length - 1 });
    this.runningMax = Math.max(this.runningMax, ++this.running);
    try {
      if (fault?.kind === "slow") await Bun.sleep(fault.millis);
      if (fault?.kind === "refuse") return error(fault.status, fault.code);
      if (fault?.kind === "reset") return cutOff();
      const answer = await this.done(key, url.searchParams, request);
      if (fault?.kind === "lost") return cutOff();
      return fault?.kind === "damage" ? await damaged(answer) : answer;
    } finally {
      this.running--;
    }
  }

  private async done(key: string, query: URLSearchParams, request: Request): Promise<Response> {
    if (query.has("list-type")) return this.list(key.replace(/\/$/, ""), query);
    if (request.method === "GET" && query.has("uploads")) return this.listUploads(key.replace(/\/$/, ""));
    switch (request.method) {
      case "HEAD":
      case "GET":
        return this.get(key, request);
      case "PUT":
        return this.put(key, query, request);
      case "POST":
        return this.post(key, query, request);
      case "DELETE":
        if (query.has("uploadId")) this.uploads.delete(query.get("uploadId") ?? "");
        else this.objects.delete(key);
        return new Response(null, { status: 204 });
      default:
        return error(405, "MethodNotAllowed");
    }
  }

  private get(key: string, request: Request): Response {
    const object = this.objects.get(key);
    if (object === undefined) return error(404, "NoSuchKey");
    const etag = etagOf(object);
    const wanted = request.headers.get("if-match");
    if (wanted !== null && wanted !== etag) return error(412, "PreconditionFailed");
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "");
    const from = Number(range?.[1] ?? 0);
    if (range !== null && from >= object.length) return error(416, "InvalidRange");
    const to = range?.[2] ? Number(range[2]) + 1 : object.length;
    const body = object.slice(from, to);
    const headers = {
      ...this.meta.get(key),
      ...(range === null ? {} : { "content-range": `bytes ${from}-${from + body.length - 1}/${object.length}` }),
      "content-length": String(body.length),
      etag,
      "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    };
    return new Response(request.method === "HEAD" ? null : body, { status: range === null ? 200 : 206, headers });
  }

  private async put(key: string, query: URLSearchParams, request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const md5 = request.headers.get("content-md5");
    if (md5 !== null && md5 !== createHash("md5").update(bytes).digest("base64")) return error(400, "BadDigest");
    const upload = query.get("uploadId");
    if (upload === null) {
      if (request.headers.get("if-none-match") === "*" && this.objects.has(key)) return error(412, "PreconditionFailed");
      this.objects.set(key, bytes);
      this.meta.set(key, ownHeaders(request));
    } else {
      const part = Number(query.get("partNumber"));
      if (this.failPart > 0 && part >= this.failPart) return error(500, "InternalError");
      const parts = this.uploads.get(upload);
      if (parts === undefined) return error(404, "NoSuchUpload");
      parts.set(part, bytes);
    }
    return new Response(null, { headers: { etag: etagOf(bytes) } });
  }

  private post(key: string, query: URLSearchParams, request: Request): Response {
    if (query.has("uploads")) {
      const id = crypto.randomUUID();
      this.uploads.set(id, new Map());
      this.meta.set(id, ownHeaders(request));
      this.uploadKeys.set(id, key);
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    const id = query.get("uploadId") ?? "";
    const upload = this.uploads.get(id);
    if (upload === undefined) return error(404, "NoSuchUpload");
    if (request.headers.get("if-none-match") === "*" && this.objects.has(key)) return error(412, "PreconditionFailed");
    const parts = [...upload].sort(([a], [b]) => a - b);
    this.objects.set(key, new Uint8Array(Buffer.concat(parts.map(([, bytes]) => bytes))));
    this.meta.set(key, this.meta.get(id) ?? {});
    this.uploads.delete(id);
    return xml("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
  }

  private listUploads(bucket: string): Response {
    const open = [...this.uploads.keys()].map((id) => ({ id, key: (this.uploadKeys.get(id) ?? "").slice(bucket.length + 1) }));
    const uploads = open.map(({ id, key }) => `<Upload><Key>${encodeURIComponent(key)}</Key><UploadId>${id}</UploadId></Upload>`);
    return xml(`<ListMultipartUploadsResult><EncodingType>url</EncodingType>${uploads.join("")}</ListMultipartUploadsResult>`);
  }

  private list(bucket: string, query: URLSearchParams): Response {
    const prefix = `${bucket}/${query.get("prefix") ?? ""}`;
    const all = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && !(query.has("delimiter") && key.slice(prefix.length).includes("/")))
      .sort();
    const from = Number(query.get("continuation-token") ?? 0);
    const page = all.slice(from, from + this.pageKeys);
    const isMore = from + page.length < all.length;
    const contents = page.map((key) => {
      const size = this.objects.get(key)?.length ?? 0;
      const name = key.slice(bucket.length + 1);
      const shown = query.get("encoding-type") === "url" ? encodeURIComponent(name) : name;
      return `<Contents><Key>${shown}</Key><Size>${size}</Size></Contents>`;
    });
    const more = isMore ? `<NextContinuationToken>${from + page.length}</NextContinuationToken>` : "";
    const type = `<EncodingType>${query.get("encoding-type") ?? ""}</EncodingType>`;
    const head = `<Name>${bucket}</Name>${type}<IsTruncated>${isMore}</IsTruncated>`;
    return xml(`<ListBucketResult>${head}${more}${contents.join("")}</ListBucketResult>`);
  }
}

function ownHeaders(request: Request): Record<string, string> {
  return Object.fromEntries([...request.headers].filter(([name]) => name.startsWith("x-amz-meta-")));
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

/** An answer whose connection ends before its body does. */
function cutOff(): Response {
  return new Response(new ReadableStream({ pull: (controller) => controller.error() }));
}

async function damaged(answer: Response): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length > 0) bytes[0] = (bytes[0] ?? 0) ^ 1;
  return new Response(bytes, { status: answer.status, headers: answer.headers });
}

function xml(text: string): Response {
  return new Response(`<?xml version="1.0"?>${text}`, { headers: { "content-type": "application/xml" } });
}

function error(status: number, code: string): Response {
  return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused</Message></Error>`, {
    status,
    headers: { "content-type": "application/xml" },
  });
}
