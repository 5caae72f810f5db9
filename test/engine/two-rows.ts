import { put } from "./lines.ts";
import { Machine } from "./machine.ts";

/** A machine with table `cpu` of host, v and the time: hosts a and b with one row each, the first in a file and the second in memory. */
export async function twoRows(): Promise<Machine> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=b v=2i 2");
  return machine;
}
