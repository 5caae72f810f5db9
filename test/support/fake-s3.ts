/** As much of an S3 store as its client asks for: objects, ranges, lists, uploads in parts. Refuses requests that are not signed. */

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
    if (url.searchParams.has("list-type")) return this.list(key.replace(/\/$/, ""), url.searchParams);
    switch (request.method) {
      case "HEAD":
      case "GET":
        return this.get(key, request);
      case "PUT":
        return this.put(key, url.searchParams, new Uint8Array(await request.arrayBuffer()));
      case "POST":
        return this.post(key, url.searchParams);
      case "DELETE":
        if (url.searchParams.has("uploadId")) this.uploads.delete(url.searchParams.get("uploadId") ?? "");
        else this.objects.delete(key);
        return new Response(null, { status: 204 });
      default:
        return error(405, "MethodNotAllowed");
    }
  }

  private get(key: string, request: Request): Response {
    const object = this.objects.get(key);
    if (object === undefined) return error(404, "NoSuchKey");
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "");
    const from = Number(range?.[1] ?? 0);
    const to = range?.[2] ? Number(range[2]) + 1 : object.length;
    const body = object.slice(from, to);
    const headers = { "content-length": String(body.length), etag: '"1"', "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT" };
    return new Response(request.method === "HEAD" ? null : body, { status: range === null ? 200 : 206, headers });
  }

  private put(key: string, query: URLSearchParams, bytes: Uint8Array): Response {
    const upload = query.get("uploadId");
    if (upload === null) this.objects.set(key, bytes);
    else {
      const part = Number(query.get("partNumber"));
      if (this.failPart > 0 && part >= this.failPart) return error(500, "InternalError");
      this.uploads.get(upload)?.set(part, bytes);
    }
    return new Response(null, { headers: { etag: '"1"' } });
  }

  private post(key: string, query: URLSearchParams): Response {
    if (query.has("uploads")) {
      const id = crypto.randomUUID();
      this.uploads.set(id, new Map());
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    const id = query.get("uploadId") ?? "";
    const parts = [...(this.uploads.get(id) ?? [])].sort(([a], [b]) => a - b);
    this.objects.set(key, new Uint8Array(Buffer.concat(parts.map(([, bytes]) => bytes))));
    this.uploads.delete(id);
    return xml("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
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

function xml(text: string): Response {
  return new Response(`<?xml version="1.0"?>${text}`, { headers: { "content-type": "application/xml" } });
}

function error(status: number, code: string): Response {
  return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused</Message></Error>`, {
    status,
    headers: { "content-type": "application/xml" },
  });
}
