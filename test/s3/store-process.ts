/** The store that tests of data files in S3 use: one in memory, or a real one as a process of its own (`README.md`). */
import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";
import { FakeS3 } from "../support/fake-s3.ts";

/** Names the program of versitygw; unset: a store in memory. */
export const GATEWAY_VARIABLE = "VARVE_TEST_VERSITYGW";
export const BUCKET = "bucket";
export const KEYS = { id: "key", secret: "hush-hush-hush" };

/** A store with an empty bucket. */
export interface TestStore {
  readonly endpoint: string;
  /** Undefined where the store is a real one. */
  readonly fake: FakeS3 | undefined;
  close(): Promise<void>;
}

/** Starts one. @throws Error when versitygw does not answer */
export async function startStore(): Promise<TestStore> {
  const program = process.env[GATEWAY_VARIABLE];
  if (program === undefined) {
    const fake = new FakeS3();
    fake.pageKeys = 1000;
    return { endpoint: fake.endpoint, fake, close: () => fake.close() };
  }
  const folder = await mkdtemp(join(tmpdir(), "varve-versitygw-"));
  for (const name of [`objects/${BUCKET}`, "sidecar", "multipart"]) await mkdir(join(folder, name), { recursive: true });
  const port = freePort();
  const child = Bun.spawn(
    [program, "--port", `127.0.0.1:${port}`, "posix", "--sidecar", join(folder, "sidecar"), join(folder, "objects")],
    {
      env: { ...process.env, ROOT_ACCESS_KEY: KEYS.id, ROOT_SECRET_KEY: KEYS.secret },
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint);
  return {
    endpoint,
    fake: undefined,
    async close() {
      child.kill("SIGKILL");
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answering(endpoint: string): Promise<void> {
  for (let tried = 0; tried < 200; tried++) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await Bun.sleep(50); // It has not begun to listen.
    }
  }
  throw new Error(`versitygw does not answer at ${endpoint}`);
}
