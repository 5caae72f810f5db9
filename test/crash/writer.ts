/** One connection of a crash campaign: sends batches one after the other until the server is gone. */
import type { Random } from "../../bench/macro/random.ts";
import { type Batch, type BatchKind, encodeBatch, SEATS_MAX } from "./batch.ts";
import type { WriterModel } from "./model.ts";

const GOOD_STATUS = 204;
const OVERWRITE_SHARE = 0.25;
const RECENT_ORIGINS = 30;
const LARGE_SHARE = 0.03;
const SEATS_USUAL = 200;
const PAUSE_MS_MAX = 8;

/** What ended a writer: the kill, or an answer that no client should get. */
export interface WriterEnd {
  readonly acknowledged: number;
  readonly refusal: string | undefined;
}

/**
 * Sends batches until a request fails or `batchesMax` were acknowledged. `retry` is sent first, as a client would send an unanswered batch
 * again.
 */
export async function writeUntilKilled(
  url: string,
  model: WriterModel,
  random: Random,
  retry: Batch | undefined,
  batchesMax: number = Number.POSITIVE_INFINITY,
): Promise<WriterEnd> {
  let acknowledged = 0;
  let batch = retry ?? nextBatch(model, random);
  for (;;) {
    model.send(batch);
    const answer = await post(url, encodeBatch(batch));
    if (answer === undefined) return { acknowledged, refusal: undefined };
    if (answer.status !== GOOD_STATUS) return { acknowledged, refusal: `batch ${batch.number}: ${answer.status} ${answer.text}` };
    model.apply();
    acknowledged++;
    if (acknowledged >= batchesMax) return { acknowledged, refusal: undefined };
    if (random.next() < 0.5) await Bun.sleep(random.next() * PAUSE_MS_MAX);
    batch = nextBatch(model, random);
  }
}

/** `undefined` when the connection broke before the whole answer was there. */
async function post(url: string, body: string): Promise<{ readonly status: number; readonly text: string } | undefined> {
  return await fetch(url, { method: "POST", body }).then(
    async (response) => {
      // The status line is the acknowledgement; a 204 has no body that could still be cut off.
      if (response.status === GOOD_STATUS) return { status: response.status, text: "" };
      const text = await response.text().catch(() => "(the answer was cut off)");
      return { status: response.status, text: text.slice(0, 500) };
    },
    () => undefined,
  );
}

function nextBatch(model: WriterModel, random: Random): Batch {
  const number = model.nextNumber++;
  const origins = [...model.origins.keys()];
  if (origins.length === 0 || random.next() >= OVERWRITE_SHARE) {
    const seats = 1 + random.below(random.next() < LARGE_SHARE ? SEATS_MAX : SEATS_USUAL);
    return { writer: model.writer, number, kind: "fresh", origin: number, seats };
  }
  // Mostly young rows, which are still in memory, and some old ones, which are in files.
  const among = random.next() < 0.7 ? Math.min(RECENT_ORIGINS, origins.length) : origins.length;
  const origin = origins[origins.length - 1 - random.below(among)]!;
  const kind: BatchKind = random.next() < 0.5 ? "full" : "partial";
  return { writer: model.writer, number, kind, origin, seats: 1 + random.below(model.origins.get(origin)!.seats) };
}
