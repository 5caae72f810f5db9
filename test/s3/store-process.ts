/** The store that tests of data files in S3 use: one in memory, or a real one as a process of its own (`README.md`). */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3_BUCKET, S3_KEYS, type S3Place, startGateway } from "../../bench/macro/s3-gateway.ts";
import { FakeS3 } from "../support/fake-s3.ts";

/** Names the program of versitygw; unset: a store in memory. */
export const GATEWAY_VARIABLE = "VARVE_TEST_VERSITYGW";
export const BUCKET: string = S3_BUCKET;
export const KEYS: S3Place["keys"] = S3_KEYS;

/** A store with an empty bucket. */
export interface TestStore {
  readonly endpoint: string;
  readonly place: S3Place;
  /** Undefined where the store is a real one. */
  readonly fake: FakeS3 | undefined;
  close(): Promise<void>;
}

/** Starts one. @param program of versitygw; undefined: what the variable says @throws Error when versitygw does not answer */
export async function startStore(program: string | undefined = process.env[GATEWAY_VARIABLE]): Promise<TestStore> {
  if (program === undefined) {
    const fake = new FakeS3();
    fake.pageKeys = 1000;
    const { endpoint } = fake;
    return { endpoint, place: { endpoint, bucket: BUCKET, keys: KEYS }, fake, close: () => fake.close() };
  }
  const folder = await mkdtemp(join(tmpdir(), "varve-versitygw-"));
  const { place, server } = await startGateway(program, folder);
  return {
    endpoint: place.endpoint,
    place,
    fake: undefined,
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
