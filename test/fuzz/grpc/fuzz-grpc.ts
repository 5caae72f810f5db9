/**
 * Mutated calls of every method to a real server, some at a time, beside a client that writes and reads:
 *
 * - each call ends in time, with a status; one that fails has our number, and is INTERNAL or UNKNOWN only where a statement fails;
 * - the server lives, the client beside it finds all of its rows, and memory of calls is given back;
 * - rows of messages that were acknowledged are there, once, and of those that were refused none.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { readFile } from "node:fs/promises";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { PutResultSchema } from "../../../proto/gen/arrow/flight/Flight_pb.js";
import { GreptimeRequestSchema, GreptimeResponseSchema } from "../../../proto/gen/greptime/v1/database_pb.js";
import { Turns } from "../../../src/base/scheduler/turns.ts";
import { postSql, queryRows, writeLines } from "../../support/http-client.ts";
import { GRPC, type RawAnswer, RawGrpc } from "../../support/raw-grpc.ts";
import { TestServer } from "../../support/server-process.ts";
import { BULK_TABLE } from "./arrow-seeds.ts";
import { type MutatedCall, mutatedCall } from "./mutate.ts";
import { SEEDS, type Seed } from "./seeds.ts";

/** How a run goes. */
export interface GrpcFuzzOptions {
  /** Of each service. */
  readonly calls: number;
  readonly seed: number;
  readonly say: (text: string) => void;
}

/** What a run found out. */
export interface GrpcFuzzReport {
  readonly failures: readonly string[];
  /** Calls by service and how they ended: "Health 0", "Health 3". */
  readonly answers: ReadonlyMap<string, number>;
  /** Rows that were acknowledged and found. */
  readonly rows: number;
}

const CONFIG = '[query]\nmemory_limit = "256MiB"\n[slow_query]\nenable = false\n';
const AT_ONCE = 6;
/** A call that takes longer hangs. */
const HANG_MS = 20_000;
/** Failures that are kept. */
const FAILURES_MAX = 20;
/** Calls between two looks of the client beside. */
const BESIDE_EVERY = 200;
/** Bytes that the process may grow after a first third, which fills its caches. */
const GROWTH_BYTES_MAX: number = 192 * 1024 * 1024;
const PAGE_BYTES = 4096;
/**
 * Codes that INTERNAL may come with: of statements that fail as they run or are planned, as the contract says, and of a message that is
 * marked as packed in a call without packing, as gRPC says.
 */
const INTERNAL_CODES: ReadonlySet<string> = new Set(["3000", "3001", "1004"]);
/** Hexadecimal digits of a message that a failure shows. */
const SHOWN_DIGITS_MAX = 3000;

/** Runs it. @throws Error when the server does not start */
export async function fuzzGrpc(options: GrpcFuzzOptions): Promise<GrpcFuzzReport> {
  const server = await TestServer.start({ config: CONFIG });
  const run = new Run(server, options);
  try {
    await run.all();
  } catch (error) {
    run.fail(`${error instanceof Error ? error.message : String(error)}\n${server.log().split("\n").slice(-15).join("\n")}`);
  } finally {
    await server.end();
  }
  return run;
}

class Run implements GrpcFuzzReport {
  readonly failures: string[] = [];
  readonly answers: Map<string, number> = new Map();
  rows = 0;
  private readonly server: TestServer;
  private readonly options: GrpcFuzzOptions;
  private readonly random: Random;
  private readonly others: readonly Uint8Array[] = SEEDS.flatMap(({ messages }) => messages);
  /** Rows of `counted` and `streamed` that must be there, and those that may be. */
  private readonly must: Record<"once" | "stream", number> = { once: 0, stream: 0 };
  private readonly may: Record<"once" | "stream", number> = { once: 0, stream: 0 };
  private besideRows = 0;
  /** Of the client beside, which does one thing at a time. */
  private readonly turns: Turns = new Turns();
  private calls = 0;

