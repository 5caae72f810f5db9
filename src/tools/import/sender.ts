/**
 * Sends pieces over several connections, as fast as the server takes them, and keeps count.
 *
 *   pieces, in order ─► at most `connections` on their way ─► acknowledged, in any order ─► state
 *
 * 429 and 503 are waited out as the server says; so is a server that is gone for a while. Rows that go into a table that keeps every row
 * are sent again only where the server said that it has not written them, and such pieces go one at a time: then one at most is in doubt.
 */
import type { Client } from "../common/client.ts";
import { Refusal, refusalOf } from "../common/refusal.ts";
import { pause, waitMillis } from "../common/retry.ts";
import type { Piece, Source } from "./source.ts";
import type { ImportState } from "./state.ts";

/** Tries of one piece. Reason: with waits of up to 5 s a server may restart, and one that is gone for good ends the import. */
const TRIES_MAX = 30;
/** Answers that say that nothing was written. */
const UNWRITTEN: ReadonlySet<number> = new Set([429, 503]);

/** What sending goes by. */
export interface SendParts {
  readonly client: Client;
  readonly state: ImportState;
  readonly connections: number;
  /** No further piece is begun once it fires. */
  readonly stopped: AbortSignal;
  /** Tables that keep every row, of a database. */
  readonly appendTables: (database: string) => Promise<ReadonlySet<string>>;
  /** Told after each piece. */
  readonly onPiece: (piece: Piece, isNew: boolean) => void;
  /** Told of pieces that the server took in part; absent: such a piece ends the import. */
  readonly onBadRows?: ((piece: Piece, refusal: Refusal) => void) | undefined;
}

/** A piece of which nobody knows whether its rows are there, in a table that keeps every row. */
class InDoubt extends Error {
  override readonly name = "InDoubt";
}

/** Sends all pieces that are left. @returns whether all were sent @throws Refusal, InDoubt, and what reading throws */
export async function sendAll(source: Source, parts: SendParts): Promise<boolean> {
  const { state, stopped } = parts;
  const sending = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const oneByOne = new OneByOne();
  const pieces = source.pieces(state.start);
  try {
    while (!stopped.aborted && failures.length === 0) {
      const next = await pieces.next();
      if (next.done === true) break;
      const piece = next.value;
      if (source.isStable !== false && state.isDone(piece)) {
        await state.finish(piece, 0);
        parts.onPiece(piece, false);
        continue;
      }
      const task: Promise<void> = sendPiece(piece, parts, oneByOne)
        .catch((thrown: unknown) => void failures.push(thrown))
        .finally(() => sending.delete(task));
      sending.add(task);
      if (sending.size >= parts.connections) await Promise.race(sending);
    }
  } finally {
    await Promise.all(sending); // Each of them ends: what it throws is among the failures.
    await pieces.return(undefined);
  }
  if (failures.length > 0) throw failures[0];
  return !stopped.aborted;
}

/** Lets one go at a time; behind one that failed nobody goes. */
class OneByOne {
  private last: Promise<void> = Promise.resolve();

  async run(work: () => Promise<void>): Promise<void> {
    const mine = this.last.then(work);
    this.last = mine;
    await mine;
  }
}

async function sendPiece(piece: Piece, parts: SendParts, oneByOne: OneByOne): Promise<void> {
  const append = await parts.appendTables(piece.database);
  const keepsEveryRow = append.size > 0 && [...piece.tables()].some((table) => append.has(table));
  if (keepsEveryRow) await oneByOne.run(() => sendTillTaken(piece, parts, true));
  else await sendTillTaken(piece, parts, false);
}

async function sendTillTaken(piece: Piece, parts: SendParts, keepsEveryRow: boolean): Promise<void> {
  const { state } = parts;
  await state.begin(piece, keepsEveryRow);
  for (let attempt = 1; ; attempt++) {
    const refusal = await sendOnce(piece, parts);
    if (refusal === undefined) break;
    if (refusal.status === 400 && parts.onBadRows !== undefined) {
      parts.onBadRows(piece, refusal);
      break;
    }
    const isUnwritten = UNWRITTEN.has(refusal.status) || refusal.isUnsent;
    if (keepsEveryRow && refusal.isPassing && !isUnwritten) throw inDoubt(piece, refusal);
    if (!refusal.isPassing || attempt === TRIES_MAX || parts.stopped.aborted) {
      if (isUnwritten || !refusal.isPassing) await state.refuse(piece);
      throw placed(piece, refusal);
    }
    // A stop ends the wait, and the next try then ends it all.
    await pause(waitMillis(attempt, refusal.retryAfterMillis), parts.stopped).catch((thrown: unknown) => {
      if (!parts.stopped.aborted) throw thrown;
    });
  }
  await state.finish(piece, piece.rowCount);
  parts.onPiece(piece, true);
}

/** One try. @returns why it failed */
async function sendOnce(piece: Piece, { client }: SendParts): Promise<Refusal | undefined> {
  const separator = piece.path.includes("?") ? "&" : "?";
  const path = `${piece.path}${separator}db=${encodeURIComponent(piece.database)}`;
  try {
    const response = await client.send(path, { headers: piece.headers, body: piece.body });
    if (!response.ok) return await refusalOf(response);
    await response.bytes();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
}

function placed(piece: Piece, refusal: Refusal): Refusal {
  const { status, code } = refusal;
  return new Refusal(`at ${piece.place}: ${refusal.message}`, { status, code, cause: refusal });
}

function inDoubt(piece: Piece, refusal: Refusal): InDoubt {
  const tables = [...piece.tables()].join(", ");
  return new InDoubt(
    `at ${piece.place}: ${refusal.message}: ${piece.rowCount} rows may be in ${tables} or not, and it keeps every row; ` +
      "run the import again with --in-doubt send or --in-doubt skip",
    { cause: refusal },
  );
}
