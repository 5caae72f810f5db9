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

/** Gathers the messages of a list as they come. Invariant: `run` is parts 0, 1, … of one attempt, one behind the other. */
export class Gathering {
  private readonly name: string;
  private run: Part[] = [];
  private firstNumber = 0;

  /** @param name of the list, for messages */
  constructor(name: string) {
    this.name = name;
  }

  /**
   * Takes the next message of the list.
   *
   * @returns the entry that it makes whole
   * @throws DbError StorageUnavailable for a message that is no part, and for bytes that are no text
   */
  add({ number, bytes }: StreamMessage): GatheredEntry | undefined {
    const part = decodePart(bytes);
    if (typeof part === "string") throw broken(this.name, number, part);
    const before = this.run.at(-1);
    const continues = before !== undefined && part.attempt === before.attempt && part.index === before.index + 1;
    if (continues) this.run.push(part);
    else if (part.index === 0) {
      this.run = [part];
      this.firstNumber = number;
    } else this.run = []; // Its beginning was let go, or never came.
    if (this.run.length === 0 || this.run.length < part.count) return undefined;
    const text = textOf(this.name, number, this.run);
    this.run = [];
    return { number, firstNumber: this.firstNumber, text };
  }
}

/**
 * Gathers parts into entries. `messages` are all of a list above some entry, in order.
 *
 * @throws DbError StorageUnavailable for a message that is no part, and for bytes that are no text
 */
export function gatherEntries(name: string, messages: readonly StreamMessage[]): GatheredEntries {
  const gathering = new Gathering(name);
  return { entries: messages.flatMap((message) => gathering.add(message) ?? []), lastNumber: messages.at(-1)?.number ?? 0 };
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
