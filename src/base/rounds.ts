/**
 * Long work on one thread takes turns: one piece of work a round of the event loop, in the order in which they gave way. With a plain
 * `setImmediate` each, all of them would work in every round, and sockets would be looked at once in 200 pieces of 10 ms.
 *
 *   round   sockets, files, timers ─► one piece of work, up to 10 ms ─► sockets, files, timers ─► the next …
 *
 * Each waits on an immediate of its own, so that none depends on another's. All of them may be held up, for what goes before.
 */
import { systemClock } from "./clock.ts";

/** Milliseconds after which a round is over in any case. */
const ROUND_MILLIS_MAX = 50;

/** As many as there is work that gave way. */
const waiting: (() => void)[] = [];
/** Whether this round has had its piece of work, and since when. */
let isTaken = false;
let takenAt = 0;

/** What goes before all of it. */
let held: Promise<void> | undefined;

/** Gives way: resolves in a later round of the event loop, after all that gave way before. */
export function nextRound(): Promise<void> {
  return held === undefined ? oneRound() : held.then(oneRound);
}

/** Holds up what gives way from now on until `end`, which never rejects and is not far. */
export function holdRounds(end: Promise<void>): void {
  held = end;
  void end.then(() => {
    if (held === end) held = undefined;
  });
}

function oneRound(): Promise<void> {
  return new Promise<void>((resolve) => {
    waiting.push(resolve);
    setImmediate(pass);
  });
}

function pass(): void {
  const now = systemClock.monotonicMillis();
  if (isTaken && now - takenAt < ROUND_MILLIS_MAX) {
    setImmediate(pass);
    return;
  }
  isTaken = true;
  takenAt = now;
  setImmediate(endRound); // Before those of this round that were put off.
  waiting.shift()?.();
}

function endRound(): void {
  isTaken = false;
}
