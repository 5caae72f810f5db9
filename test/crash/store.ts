/**
 * The store of a campaign whose server has its data files in S3: a real one as a process of its own, or one in memory in the process that
 * kills, which outlives every server. It is looked into by requests of its own.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../bench/macro/random.ts";
import { S3_BUCKET, s3Settings } from "../../bench/macro/s3-gateway.ts";
import { ObjectRequests } from "../../src/storage/file-store/s3/object-requests.ts";
import { s3FileStore } from "../../src/storage/file-store/s3/s3-file-store.ts";
import { uploadsOf } from "../../src/storage/s3/answers.ts";
import { startStore } from "../s3/store-process.ts";
import type { FakeFault, FakeRequest } from "../support/fake-s3.ts";

/** See the file header. Names are those of the server's files. */
export interface CampaignStore {
  /** Settings of the section `storage`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Lengths of all data files that the store shows. */
  objects(): Promise<ReadonlyMap<string, number>>;
  /** Uploads that were begun and neither completed nor given up. */
  openUploads(): Promise<number>;
  /** Tells the store that a file will come in parts, and sends none. */
  beginUpload(name: string): Promise<void>;
  put(name: string, path: string): Promise<void>;
  get(name: string): Promise<Uint8Array>;
  delete(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Where the server's files are in the bucket. */
const ROOT = "crash/data";
/** Copies of files here: less than most campaigns write, so that files are fetched again. */
const CACHE = '"1MiB"';
/** Of a store in memory: shares of requests that are late, refused, or whose answer is lost after they took effect. */
const LATE_SHARE = 0.1;
const LATE_MS_MAX = 60;
const REFUSED_SHARE = 0.02;
const LOST_SHARE = 0.02;

/** Starts one. @param program of versitygw; undefined: a store in memory @param random of its troubles; undefined: it has none */
export async function startCampaignStore(directory: string, program?: string, random?: Random): Promise<CampaignStore> {
  const store = await startStore(program);
  if (store.fake !== undefined && random !== undefined) {
    const isOfFile = ({ key, method }: FakeRequest): boolean => method !== "HEAD" && key.startsWith(`${S3_BUCKET}/${ROOT}/tables/`);
    store.fake.fault = (request) => (isOfFile(request) ? troubleBy(random) : undefined);
  }
  const { endpoint, bucket, keys } = store.place;
  const signed = { accessKeyId: keys.id, secretAccessKey: keys.secret, sessionToken: undefined, region: "us-east-1" };
  const place = { bucket, root: ROOT, endpoint: new URL(endpoint), isVirtualHost: false, keys: signed };
  const files = s3FileStore(place, join(directory, "looks"));
  const requests = new ObjectRequests(place);
  return {
    settings: { ...s3Settings(store.place, ROOT), cache_capacity: CACHE },
    objects: () => files.lengths("tables"),
    openUploads: async () => {
      const { body } = await requests.send({ method: "GET", query: { uploads: "", "encoding-type": "url", prefix: `${ROOT}/` } });
      return uploadsOf(new TextDecoder().decode(body)).length;
    },
    beginUpload: async (name) => void (await requests.send({ method: "POST", key: `${ROOT}/${name}`, query: { uploads: "" } })),
    put: (name, path) => files.putFile(name, path, statSync(path).size),
    get: async (name) => {
      const reader = await files.open(name);
      return await reader.read(0, reader.byteLength);
    },
    delete: (name) => files.delete(name),
    close: () => store.close(),
  };
}

function troubleBy(random: Random): FakeFault | undefined {
  const drawn = random.next();
  if (drawn < LATE_SHARE) return { kind: "slow", millis: random.below(LATE_MS_MAX) };
  if (drawn < LATE_SHARE + REFUSED_SHARE) return { kind: "refuse", status: 503, code: "SlowDown" };
  return drawn < LATE_SHARE + REFUSED_SHARE + LOST_SHARE ? { kind: "lost" } : undefined;
}
