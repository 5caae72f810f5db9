/** What frontends ask each other about statements, as bytes: FORMAT.md. Whoever reads checks all of it. */
import type { KillOutcome } from "../../db/running-statements.ts";
import type { RunningStatement } from "../../query/system-facts.ts";
import { isWhole, ValueError, valueFields } from "../ownership/value-fields.ts";
import { ANSWER_BYTES_MAX, ANSWER_HEAD_BYTES, STATEMENT_BYTES_MAX, STATEMENTS_MAX } from "./limits.ts";

/** What all requests say. */
export interface StatementsAsk {
  /** Name of the frontend that is meant: another one may have its address since. */
  readonly to: string;
  /** The account whose statements they are; undefined: all. */
  readonly of: string | undefined;
}

/** What runs. */
export interface ListAsk extends StatementsAsk {
  /** Most bytes of the answer. */
  readonly bytes: number;
}

/** To end a statement. */
export interface KillAsk extends StatementsAsk {
  readonly id: string;
}

/** What runs there. */
export interface ListAnswer {
  /** Oldest first. */
  readonly statements: readonly RunningStatement[];
  /** Further ones. */
  readonly leftOut: number;
}

/** Of messages that are written now; a reader refuses others by name. */
const VERSION = 1;
const OUTCOMES: readonly unknown[] = ["killed", "none", "denied"] satisfies KillOutcome[];

type Bytes = Uint8Array<ArrayBuffer>;

/** A request as bytes. */
export function encodeAsk(ask: ListAsk | KillAsk): Bytes {
  return bytesOf({ v: VERSION, ...ask });
}

/** @throws ValueError */
export function decodeListAsk(body: Uint8Array): ListAsk {
  const fields = fieldsOf(body);
  const { bytes } = fields;
  if (!isWhole(bytes)) throw new ValueError("how long the answer may be is no number");
  return { ...askOf(fields), bytes };
}

function askOf({ to, of }: Readonly<Record<string, unknown>>): StatementsAsk {
  if (typeof to !== "string") throw new ValueError("it does not say which frontend it is for");
  if (of !== undefined && typeof of !== "string") throw new ValueError("whose statements it means is no text");
  return { to, of };
}

/** @throws ValueError */
export function decodeKillAsk(body: Uint8Array): KillAsk {
  const fields = fieldsOf(body);
  const { id } = fields;
  if (typeof id !== "string") throw new ValueError("it names no statement");
  return { ...askOf(fields), id };
}

/** The oldest of them, as many as an answer has room for. @param bytesMax most bytes of it, beside `ANSWER_BYTES_MAX` */
export function encodeListAnswer(statements: readonly RunningStatement[], bytesMax: number = ANSWER_BYTES_MAX): Bytes {
  const room = Math.min(bytesMax, ANSWER_BYTES_MAX) - ANSWER_HEAD_BYTES;
  const texts: string[] = [];
  let bytes = 0;
  for (const { id, database, query, client, startMillis } of statements) {
    if (texts.length === STATEMENTS_MAX) break;
    const text = JSON.stringify({ id, database, query, client, started: startMillis });
    const length = Buffer.byteLength(text);
    if (length > STATEMENT_BYTES_MAX) continue; // Of a name of a database that nobody has.
    if (bytes + length > room) break;
    texts.push(text);
    bytes += length;
  }
  const more = statements.length - texts.length;
  return new TextEncoder().encode(`{"v":${VERSION},"statements":[${texts.join(",")}],"more":${more}}`);
}

/** @param frontend name of who answers: ids of its statements begin with it @throws ValueError */
export function decodeListAnswer(bytes: Uint8Array, frontend: string): ListAnswer {
  const { statements, more } = fieldsOf(bytes);
  if (!Array.isArray(statements) || statements.length > STATEMENTS_MAX) throw new ValueError("its statements are no list, or too many");
  if (!isWhole(more)) throw new ValueError("how many more there are is no number");
  return { statements: (statements as unknown[]).map((each) => statementOf(each, frontend)), leftOut: more };
}

function statementOf(value: unknown, frontend: string): RunningStatement {
  if (typeof value !== "object" || value === null) throw new ValueError("one of its statements is no object");
  const { id, database, query, client, started } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || !id.startsWith(`${frontend}/`)) throw new ValueError("one of its statements has an id of another frontend");
  if (typeof database !== "string" || typeof query !== "string" || typeof client !== "string" || !isWhole(started)) {
    throw new ValueError("one of its statements is not told as they are");
  }
  return { id, frontend, database, query, client, startMillis: started };
}

/** What became of a statement, as bytes. */
export function encodeKillAnswer(outcome: KillOutcome): Bytes {
  return bytesOf({ v: VERSION, outcome });
}

/** @throws ValueError */
export function decodeKillAnswer(bytes: Uint8Array): KillOutcome {
  const { outcome } = fieldsOf(bytes);
  if (!OUTCOMES.includes(outcome)) throw new ValueError("what became of the statement is not said");
  return outcome as KillOutcome;
}

function bytesOf(value: object): Bytes {
  return new TextEncoder().encode(JSON.stringify(value));
}

function fieldsOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return valueFields(new TextDecoder().decode(bytes), VERSION);
}
