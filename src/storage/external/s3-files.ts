/**
 * Objects of S3-compatible stores: `s3://bucket/key`, and OSS and GCS by their S3 interfaces. An object exists only once its upload is
 * complete, so an abandoned one leaves nothing behind. Bun's own client is not used: it signs with the server's credentials where a
 * statement gives none, sends their session token besides those it gives, and looks names up by itself.
 */
import { isOrigin } from "../../base/text/endpoint-pattern.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import {
  CONNECTION_KEYS,
  type FileAccess,
  type FileConnection,
  type FoundFile,
  type NewFile,
  type OpenFile,
} from "../../table/file-access.ts";
import { FOLDER_FILES_MAX, LIST_PAGES_MAX, UPLOAD_PART_BYTES } from "./limits.ts";
import { type Bucket, Refusal, S3Client } from "./s3-client.ts";
import { type StoreNetwork, Unreachable } from "./store-network.ts";

/** Names of buckets. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;

/** Schemes and, where a store has one address for all, that address. */
const ENDPOINTS: ReadonlyMap<string, string | undefined> = new Map([
  ["s3", undefined],
  ["s3a", undefined],
  ["oss", undefined],
  ["gcs", "https://storage.googleapis.com"],
  ["gs", "https://storage.googleapis.com"],
]);

/** Where an object lies. */
interface Place {
  readonly client: S3Client;
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

/** Objects of S3-compatible stores. @param signal ends what is under way */
export function s3Files(network: StoreNetwork, signal?: AbortSignal): FileAccess {
  const placed = (location: string, connection: FileConnection): Place => placeOf(location, connection, network, signal);
  return {
    list: async (location, connection) => list(location, placed(location, connection)),
    open: async (location, connection) => openObject(location, placed(location, connection)),
    create: async (location, connection) => createObject(location, placed(location, connection)),
    until: (other) => s3Files(network, other),
  };
}

/** @throws DbError InvalidArguments, PermissionDenied, Unsupported for stores that speak another protocol */
function placeOf(location: string, connection: FileConnection, network: StoreNetwork, signal: AbortSignal | undefined): Place {
  const scheme = schemeOf(location) ?? "";
  if (!ENDPOINTS.has(scheme)) {
    const why = `there is no client for ${scheme}://; use a local path, s3://, oss:// or gcs://`;
    throw new DbError(StatusCode.Unsupported, `cannot open '${location}': ${why}`);
  }
  for (const key of Object.keys(connection)) {
    if (!CONNECTION_KEYS.has(key))
      throw invalidArguments(`Unrecognized connection option key: ${key}; use one of ${[...CONNECTION_KEYS].join(", ")}`);
  }
  const rest = location.slice(location.indexOf("://") + 3);
  const slash = rest.indexOf("/");
  const host = slash < 0 ? rest : rest.slice(0, slash);
  const bucket = host === "" ? (connection["bucket"] ?? "") : host;
  if (bucket === "") throw invalidArguments(`cannot open '${location}': it names no bucket; write ${scheme}://bucket/key`);
  if (!BUCKET.test(bucket) || bucket.includes("..")) throw invalidArguments(`cannot open '${location}': no bucket has such a name`);
  const root = (connection["root"] ?? "").replace(/^\/+|\/+$/g, "");
  const key = (root === "" ? "" : `${root}/`) + (slash < 0 ? "" : rest.slice(slash + 1));
  // Clients and proxies on the way resolve them, so that another object would be meant than was signed.
  if (key.split("/").some((part) => part === "." || part === ".."))
    throw invalidArguments(`cannot open '${location}': a key may not have '.' or '..' as a part`);
  return {
    client: new S3Client(network, bucketOf(bucket, ENDPOINTS.get(scheme), connection, network), signal),
    key,
    prefix: `${scheme}://${host}/`,
    root: root === "" ? "" : `${root}/`,
  };
}

/** How a bucket is reached. Only what CONNECTION says counts: the keys of the server's own environment are not for those who write SQL. */
function bucketOf(bucket: string, known: string | undefined, connection: FileConnection, network: StoreNetwork): Bucket {
  const given = (key: string): string | undefined => (connection[key] === "" ? undefined : connection[key]);
  const accessKeyId = given("access_key_id");
  const secretAccessKey = given("secret_access_key") ?? given("access_key_secret");
  const isVirtual = booleanOf(connection, "enable_virtual_host_style");
  const region = given("region");
  if (region !== undefined && !/^[A-Za-z0-9-]{1,64}$/.test(region))
    throw invalidArguments("Invalid connection option, key: region: it is no name");
  const owner = endpointOf(given("endpoint") ?? known ?? `https://s3.${region ?? "us-east-1"}.amazonaws.com`);
  const pattern = network.check(withoutBucket(owner, bucket, isVirtual));
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw invalidArguments("cannot reach the store: give access_key_id and secret_access_key in CONNECTION (…)");
  for (const key of [accessKeyId, given("session_token") ?? ""])
    if (!/^[\x21-\x7e]*$/.test(key)) throw invalidArguments("Invalid connection option: access_key_id and session_token are visible ASCII");
  const endpoint = new URL(owner);
  if (isVirtual && !endpoint.hostname.startsWith(`${bucket}.`)) endpoint.hostname = `${bucket}.${endpoint.hostname}`;
  return {
    endpoint,
    pattern,
    root: isVirtual ? "/" : `/${bucket}/`,
    keys: { accessKeyId, secretAccessKey, sessionToken: given("session_token"), region: region ?? regionOf(owner) },
  };
}

/** An endpoint that may have the bucket in its host already: without it. */
function withoutBucket(owner: URL, bucket: string, isVirtual: boolean): URL {
  const bare = new URL(owner);
  if (isVirtual && owner.hostname.startsWith(`${bucket}.`)) bare.hostname = owner.hostname.slice(bucket.length + 1);
  return bare;
}

/** @throws DbError InvalidArguments; the text is not repeated whole, it may hold a password */
function endpointOf(text: string): URL {
  const whole = text.includes("://") ? text : `https://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url !== undefined && isOrigin(url)) return url;
  throw invalidArguments("Invalid connection option, key: endpoint: it is no origin such as https://s3.example.com:9000");
}

function regionOf({ hostname }: URL): string {
  const named = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname)?.[1];
  return named ?? (hostname.endsWith(".amazonaws.com") ? "us-east-1" : "auto");
}

function booleanOf(connection: FileConnection, key: string): boolean {
  const text = (connection[key] ?? "false").toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  throw invalidArguments(`Invalid connection option, key: ${key}, value: ${text.slice(0, 20)}; use 'true' or 'false'`);
}

/** An error of the store, without what it might repeat of the request; one text for all ways of not answering. */
function failed(what: string, thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  if (!(thrown instanceof Refusal)) {
    const isKnown = thrown instanceof Unreachable;
    return new DbError(isKnown ? StatusCode.StorageUnavailable : StatusCode.Internal, `cannot ${what}: the store cannot be reached`, {
      cause: thrown,
    });
  }
  const { status, code } = thrown;
  const named = code === "" ? String(status) : `${status} ${code}`;
  if (status === 404) return invalidArguments(`cannot ${what}: the store has no such object (${named})`);
  if (status >= 300 && status < 400)
    return invalidArguments(`cannot ${what}: the store answered ${named}, and redirects are not followed; name its own endpoint`);
  if (status >= 400 && status < 500) return invalidArguments(`cannot ${what}: the store answered ${named}`);
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: the store answered ${named}`);
}

