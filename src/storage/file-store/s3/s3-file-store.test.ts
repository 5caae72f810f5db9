import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStoreContract } from "../../../../test/contract/file-store-contract.ts";
import { type FakeFault, FakeS3 } from "../../../../test/support/fake-s3.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { corruptionOf } from "../../../base/error.ts";
import { MemoryCounter } from "../../../base/memory/server-memory.ts";
import { FILE_REQUESTS_MAX, PART_BYTES, REQUESTS_MAX, TRIES_MAX } from "./limits.ts";
import type { ObjectPlace } from "./object-requests.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";
import { s3FileStore } from "./s3-file-store.ts";

const QUICK = { answerMillis: 2_000, retryMillis: 1 };

function placeOf(fake: FakeS3, root = "some/root"): ObjectPlace {
  const keys = { accessKeyId: "key", secretAccessKey: "hush", sessionToken: undefined, region: "r" };
  return { bucket: "bucket", root, endpoint: new URL(fake.endpoint), isVirtualHost: false, keys };
}

fileStoreContract(
  "s3FileStore",
  async () => {
    const fake = new FakeS3();
    const scratch = await mkdtemp(join(tmpdir(), "varve-s3-"));
    const open = (): RemoteFileStore => s3FileStore(placeOf(fake), scratch, QUICK);
    return {
      store: open(),
      reopen: open,
      async dispose() {
        await fake.close();
        await rm(scratch, { recursive: true, force: true });
      },
    };
  },
  {
    "replaces a file only when the new one is finished; who reads the old one goes on": "names are used once: an upload demands a new one",
    "lets a reader go on after its file was deleted": "an object that was deleted is gone; the cached store has a copy",
  },
);

const scratch = mkdtempSync(join(tmpdir(), "varve-s3-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let fake: FakeS3;
let store: RemoteFileStore;
let memory: MemoryCounter;
beforeEach(() => {
  fake = new FakeS3();
  memory = new MemoryCounter();
  store = s3FileStore(placeOf(fake), scratch, QUICK, memory);
});
afterEach(async () => {
  await fake.close();
  expect(memory.bytes()).toBe(0); // Whatever went wrong.
});

const bytesOf = (length: number, seed = 0): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + seed + (i >> 8)) & 255);

async function put(name: string, bytes: Uint8Array): Promise<void> {
  const writer = await store.create(name);
  writer.write(bytes);
  await writer.finish();
}

async function fetched(name: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  await store.fetchFile(name, async () => (bytes) => void parts.push(bytes));
  return new Uint8Array(Buffer.concat(parts));
}

/** The n-th request of a method, from 0 on, goes wrong; `times` of them in a row. */
function failOn(method: string, nth: number, fault: FakeFault, times = 1): void {
  let seen = 0;
  fake.fault = (request) => (request.method === method && seen++ >= nth && seen <= nth + times ? fault : undefined);
}

describe("a file in parts", () => {
  const big = new Uint8Array(PART_BYTES + 12_345).fill(7).map((byte, i) => byte ^ (i >> 12));

  test("comes back as it was, and leaves neither uploads nor drafts", async () => {
    await put("t/big", big);
    expect(Buffer.compare(await fetched("t/big"), big)).toBe(0);
    expect(await store.sizeOf("t/big")).toBe(big.length);
    expect(fake.uploads.size).toBe(0);
    expect(readdirSync(scratch)).toEqual([]);
    expect(fake.runningMax).toBeLessThanOrEqual(FILE_REQUESTS_MAX);
  });

  test("comes back after lost answers of any request of it", async () => {
    for (const [method, nth] of [
      ["POST", 0],
      ["PUT", 0],
      ["PUT", 1],
      ["POST", 1],
    ] as const) {
      failOn(method, nth, { kind: "lost" });
      await put(`t/lost-${method}-${nth}`, big);
      fake.fault = undefined;
      expect(Buffer.compare(await fetched(`t/lost-${method}-${nth}`), big)).toBe(0);
    }
  }, 20_000);

  test("is not there when a part fails, and its upload is given up", async () => {
    failOn("PUT", 1, { kind: "refuse", status: 500, code: "InternalError" }, 100);
    expect((await errorOf(put("t/big", big))).message).toContain("500 InternalError: the store has trouble");
    expect([fake.objects.size, fake.uploads.size, readdirSync(scratch)]).toEqual([0, 0, []]);
  });

  test("whose writer died is given up when the folder is listed", async () => {
    failOn("DELETE", 0, { kind: "refuse", status: 403, code: "AccessDenied" });
    fake.failPart = 1;
    await errorOf(put("t/big", big));
    expect(fake.uploads.size).toBe(1);
    expect(await store.list("t")).toEqual([]);
    expect(fake.uploads.size).toBe(0);
  });
});

