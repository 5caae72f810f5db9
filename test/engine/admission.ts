import { expect } from "bun:test";
import type { Machine } from "./machine.ts";

/** Memory is full and the machine's flushes are held: a writer waits, and goes on when one is let through. */
export async function waitsForFlush(machine: Machine, writer: { admit(): Promise<void> }): Promise<void> {
  let isAdmitted = false;
  const admitted = writer.admit().then(() => {
    isAdmitted = true;
  });
  while (machine.flushCount === 0) await Bun.sleep(1);
  await Bun.sleep(5);
  expect(isAdmitted).toBe(false);
  machine.releaseFlush();
  await admitted;
  expect(isAdmitted).toBe(true);
}
