/** One connection of a crash campaign: sends batches through its door, one after the other, until the server is gone. */
import type { Random } from "../../bench/macro/random.ts";
import { type Batch, type BatchKind, SEATS_MAX } from "./batch.ts";
import type { Answer, DoorRequest, GrpcRequest } from "./doors/door.ts";
import type { WriterModel } from "./model.ts";

const CHANGE_SHARE = 0.25;
const RECENT_ORIGINS = 30;
const LARGE_SHARE = 0.03;
const SEATS_USUAL = 200;
const PAUSE_MS_MAX = 8;
/** Share of the requests on connections of their own: the system hands each new one to another ingest thread. */
const NEW_CONNECTION_SHARE = 0.3;

/** What ended a writer: the kill, or an answer that no client should get. */
export interface WriterEnd {
  readonly acknowledged: number;
  readonly refusal: string | undefined;
}

/** Where a server listens. */
export interface ServerUrls {
  readonly baseUrl: string;
  readonly grpcUrl: string;
}

/**
 * Sends batches until a request fails or `batchesMax` were acknowledged. `retry` is sent first, as a client would send an unanswered batch
 * again.
 */
export async function writeUntilKilled(
  urls: ServerUrls,
  model: WriterModel,
  random: Random,
  retry: Batch | undefined,
  batchesMax: number = Number.POSITIVE_INFINITY,
): Promise<WriterEnd> {
  const { door } = model;
  const refusedAs = (what: string, { refusal }: { readonly refusal: string }): string => `${door.name}, ${what}: ${refusal}`;
  if (door.setUp !== undefined && !model.isSetUp) {
    const answer = await send(urls, door.setUp);
    if (answer === undefined) return { acknowledged: 0, refusal: undefined };
    if (answer !== "good") return { acknowledged: 0, refusal: refusedAs("set up", answer) };
    model.isSetUp = true;
  }
  let acknowledged = 0;
  let batch = retry ?? nextBatch(model, random);
  for (;;) {
    model.send(batch);
    const answer = await send(urls, door.request(batch), random.next() >= NEW_CONNECTION_SHARE);
    if (answer === undefined) return { acknowledged, refusal: undefined };
    if (answer !== "good") return { acknowledged, refusal: refusedAs(`${batch.kind} batch ${batch.number}`, answer) };
    model.apply();
    model.acknowledged++;
    acknowledged++;
    if (acknowledged >= batchesMax) return { acknowledged, refusal: undefined };
    if (random.next() < 0.5) await Bun.sleep(random.next() * PAUSE_MS_MAX);
    batch = nextBatch(model, random);
  }
}

/** `undefined` when the connection broke before the status line was there: that line is the acknowledgement, whatever follows it. */
async function send({ baseUrl, grpcUrl }: ServerUrls, request: DoorRequest | GrpcRequest, keepalive = true): Promise<Answer> {
  if ("call" in request) return await request.call(grpcUrl);
  const { path, headers, body, goodStatus } = request;
  return await fetch(`${baseUrl}${path}`, { method: "POST", body, keepalive, ...(headers === undefined ? {} : { headers }) }).then(
    async (response) => {
      const text = await response.text().catch(() => "(the answer was cut off)");
      return response.status === goodStatus ? "good" : { refusal: `${response.status} ${text.slice(0, 500)}` };
    },
    () => undefined,
  );
}

function nextBatch(model: WriterModel, random: Random): Batch {
  const { writer, door } = model;
  const number = model.nextNumber++;
  const origins = [...model.origins.keys()];
  if (origins.length === 0 || door.changes.length === 0 || random.next() >= CHANGE_SHARE) {
    const seats = 1 + random.below(random.next() < LARGE_SHARE ? SEATS_MAX : SEATS_USUAL);
    return { writer, number, kind: "fresh", origin: number, seats };
  }
  // Mostly young rows, which are still in memory, and some old ones, which are in files.
  const among = random.next() < 0.7 ? Math.min(RECENT_ORIGINS, origins.length) : origins.length;
  const origin = origins[origins.length - 1 - random.below(among)]!;
  const rows = model.origins.get(origin)!;
  const kind = door.changes[random.below(door.changes.length)]!;
  const seats = kind === "delete" ? rows.seats : 1 + random.below(rows.seats);
  return { writer, number, kind: kindFor(kind, rows.versions.subarray(0, seats)), origin, seats };
}

/** A row that was deleted has no fields that a partial batch could leave as they are. */
function kindFor(kind: BatchKind, versions: Uint32Array): BatchKind {
  return kind === "partial" && versions.includes(0) ? "full" : kind;
}
