/**
 * A store that is late, refuses, is full or loses answers while rows come in: writers slow down, memory keeps to its bound, nothing that
 * was acknowledged is lost, and the server is whole again when the store is. A real store has no such switch: always over one in memory.
 */
import { afterEach, expect } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { FakeS3, type FakeFault, type FakeRequest } from "../support/fake-s3.ts";
import { execute, postLines, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { configOf } from "./server-config.ts";
import { BUCKET, GATEWAY_VARIABLE, KEYS } from "./store-process.ts";

const { describe, test } = standalone("its memory and its log while its store is slow or full");

const TIMEOUT_MILLIS = 120_000;
const MIB = 1024 * 1024;
const MEMTABLE_BYTES = MIB;
const BUFFER_BYTES = 4 * MIB;
/** What one request adds that was let in below the bound, with room for slabs that are not full. */
const REQUEST_BYTES_MAX = 2 * MIB;
/** Bound of `storage/file-store/s3/limits.ts` and of files that are fetched and summed. */
const TRANSFER_BYTES_MAX = 160 * MIB;
const ROWS_A_REQUEST = 2000;
/** Rows for about twice the bound. */
const REQUESTS = 45;
const ROOT = "faults";

let fake: FakeS3 | undefined;
let server: TestServer | undefined;
afterEach(async () => {
  if (fake !== undefined) fake.fault = undefined;
  await server?.end();
  server = undefined;
  await fake?.close();
});

/** A server under load, and what it acknowledged. */
class Load {
  rows = 0;
  private sum = 0;
  private next = 0;
  readonly peaks: Map<string, number> = new Map();
  readonly store: FakeS3;
  readonly varve: TestServer;

  constructor(store: FakeS3, varve: TestServer) {
    this.store = store;
    this.varve = varve;
  }

  /** Sends one request. Returns the status; 204 and 429 with a time to come back are the only ones. */
  async write(): Promise<number> {
    const from = this.next;
    this.next += ROWS_A_REQUEST;
    const numbers = Array.from({ length: ROWS_A_REQUEST }, (_, i) => from + i);
    const lines = numbers.map(
      (at) => `faults,host=h${at % 10} v=${at}i,t="${Bun.hash(String(at)).toString(36).repeat(5)}" ${1_700_000_000 + at}`,
    );
    const { status, headers, text } = await postLines(this.varve.url, lines.join("\n"), { query: { precision: "s" } });
    if (status !== 204 && status !== 429) throw new Error(`a write answered ${status}: ${text}`);
    if (status === 429) expect(headers.get("retry-after")).not.toBeNull();
    else {
      this.rows += ROWS_A_REQUEST;
      this.sum += numbers.reduce((sum, at) => sum + at, 0);
    }
    await this.look();
    return status;
  }

  async check(): Promise<void> {
    const { rows } = await queryRows(this.varve.url, "SELECT count(*), sum(v), count(t) FROM faults");
    expect(rows).toEqual([[this.rows, this.sum, this.rows]]);
  }

  /** The highest that was seen of what a part of the server's memory holds. */
  peak(part: string): number {
    return this.peaks.get(part) ?? 0;
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.varve.url}/metrics`)).text();
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length) ?? Number.NaN,
    );
  }

  /** The store shows what the server names, and nothing else. */
  async expectNoOrphans(): Promise<void> {
    const { rows } = await queryRows(this.varve.url, "SELECT count(*) FROM information_schema.ssts_storage");
    const files = [...this.store.objects.keys()].filter((name) => name.endsWith(".parquet"));
    expect([files.length, this.store.uploads.size]).toEqual([Number(rows[0]?.[0]), 0]);
  }

  /** With every copy gone, all rows are in the store. */
  async restartWithoutCopies(): Promise<void> {
    await this.varve.stop();
    await rm(join(this.varve.dataHome, "data"), { recursive: true });
    await this.varve.restart();
    await this.check();
  }

  /** Looks all the time, until it is ended. */
  lookOften(): { end(): Promise<void> } {
    let isOver = false;
    const looking = (async () => {
      while (!isOver) {
        await this.look();
        await Bun.sleep(20);
      }
    })();
    return {
      end() {
        isOver = true;
        return looking;
      },
    };
  }

  private async look(): Promise<void> {
    for (const part of ["memtables", "file_transfers"]) {
      this.peaks.set(part, Math.max(this.peak(part), await this.metric(`varve_memory_bytes{part="${part}"}`)));
    }
  }
}

async function start(stallTimeout: string): Promise<Load> {
  fake = new FakeS3();
  fake.pageKeys = 1000;
  const store = {
    endpoint: fake.endpoint,
    place: { endpoint: fake.endpoint, bucket: BUCKET, keys: KEYS },
    fake,
    close: () => fake!.close(),
  };
  const small = { memtable_size: `${MEMTABLE_BYTES / MIB}MiB`, write_buffer_limit: `${BUFFER_BYTES / MIB}MiB`, cache_capacity: "4MiB" };
  server = await TestServer.start({ config: configOf(store, ROOT, small, `[write]\nstall_timeout = "${stallTimeout}"\n`) });
  return new Load(fake, server);
}

const isChange = ({ method }: FakeRequest): boolean => method !== "GET" && method !== "HEAD";

test(
  "puts that take two seconds slow writers down: all are taken, and memory keeps to its bound",
  async () => {
    const load = await start("60s");
    load.store.fault = ({ method }) => (method === "PUT" ? { kind: "slow", millis: 2000 } : undefined);
    const writer = async (): Promise<void> => {
      for (let i = 0; i < REQUESTS / 3; i++) expect(await load.write()).toBe(204);
    };
    const looking = load.lookOften(); // Transfers end between two writes.
    await Promise.all([writer(), writer(), writer()]);
    await looking.end();
    expect(load.peak("memtables")).toBeLessThanOrEqual(BUFFER_BYTES + 3 * REQUEST_BYTES_MAX);
    expect(load.peak("memtables")).toBeGreaterThan(MEMTABLE_BYTES);
    expect(load.peak("file_transfers")).toBeGreaterThan(0);
    expect(load.peak("file_transfers")).toBeLessThanOrEqual(TRANSFER_BYTES_MAX);
    await load.check();
    load.store.fault = undefined;
    await execute(load.varve.url, "ADMIN flush_table('faults')");
    await load.expectNoOrphans();
    await load.restartWithoutCopies();
  },
  TIMEOUT_MILLIS,
);

/** All of them in `bun run test:s3`; the first two in the gate. */
const ALL_FAULTS: readonly (readonly [what: string, fault: (request: FakeRequest) => FakeFault | undefined])[] = [
  ["is full (507)", ({ method }) => (method === "PUT" ? { kind: "refuse", status: 507, code: "XMinioStorageFull" } : undefined)],
  ["takes files, and then is gone", ({ method }) => (method === "PUT" ? { kind: "lost" } : { kind: "reset" })],
  ["asks to slow down (503)", () => ({ kind: "refuse", status: 503, code: "SlowDown" })],
  ["lets nobody in (403)", () => ({ kind: "refuse", status: 403, code: "AccessDenied" })],
  ["does what it is asked and loses every answer", (request) => (isChange(request) ? { kind: "lost" } : undefined)],
];
const FAULTS = process.env[GATEWAY_VARIABLE] === undefined ? ALL_FAULTS.slice(0, 2) : ALL_FAULTS;

describe("a store that", () => {
  test.each(FAULTS)(
    "%s has writers wait and refused, with their rows in memory and in the log, and gets all of them later",
    async (_, fault) => {
      const load = await start("300ms");
      expect(await load.write()).toBe(204);
      load.store.fault = fault;
      let status = 204;
      for (let i = 0; i < REQUESTS && status === 204; i++) status = await load.write();
      expect(status).toBe(429);
      expect(load.peak("memtables")).toBeLessThanOrEqual(BUFFER_BYTES + REQUEST_BYTES_MAX);
      while ((await load.metric('varve_degraded{part="flush"}')) !== 1) await Bun.sleep(50); // Tries take their time.
      await load.check();
      load.store.fault = undefined;
      while ((await load.write()) !== 204) await Bun.sleep(50);
      await execute(load.varve.url, "ADMIN flush_table('faults')");
      expect(await load.metric('varve_degraded{part="flush"}')).toBe(0);
      await load.check();
      await load.expectNoOrphans();
      await load.restartWithoutCopies();
    },
    TIMEOUT_MILLIS,
  );
});
