import { expect } from "bun:test";
import { read } from "./lines.ts";
import type { Machine } from "./machine.ts";

/** The rows of table `cpu` are these now, and after a crash, after a flush, after a restart, and after a merge. */
export async function staysSo(machine: Machine, want: readonly string[]): Promise<void> {
  const check = async (): Promise<void> => expect(await read(machine.engine, "cpu")).toEqual([...want]);
  await check();
  await machine.crash();
  await check();
  await machine.engine.flushTable("public", "cpu");
  await check();
  await machine.restart();
  await check();
  await machine.engine.compactTable("public", "cpu");
  await check();
}
