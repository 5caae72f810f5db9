/** Entries out of the messages of a list: whole ones, and what attempts that did not come to their end left between them. */
import { utf8Text } from "../../base/bytes/utf8.ts";
import { corrupted, type DbError } from "../../base/error.ts";
import type { LogEntry } from "../../storage/meta-store/conditional-log.ts";
import type { StreamMessage } from "../port/message.ts";
import { decodePart, type Part } from "./part.ts";

/** A whole entry, and where it begins. */
export interface GatheredEntry extends LogEntry {
  /** Number of its first message. */
  readonly firstNumber: number;
}

/** What a list holds. */
export interface GatheredEntries {
  readonly entries: readonly GatheredEntry[];
  /** Number of the last message, whatever it is; 0 if there is none. */
  readonly lastNumber: number;
}

/**
 * Gathers parts into entries. `messages` are all of a list above some entry, in order.
 *
 * @throws DbError StorageUnavailable for a message that is no part, and for bytes that are no text
 */
export function gatherEntries(name: string, messages: readonly StreamMessage[]): GatheredEntries {
  const entries: GatheredEntry[] = [];
  let run: Part[] = [];
  let firstNumber = 0;
  for (const { number, bytes } of messages) {
    const part = decodePart(bytes);
    if (typeof part === "string") throw broken(name, number, part);
    const before = run.at(-1);
    const continues = before !== undefined && part.attempt === before.attempt && part.index === before.index + 1;
    if (continues) run.push(part);
    else if (part.index === 0) {
      run = [part];
      firstNumber = number;
    } else run = []; // Its beginning was let go, or never came.
    if (run.length > 0 && run.length === part.count) {
      entries.push({ number, firstNumber, text: textOf(name, number, run) });
      run = [];
    }
  }
  return { entries, lastNumber: messages.at(-1)?.number ?? 0 };
}

function textOf(name: string, number: number, parts: readonly Part[]): string {
  const text = utf8Text(Buffer.concat(parts.map(({ bytes }) => bytes)));
  if (text === undefined) throw broken(name, number, "it is no UTF-8");
  return text;
}

function broken(name: string, number: number, why: string): DbError {
  const corruption = { file: `${name}, message ${number}`, offset: undefined, kind: "structure" } as const;
  return corrupted(`cannot read message ${number} of ${name}: ${why}`, corruption);
}
