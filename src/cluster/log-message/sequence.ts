/**
 * Sequences of rows in a shard: the order of its log. A record's is the number of its message and its place there; one that is cut into
 * parts has that of its last.
 */
import { assert } from "../../base/assert.ts";
import { MESSAGE_RECORDS_MAX } from "./log-message.ts";

/** Sequences of a message: more than it can have records. Numbers of messages up to 2^41 have sequences that a double holds. */
export const SEQUENCES_A_MESSAGE = 4096;

assert(MESSAGE_RECORDS_MAX < SEQUENCES_A_MESSAGE, "places of records fit the sequences of a message");

/** Sequence of the record at a place, from 0, of the message of a number. */
export function sequenceOf(number: number, place: number): number {
  return number * SEQUENCES_A_MESSAGE + place;
}

/** Number of the message that a sequence's record came with. */
export function messageOf(sequence: number): number {
  return Math.floor(sequence / SEQUENCES_A_MESSAGE);
}