  constructor(server: TestServer, options: GrpcFuzzOptions) {
    this.server = server;
    this.options = options;
    this.random = seededRandom(options.seed);
  }

  fail(what: string): void {
    if (this.failures.length < FAILURES_MAX) this.failures.push(what);
  }

  async all(): Promise<void> {
    const { server, options } = this;
    for (const name of ["counted", "streamed", "loose"]) await postSql(server.url, `CREATE DATABASE ${name}`);
    for (const name of ["streamed", "loose"]) await postSql(server.url, BULK_TABLE, { query: { db: name } });
    await postSql(server.url, "CREATE TABLE made (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)", {
      query: { db: "loose" },
    });
    const services = Map.groupBy(SEEDS, ({ service }) => service);
    const order = [...services].flatMap(([, seeds]) => Array.from({ length: options.calls }, () => seeds));
    // Services by turns, so that memory of one is seen beside the others.
    const shuffled = this.random.sample(order.length, order.length).map((at) => order[at] ?? []);
    let before = 0;
    const next = shuffled.values();
    const lane = async (): Promise<void> => {
      using client = new RawGrpc(server.grpcAddress);
      for (const seeds of next) {
        if (this.failures.length > 0) return;
        if (this.calls++ === Math.floor(shuffled.length / 3)) before = await this.residentBytes();
        if (this.calls % BESIDE_EVERY === 0) await this.turns.alone(() => this.beside());
        await this.one(client, seeds[this.random.below(seeds.length)] as Seed);
        if (this.calls % 10_000 === 0) options.say(`${this.calls} calls of ${shuffled.length}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    await this.turns.alone(() => this.beside());
    await this.compare();
    await this.rest(before);
  }

  private async one(client: RawGrpc, seed: Seed): Promise<void> {
    const call = mutatedCall(seed, this.random, this.others);
    const began = performance.now();
    const database = seed.counted === "stream" ? "streamed" : seed.counted === "once" ? "counted" : "loose";
    const headers = { "x-greptime-db-name": database, "x-greptime-hints": "append_mode=true" };
    const answer = await client.send(seed.path, call.pieces, { headers, packing: call.packing, waitMs: HANG_MS });
    const key = `${seed.service} ${answer.status}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    const flaw = flawOf(answer, performance.now() - began);
    if (flaw !== undefined) this.fail(`${flaw}\n  ${shownCall(seed, call)}`);
    if (seed.counted !== undefined) this.count(seed, seed.counted, call, answer);
  }

  /** Rows that a call has written, by its answer. */
  private count(seed: Seed, kind: "once" | "stream", call: MutatedCall, answer: RawAnswer): void {
    if (kind === "stream") {
      this.must.stream += acknowledgedRows(seed, answer);
      this.may.stream += 3 * call.pieces.length; // each message has three rows at most
      return;
    }
    if (answer.status !== GRPC.ok) return;
    // Rows of what it was made to be instead, such as a request to another database, may be there or not.
    const rows = acknowledgedRows(seed, answer);
    this.may.once += rows;
    if (!isElsewhere(call)) this.must.once += rows;
  }

  /** Another client writes a row, and finds all that it has written. */
  private async beside(): Promise<void> {
    await writeLines(this.server.url, `beside,host=a v=${this.besideRows}i ${this.besideRows + 1}`);
    this.besideRows++;
    const { rows } = await queryRows(this.server.url, "SELECT count(*), sum(v) FROM beside");
    const [count, sum] = rows[0] ?? [];
    if (Number(count) !== this.besideRows || Number(sum) !== ((this.besideRows - 1) * this.besideRows) / 2)
      this.fail(`the client beside finds ${count} rows, their sum ${sum}`);
  }

  private async compare(): Promise<void> {
    for (const [database, kind] of [
      ["counted", "once"],
      ["streamed", "stream"],
    ] as const) {
      const { rows: tables } = await queryRows(
        this.server.url,
        `SELECT table_name FROM information_schema.tables WHERE table_schema = '${database}'`,
      );
      let total = 0;
      for (const [table] of tables) {
        const { rows } = await queryRows(this.server.url, `SELECT count(*) FROM "${String(table).replaceAll('"', '""')}"`, {
          query: { db: database },
        });
        total += Number(rows[0]?.[0]);
      }
      const [must, may] = [this.must[kind], this.may[kind]];
      this.options.say(`${database}: ${total} rows in ${tables.length} tables; ${must} were acknowledged, at most ${may} sent`);
      if (total < must || total > may) this.fail(`${database} has ${total} rows; ${must} were acknowledged, and ${may} may be there`);
      this.rows += must;
    }
  }

  /** No call is under way: nothing of them is held, and the process has not grown. */
  private async rest(before: number): Promise<void> {
    const deadline = performance.now() + HANG_MS;
    for (;;) {
      const text = await (await fetch(`${this.server.url}/metrics`)).text();
      const held = /^varve_memory_bytes\{part="request_bodies"\} (\d+)$/m.exec(text)?.[1];
      if (held === "0") break;
      if (performance.now() > deadline) return this.fail(`request bodies hold ${held} bytes at the end`);
      await Bun.sleep(50);
    }
    const grown = (await this.residentBytes()) - before;
    this.options.say(`the server grew by ${Math.round(grown / 1024 / 1024)} MiB after a third of the calls`);
    if (grown > GROWTH_BYTES_MAX) this.fail(`the server grew by ${grown} bytes`);
    const bug = this.server
      .log()
      .split("\n")
      .find((line) => line.includes('"level":"fatal"') || line.includes('"level":"error"'));
    if (bug !== undefined) this.fail(`the server logged ${bug.slice(0, 2000)}`);
  }

  private async residentBytes(): Promise<number> {
    const [, pages] = (await readFile(`/proc/${this.server.running.pid}/statm`, "utf8")).split(" ");
    return Number(pages) * PAGE_BYTES;
  }
}

/** What is wrong with an answer. */
function flawOf({ status, code, text }: RawAnswer, millis: number): string | undefined {
  if (status === -1) return `there was no status after ${Math.round(millis)} ms`;
  if (status === GRPC.ok) return undefined;
  const told = `status ${status}, code ${code}: ${text.slice(0, 500)}`;
  if (code === "") return `a failure without our number: ${told}`;
  if ((status === GRPC.internal || status === GRPC.unknown) && !INTERNAL_CODES.has(code)) return told;
  return undefined;
}

/** Rows that an answer acknowledges. */
function acknowledgedRows({ path }: Seed, { messages }: RawAnswer): number {
  let rows = 0;
  for (const message of messages) {
    if (path.endsWith("DoPut")) {
      const told = JSON.parse(new TextDecoder().decode(fromBinary(PutResultSchema, message).appMetadata)) as {
        readonly affected_rows: number;
      };
      rows += told.affected_rows;
    } else if (path.includes("GreptimeDatabase")) rows += fromBinary(GreptimeResponseSchema, message).response.value?.value ?? 0;
  }
  return rows;
}

/** Whether a call that was answered may have been anything but rows into `counted`. */
function isElsewhere({ packing, pieces, isMisframed }: MutatedCall): boolean {
  const [piece] = pieces;
  if (isMisframed || piece === undefined) return true;
  const body = piece.subarray(5);
  const message = packing === "gzip" ? Bun.gunzipSync(new Uint8Array(body)) : packing === "zstd" ? Bun.zstdDecompressSync(body) : body;
  try {
    const { header, request } = fromBinary(GreptimeRequestSchema, message);
    const isRows = request.case === "rowInserts" || request.case === "inserts";
    return !isRows || !["", "counted"].includes(header?.dbname ?? "");
  } catch {
    return true; // a member of the request that another one follows, so that the server has not read it
  }
}

function shownCall({ path }: Seed, { packing, pieces }: MutatedCall): string {
  return `${path} ${packing} ${Buffer.concat(pieces).toString("hex").slice(0, SHOWN_DIGITS_MAX)}`;
}
