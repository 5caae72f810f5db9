/** OpenTSDB's lines over TCP, as one request: put lines, and `exit`, after which the server closes once they are durable. */
import { connect } from "node:net";
import { nanosOf, type TableRows } from "./rows.ts";

const WAIT_MS_MAX = 30_000;

/** Sends rows. Returns what was said against them; empty when all are durable. @throws Error when the connection breaks */
export async function putLines(port: number, tables: readonly TableRows[]): Promise<string> {
  const lines = tables.flatMap(({ table, rows }) =>
    rows.map((row) => `put ${table} ${nanosOf(row).slice(0, -6)} ${row.value} id=${row.id}\n`),
  );
  const done = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("")}version\nexit\n`));
  const said: Buffer[] = [];
  socket.setTimeout(WAIT_MS_MAX, () => done.reject(new Error("a telnet connection got no answer")));
  socket.on("data", (bytes) => said.push(Buffer.from(bytes)));
  socket.on("error", (error) => done.reject(error));
  socket.on("close", () => done.resolve(Buffer.concat(said).toString()));
  try {
    const answers = (await done.promise).split("\n").filter((line) => line !== "");
    if (!answers.some((line) => line.startsWith("varve "))) throw new Error(`a telnet connection was closed: ${answers.join("; ")}`);
    return answers.filter((line) => !line.startsWith("varve ")).join("\n");
  } finally {
    socket.destroy();
  }
}
