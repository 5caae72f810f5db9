/**
 * Objects of S3-compatible stores, through Bun's client: `s3://bucket/key`, and OSS and GCS by their S3 interfaces. An object exists only
 * once its upload is complete, so an abandoned one leaves nothing behind.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import {
  CONNECTION_KEYS,
  type FileAccess,
  type FileConnection,
  type FoundFile,
  type NewFile,
  type OpenFile,
} from "../../table/file-access.ts";
import { FOLDER_FILES_MAX, UPLOAD_PART_BYTES } from "./limits.ts";

/** Schemes and, where a store has one address for all, that address. */
const ENDPOINTS: ReadonlyMap<string, string | undefined> = new Map([
  ["s3", undefined],
  ["s3a", undefined],
  ["oss", undefined],
  ["gcs", "https://storage.googleapis.com"],
  ["gs", "https://storage.googleapis.com"],
]);

const invalid = (message: string): DbError => new DbError(StatusCode.InvalidArguments, message);

/** Where an object lies. */
interface Place {
  readonly client: Bun.S3Client;
  readonly key: string;
  /** What stands before the key in a location. */
  readonly prefix: string;
  /** What stands before it in the store. */
  readonly root: string;
}

/** The scheme of a location, in lower case; undefined for a local path. */
export function schemeOf(location: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(location)?.[1]?.toLowerCase();
}

/** Objects of S3-compatible stores. */
export function s3Files(): FileAccess {
  return { list, open: openObject, create: createObject };
}

/** @throws DbError InvalidArguments, Unsupported for stores that speak another protocol */
function placeOf(location: string, connection: FileConnection): Place {
  const scheme = schemeOf(location) ?? "";
  if (!ENDPOINTS.has(scheme)) {
    const why = `there is no client for ${scheme}://; use a local path, s3://, oss:// or gcs://`;
    throw new DbError(StatusCode.Unsupported, `cannot open '${location}': ${why}`);
  }
  for (const key of Object.keys(connection)) {
    if (!CONNECTION_KEYS.has(key))
      throw invalid(`Unrecognized connection option key: ${key}; use one of ${[...CONNECTION_KEYS].join(", ")}`);
  }
  const rest = location.slice(location.indexOf("://") + 3);
  const slash = rest.indexOf("/");
  const host = slash < 0 ? rest : rest.slice(0, slash);
  const bucket = host === "" ? (connection["bucket"] ?? "") : host;
  if (bucket === "") throw invalid(`cannot open '${location}': it names no bucket; write ${scheme}://bucket/key`);
  const root = (connection["root"] ?? "").replace(/^\/+|\/+$/g, "");
  return {
    client: clientOf(bucket, ENDPOINTS.get(scheme), connection),
    key: (root === "" ? "" : `${root}/`) + (slash < 0 ? "" : rest.slice(slash + 1)),
    prefix: `${scheme}://${host}/`,
    root: root === "" ? "" : `${root}/`,
  };
}

function clientOf(bucket: string, known: string | undefined, connection: FileConnection): Bun.S3Client {
  const given = (key: string): string | undefined => (connection[key] === "" ? undefined : connection[key]);
  const accessKeyId = given("access_key_id");
  const secretAccessKey = given("secret_access_key") ?? given("access_key_secret");
  const sessionToken = given("session_token");
  const region = given("region");
  const endpoint = given("endpoint") ?? known;
  const isVirtual = booleanOf(connection, "enable_virtual_host_style");
  return new Bun.S3Client({
    bucket,
    // Empty rather than left out: the keys of the server's own environment are not for those who write SQL.
    accessKeyId: accessKeyId ?? "",
    secretAccessKey: secretAccessKey ?? "",
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint: isVirtual ? virtualEndpoint(endpoint, bucket) : endpoint }),
    ...(isVirtual ? { virtualHostedStyle: true } : {}),
  });
}

/** The client wants the bucket in the host by then. */
function virtualEndpoint(endpoint: string, bucket: string): string {
  const url = new URL(endpoint.includes("://") ? endpoint : `https://${endpoint}`);
  if (!url.hostname.startsWith(`${bucket}.`)) url.hostname = `${bucket}.${url.hostname}`;
  return url.origin;
}

function booleanOf(connection: FileConnection, key: string): boolean {
  const text = (connection[key] ?? "false").toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  throw invalid(`Invalid connection option, key: ${key}, value: ${text.slice(0, 20)}; use 'true' or 'false'`);
}