async function list(location: string, { client, key, prefix, root }: Place): Promise<readonly FoundFile[]> {
  try {
    if (!location.endsWith("/")) {
      return [{ location, name: key.slice(key.lastIndexOf("/") + 1), byteLength: await client.size(key) }];
    }
    const found: FoundFile[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      if (++pages > LIST_PAGES_MAX) throw new Unreachable("a list without an end");
      const page = await client.list(key, after);
      for (const object of page.objects) {
        const name = object.key.slice(key.length);
        if (name === "" || name.startsWith(".")) continue;
        if (found.length === FOLDER_FILES_MAX) {
          throw invalidArguments(`cannot read folder '${location}': it has more than ${FOLDER_FILES_MAX} files`);
        }
        found.push({ location: prefix + object.key.slice(root.length), name, byteLength: object.size });
      }
      after = page.after;
    } while (after !== undefined);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    throw failed(`list '${location}'`, thrown);
  }
}

async function openObject(location: string, { client, key }: Place): Promise<OpenFile> {
  let byteLength: number;
  try {
    byteLength = await client.size(key);
  } catch (thrown) {
    throw failed(`read '${location}'`, thrown);
  }
  return {
    location,
    name: key.slice(key.lastIndexOf("/") + 1),
    byteLength,
    async read(offset, length) {
      try {
        return await client.read(key, offset, length);
      } catch (thrown) {
        throw failed(`read '${location}'`, thrown);
      }
    },
    async close() {},
  };
}

function createObject(location: string, { client, key }: Place): NewFile {
  if (location.endsWith("/")) throw invalidArguments(`cannot write '${location}': it is a folder; name an object in it`);
  return new NewObject(client, key, location);
}

/** An object being written: one request where it is small, else an upload in parts, each gone before the next is gathered. */
class NewObject implements NewFile {
  private readonly client: S3Client;
  private readonly key: string;
  private readonly location: string;
  private readonly tags: string[] = [];
  private part: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  private length = 0;
  private uploadId: string | undefined;

  constructor(client: S3Client, key: string, location: string) {
    this.client = client;
    this.key = key;
    this.location = location;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) {
        this.grow(Math.min(UPLOAD_PART_BYTES, this.length + bytes.length - at));
        const piece = bytes.subarray(at, at + this.part.length - this.length);
        this.part.set(piece, this.length);
        this.length += piece.length;
        at += piece.length;
        if (this.length === UPLOAD_PART_BYTES) await this.uploadPart();
      }
    } catch (thrown) {
      throw failed(`write '${this.location}'`, thrown);
    }
  }

  async finish(): Promise<void> {
    try {
      if (this.uploadId === undefined) {
        await this.client.put(this.key, this.part.slice(0, this.length));
        return;
      }
      if (this.length > 0) await this.uploadPart();
      await this.client.complete(this.key, this.uploadId, this.tags);
      this.uploadId = undefined;
    } catch (thrown) {
      throw failed(`write '${this.location}'`, thrown);
    }
  }

  async abort(): Promise<void> {
    // The failure that led here is what the client is told; a store forgets uploads that are not completed by its own rules.
    if (this.uploadId !== undefined) await Promise.allSettled([this.client.abort(this.key, this.uploadId)]);
    this.uploadId = undefined;
  }

  /** Makes room for `length` bytes, doubling. */
  private grow(length: number): void {
    if (this.part.length >= length) return;
    const grown = new Uint8Array(Math.min(UPLOAD_PART_BYTES, Math.max(length, this.part.length * 2)));
    grown.set(this.part.subarray(0, this.length));
    this.part = grown;
  }

  private async uploadPart(): Promise<void> {
    this.uploadId ??= await this.client.begin(this.key);
    this.tags.push(await this.client.part(this.key, this.uploadId, this.tags.length + 1, this.part.slice(0, this.length)));
    this.length = 0;
  }
}
