/** The clients of a trial: writers that go on until they are answered, readers that hold every answer against what was promised before. */
import { errorText } from "../../src/base/error.ts";
import type { Random } from "../../bench/macro/random.ts";
import { checkBatches, checkKeys, noteSeen } from "./check.ts";
import type { Door } from "./door.ts";
import type { WriterModel } from "./model.ts";

/** How long clients wait, in milliseconds. */
export interface Patience {
  /** For one answer. */
  readonly attempt: number;
  /** For a request, with all its tries: no request that waits so long may fail. */
  readonly request: number;
  /** Between two tries, and between two requests. */
  readonly pause: number;
}

/** What a trial has in common. */
export interface Shared {
  readonly doors: readonly Door[];
  readonly patience: Patience;
  /** Broken promises so far. */
  readonly violations: string[];
  readonly figures: Figures;
  isOver: boolean;
}

/** What clients did. */
export interface Figures {
  acknowledged: number;
  /** Of them, those whose first try was answered: of these a copy more is a broken promise. */
  clear: number;
  retries: number;
  /** From the first try to the answer. */
  longestWriteMs: number;
  /** The same of queries that compare. */
  longestQueryMs: number;
  queries: number;
  batchesCompared: number;
  keysCompared: number;
}

/** Batches at the end that a reader looks at; all of them are compared now and then. */
const RECENT_BATCHES = 200;

/** Sends requests, one after the other, until the trial is over. */
export async function writeAlong(shared: Shared, model: WriterModel, random: Random): Promise<void> {
  while (!shared.isOver) {
    await writeOne(shared, model, random);
    await Bun.sleep(shared.patience.pause * random.next());
  }
}

async function writeOne({ doors, patience, violations, figures }: Shared, model: WriterModel, random: Random): Promise<void> {
  const request = model.next();
  const started = performance.now();
  for (let isFirst = true; ; isFirst = false) {
    const door = doors[random.below(doors.length)]!;
    model.sending(request);
    const written = await door.write(model.name, request, patience.attempt);
    const millis = performance.now() - started;
    if (written.kind === "acknowledged") {
      model.acknowledged(request);
      figures.acknowledged++;
      if (request.batch.attempts === 1) figures.clear++;
      if (!isFirst) figures.retries++;
      figures.longestWriteMs = Math.max(figures.longestWriteMs, millis);
      return;
    }
    if (written.kind === "unreached") model.didNotReach(request);
    else model.unclear(request);
    const what = `${model.name}: batch ${request.batch.number} by ${door.name}`;
    if (written.kind === "refused") violations.push(`${what} was refused: ${written.why}`);
    else if (millis > patience.request) violations.push(`${what} failed for ${millis.toFixed(0)} ms: ${written.why}`);
    else {
      await Bun.sleep(patience.pause);
      continue;
    }
    return;
  }
}

/** Compares what a writer's last requests left, again and again, until the trial is over. */
export async function readAlong(shared: Shared, models: readonly WriterModel[], random: Random): Promise<void> {
  while (!shared.isOver) {
    const model = models[random.below(models.length)]!;
    await compare(shared, model, Math.max(0, model.batches.length - RECENT_BATCHES), random);
    await Bun.sleep(shared.patience.pause * 2 * random.next());
  }
}

/** Compares batches of a writer from a number on, and all its keys, by any door that answers. */
export async function compare(shared: Shared, model: WriterModel, from: number, random: Random): Promise<void> {
  const { patience, violations, figures } = shared;
  const before = model.floor(from);
  const batches = await answered(shared, random, (door) => door.batches(model.name, from, patience.attempt));
  if (batches !== undefined) {
    violations.push(...checkBatches(before, model, batches.answer).map((text) => `${text} (by ${batches.door})`));
    figures.batchesCompared += before.promised.size;
    noteSeen(model, batches.answer, []);
  }
  const then = model.floor(from);
  const keys = await answered(shared, random, (door) => door.keys(model.name, patience.attempt));
  if (keys !== undefined) {
    violations.push(...checkKeys(then, model, keys.answer).map((text) => `${text} (by ${keys.door})`));
    figures.keysCompared += then.versions.length;
    noteSeen(model, [], keys.answer);
  }
}

/** Asks doors until one answers. Undefined when none did for too long, which is a broken promise. */
async function answered<T>(
  { doors, patience, violations, figures }: Shared,
  random: Random,
  ask: (door: Door) => Promise<T>,
): Promise<{ readonly answer: T; readonly door: string } | undefined> {
  const started = performance.now();
  for (;;) {
    const door = doors[random.below(doors.length)]!;
    try {
      const answer = await ask(door);
      figures.queries++;
      figures.longestQueryMs = Math.max(figures.longestQueryMs, performance.now() - started);
      return { answer, door: door.name };
    } catch (error) {
      const millis = performance.now() - started;
      if (millis > patience.request) {
        violations.push(`queries failed for ${millis.toFixed(0)} ms, the last one by ${door.name}: ${errorText(error)}`);
        return undefined;
      }
      await Bun.sleep(patience.pause);
    }
  }
}
