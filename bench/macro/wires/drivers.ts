/** A result through the drivers that applications use, which build an object a row: pg and mysql2 with their defaults. */
import { createConnection } from "mysql2/promise";
import { Client } from "pg";
import type { WireAddress } from "./wire-plan.ts";

/** Runs a text and returns the rows that the driver made. @throws Error of the driver */
export async function driverRows({ wire, port, user, database }: WireAddress, text: string): Promise<number> {
  if (wire === "mysql") {
    const connection = await createConnection({ host: "127.0.0.1", port, user, database });
    const [rows] = await connection.query(text);
    await connection.end();
    return Array.isArray(rows) ? rows.length : 0;
  }
  const client = new Client({ host: "127.0.0.1", port, user, database });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows.length;
}