describe("requests that fail", () => {
  test("are sent again after 5xx, 429, resets, lost and late answers, by each kind of request", async () => {
    const hurried = s3FileStore(placeOf(fake), scratch, { answerMillis: 300, retryMillis: 1 });
    const faults: readonly FakeFault[] = [
      { kind: "refuse", status: 500, code: "InternalError" },
      { kind: "refuse", status: 503, code: "SlowDown" },
      { kind: "refuse", status: 429, code: "TooManyRequests" },
      { kind: "refuse", status: 409, code: "ConditionalRequestConflict" },
      { kind: "reset" },
      { kind: "lost" },
      { kind: "slow", millis: 1_000 },
    ];
    for (const [i, fault] of faults.entries()) {
      const name = `t/f${i}`;
      writeFileSync(join(scratch, "one"), bytesOf(1000, i));
      failOn("PUT", 0, fault);
      await hurried.putFile(name, join(scratch, "one"), 1000);
      failOn("GET", 0, fault);
      const parts: Uint8Array[] = [];
      await hurried.fetchFile(name, async () => (bytes) => void parts.push(bytes));
      expect(Buffer.compare(Buffer.concat(parts), bytesOf(1000, i))).toBe(0);
      failOn("GET", 1, fault);
      expect(await hurried.list("t")).toEqual([name]);
      failOn("DELETE", 0, fault);
      await hurried.delete(name);
      fake.fault = undefined;
      expect(fake.objects.size).toBe(0);
    }
    rmSync(join(scratch, "one"));
  });

  test("are sent again a few times only, and not at all after other 4xx", async () => {
    const tries = async (status: number, code: string): Promise<number> => {
      failOn("PUT", 0, { kind: "refuse", status, code }, 1000);
      const before = fake.requests.length;
      expect((await errorOf(put("t/f", bytesOf(10)))).message).toContain(`${status} ${code}`);
      return fake.requests.length - before;
    };
    expect(await tries(503, "SlowDown")).toBe(TRIES_MAX);
    expect(await tries(403, "AccessDenied")).toBe(1);
    expect(await tries(400, "InvalidRequest")).toBe(1);
    expect(await tries(404, "NoSuchBucket")).toBe(1);
    expect(await tries(507, "XMinioStorageFull")).toBe(1);
  });

  test("say which object, which request and what to do, and no key", async () => {
    failOn("PUT", 0, { kind: "refuse", status: 403, code: "SignatureDoesNotMatch" });
    const { message } = await errorOf(put("t/f", bytesOf(10)));
    expect(message).toBe(
      `cannot upload file t/f: PUT of s3://bucket/some/root/t/f at ${new URL(fake.endpoint).host}: 403 SignatureDoesNotMatch: ` +
        "check storage.access_key_id and storage.secret_access_key",
    );
    const wrong = { ...placeOf(fake), keys: { ...placeOf(fake).keys, accessKeyId: "other" } };
    const refused = await errorOf(s3FileStore(wrong, scratch, QUICK).list("t"));
    expect(refused.message).toContain("403 AccessDenied: let these keys");
    await fake.close();
    const silent = await errorOf(store.sizeOf("t/f") as Promise<unknown>);
    expect(silent.message).toMatch(/no answer \(\w+\): check storage.endpoint, and that the store runs/);
    for (const text of [message, refused.message, silent.message]) expect(text).not.toMatch(/hush|Signature=/);
  });
});

test("a bucket that is gone is not taken for files that are", async () => {
  await put("t/f", bytesOf(10));
  failOn("GET", 0, { kind: "refuse", status: 404, code: "NoSuchBucket" });
  const error = await errorOf(fetched("t/f"));
  expect([error.message, corruptionOf(error)]).toEqual([expect.stringContaining("404 NoSuchBucket"), undefined]);
  failOn("DELETE", 0, { kind: "refuse", status: 404, code: "NoSuchBucket" });
  expect((await errorOf(store.delete("t/f"))).message).toContain("404 NoSuchBucket");
});

describe("a name that is taken", () => {
  test("is no success unless its bytes are the same", async () => {
    await put("t/f", bytesOf(10));
    await put("t/f", bytesOf(10)); // As after an answer that got lost.
    expect((await errorOf(put("t/f", bytesOf(10, 1)))).message).toContain("is there already, with other bytes");
    expect((await errorOf(put("t/f", bytesOf(11)))).message).toContain("see that no other server uses this storage.root");
    expect(await fetched("t/f")).toEqual(bytesOf(10));
  });
});

describe("a download", () => {
  test("with damaged bytes fails by name", async () => {
    await put("t/f", bytesOf(1000));
    failOn("GET", 0, { kind: "damage" });
    const error = await errorOf(fetched("t/f"));
    expect(error.message).toContain("cannot fetch file t/f: its bytes have the sum");
    expect(corruptionOf(error)).toEqual({ file: "t/f", offset: undefined, kind: "checksum" });
  });

  test("of an object that is replaced meanwhile fails", async () => {
    await put("t/f", bytesOf(PART_BYTES));
    let gets = 0;
    fake.fault = ({ method }) => {
      if (method === "GET" && gets++ === 1) fake.objects.set("bucket/some/root/t/f", bytesOf(PART_BYTES, 1));
      return undefined;
    };
    expect((await errorOf(fetched("t/f"))).message).toContain("is another object than before");
  });
});

test("has a bounded number of requests under way", async () => {
  fake.fault = () => ({ kind: "slow", millis: 5 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => put(`t/${i}`, bytesOf(100, i))));
  expect(fake.runningMax).toBeLessThanOrEqual(REQUESTS_MAX);
  expect(fake.runningMax).toBeGreaterThan(REQUESTS_MAX / 2);
  expect((await store.list("t")).length).toBe(100);
});
