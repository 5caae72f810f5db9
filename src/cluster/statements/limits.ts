/** Limits of what frontends ask each other. */
import { assert } from "../../base/assert.ts";
import { FRONTENDS_MAX } from "../ownership/limits.ts";

/** How long a frontend waits for another's answer. Reason: people look at the list, and one that is dead holds its lease for 3 s. */
export const ANSWER_MILLIS = 2000;

/** Most bytes of a request: an id, and the name of an account. Error: HTTP 413. */
export const ASK_BYTES_MAX: number = 64 * 1024;

/** Most statements of one answer: the oldest; the others are counted. */
export const STATEMENTS_MAX = 1000;

/** Most bytes of one statement in an answer; a longer one is left out. */
export const STATEMENT_BYTES_MAX: number = 64 * 1024;

/** Most bytes of an answer; who asks may want fewer. Reason: each statement may have 4,096 characters. */
export const ANSWER_BYTES_MAX: number = 4 * 1024 * 1024;

/** Most bytes of the answers to one question. Reason: there may be 256 frontends, each of which gets its share. */
export const ANSWERS_BYTES_MAX: number = 64 * 1024 * 1024;

/** Requests whose bodies a frontend reads at a time; further ones are refused. Error: HTTP 429. */
export const ASKED_MAX = 64;

/** Names of frontends that one line tells. */
export const NAMES_TOLD_MAX = 8;

/** Bytes of an answer beside its statements, and a comma behind each. */
export const ANSWER_HEAD_BYTES: number = 128 + STATEMENTS_MAX;

assert(ANSWERS_BYTES_MAX / FRONTENDS_MAX >= ANSWER_HEAD_BYTES + STATEMENT_BYTES_MAX, "each frontend's share has room for a statement");