/** An error of the store, without what it might repeat of the request. */
function failed(what: string, thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
  if (code === "ERR_S3_MISSING_CREDENTIALS") {
    return invalid(`cannot ${what}: give access_key_id and secret_access_key in CONNECTION (…)`);
  }
  const isMissing = code === "NoSuchKey" || code === "NoSuchBucket" || code === "UnknownError";
  if (isMissing && /read|list/.test(what)) return invalid(`cannot ${what}: the store has no such object (${code})`);
  const why = thrown instanceof Error ? `${code ?? thrown.name}: ${thrown.message.slice(0, 200)}` : "it gave no reason";
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: the store answered ${why}`);
}

async function list(location: string, connection: FileConnection): Promise<readonly FoundFile[]> {
  const { client, key, prefix, root } = placeOf(location, connection);
  try {
    if (!location.endsWith("/")) {
      const { size } = await client.file(key).stat();
      return [{ location, name: key.slice(key.lastIndexOf("/") + 1), byteLength: size }];
    }
    const found: FoundFile[] = [];
    let after: string | undefined;
    do {
      const page = await client.list({ prefix: key, delimiter: "/", ...(after === undefined ? {} : { continuationToken: after }) });
      for (const object of page.contents ?? []) {
        const name = object.key.slice(key.length);
        if (name === "" || name.startsWith(".")) continue;
        if (found.length === FOLDER_FILES_MAX) {
          throw invalid(`cannot read folder '${location}': it has more than ${FOLDER_FILES_MAX} files`);
        }
        found.push({ location: prefix + object.key.slice(root.length), name, byteLength: Number(object.size ?? 0) });
      }
      after = page.isTruncated === true ? page.nextContinuationToken : undefined;
    } while (after !== undefined);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    throw failed(`list '${location}'`, thrown);
  }
}

async function openObject(location: string, connection: FileConnection): Promise<OpenFile> {
  const { client, key } = placeOf(location, connection);
  const object = client.file(key);
  let byteLength: number;
  try {
    byteLength = (await object.stat()).size;
  } catch (thrown) {
    throw failed(`read '${location}'`, thrown);
  }
  return {
    location,
    name: key.slice(key.lastIndexOf("/") + 1),
    byteLength,
    async read(offset, length) {
      try {
        const bytes = new Uint8Array(await object.slice(offset, offset + length).arrayBuffer());
        if (bytes.length !== length) throw new Error(`${bytes.length} bytes instead of ${length}`);
        return bytes;
      } catch (thrown) {
        throw failed(`read '${location}'`, thrown);
      }
    },
    async close() {},
  };
}

async function createObject(location: string, connection: FileConnection): Promise<NewFile> {
  const { client, key } = placeOf(location, connection);
  if (location.endsWith("/")) throw invalid(`cannot write '${location}': it is a folder; name an object in it`);
  return new NewObject(client.file(key), location);
}

/**
 * An upload, fed through a stream. The client's own writer is not used: it completes what it has even when it is ended with an error
 * (Bun 1.4.5), while a stream that fails makes it abort the upload.
 */
class NewObject implements NewFile {
  private readonly location: string;
  private readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly upload: Promise<unknown>;
  /** Rejects when the upload does, and never resolves. */
  private readonly failure: Promise<never>;

  constructor(object: Bun.S3File, location: string) {
    this.location = location;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.writer = writable.getWriter();
    this.upload = object.write(new Response(readable), { partSize: UPLOAD_PART_BYTES, queueSize: 2, retry: 3 });
    this.failure = new Promise((_, reject) => {
      this.upload.catch(reject);
    });
    // Heard by whoever waits for it: `write` and `finish`. Nobody may be waiting when it comes.
    void Promise.allSettled([this.failure]);
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      // Resolves once the client has taken it, so that what lies in memory is bounded.
      await Promise.race([this.writer.write(bytes.slice()), this.failure]);
    } catch (thrown) {
      throw failed(`write '${this.location}'`, thrown);
    }
  }

  async finish(): Promise<void> {
    try {
      await Promise.race([this.writer.close(), this.failure]);
      await this.upload;
    } catch (thrown) {
      throw failed(`write '${this.location}'`, thrown);
    }
  }

  async abort(): Promise<void> {
    // The failure that led here is what the client is told.
    await Promise.allSettled([this.writer.abort(new Error("the copy failed"))]);
    await Promise.allSettled([this.upload]);
  }
}
