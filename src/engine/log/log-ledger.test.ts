import { tableId } from "../../base/units.ts";
import { expect, test } from "bun:test";
import { LogLedger } from "./log-ledger.ts";

/** Tables with the sequence up to which they are flushed; others are gone. */
function flushed(sequences: Readonly<Record<number, number>>): { flushedSequence(tableId: number): number } {
  return { flushedSequence: (tableId) => sequences[tableId] ?? Number.POSITIVE_INFINITY };
}

function ledgerWith(...notes: readonly (readonly [segment: number, table: number, sequence: number])[]): LogLedger {
  const ledger = new LogLedger();
  for (const [segment, table, sequence] of notes) ledger.note(segment, tableId(table), sequence);
  return ledger;
}

test("the oldest segment with rows that are not in files is needed", () => {
  const ledger = ledgerWith([1, 10, 1], [1, 11, 2], [2, 10, 3], [3, 11, 4]);
  expect(ledger.oldestNeeded(flushed({ 10: 0, 11: 0 }), 3)).toBe(1);
  expect(ledger.oldestNeeded(flushed({ 10: 1, 11: 1 }), 3)).toBe(1);
  expect(ledger.oldestNeeded(flushed({ 10: 1, 11: 2 }), 3)).toBe(2);
  expect(ledger.oldestNeeded(flushed({ 10: 3, 11: 2 }), 3)).toBe(3);
});

test("the segment being written is needed although all its rows are in files", () => {
  expect(ledgerWith([1, 10, 1], [2, 10, 2]).oldestNeeded(flushed({ 10: 9 }), 2)).toBe(2);
});

test("without notes the head is the oldest that is needed", () => {
  expect(new LogLedger().oldestNeeded(flushed({}), 7)).toBe(7);
});

test("a table's largest sequence in a segment counts", () => {
  const ledger = ledgerWith([1, 10, 5], [1, 10, 3]);
  expect(ledger.oldestNeeded(flushed({ 10: 4 }), 2)).toBe(1);
  expect(ledger.oldestNeeded(flushed({ 10: 5 }), 2)).toBe(2);
});

test("dropped tables hold nothing", () => {
  const ledger = ledgerWith([1, 10, 1], [1, 11, 2]);
  expect(ledger.oldestNeeded(flushed({ 10: 1 }), 2)).toBe(2);
});

test("holders are the tables that keep the oldest segment before the head", () => {
  const ledger = ledgerWith([1, 10, 1], [1, 11, 2], [2, 12, 3], [3, 10, 4]);
  expect(ledger.holders(flushed({ 10: 1, 11: 0, 12: 0 }), 3)).toEqual([tableId(11)]);
  expect(ledger.holders(flushed({ 10: 0, 11: 0, 12: 0 }), 3)).toEqual([tableId(10), tableId(11)]);
  expect(ledger.holders(flushed({ 10: 1, 11: 2, 12: 0 }), 3)).toEqual([tableId(12)]);
  expect(ledger.holders(flushed({ 10: 1, 11: 2, 12: 3 }), 3)).toEqual([]);
});

test("a segment that is forgotten can be noted again", () => {
  const ledger = ledgerWith([1, 10, 1]);
  expect(ledger.oldestNeeded(flushed({ 10: 1 }), 2)).toBe(2);
  ledger.note(2, tableId(10), 2);
  expect(ledger.oldestNeeded(flushed({ 10: 1 }), 3)).toBe(2);
});
