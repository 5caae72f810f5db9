/** `bun run test:import --rows 10000000`: an import of that size, killed and stopped on its way, has each row once. */
import { parseArgs } from "node:util";
import { TestServer } from "../support/server-process.ts";
import { importWithKills, sumOf } from "./resume.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    millis: { type: "string", default: "3000" },
    append: { type: "boolean", default: false },
  },
});
const rows = Number(values.rows);
await using server = await TestServer.start();
const found = await importWithKills(server, rows, Number(values.millis), values.append);
const isWhole = found.rows === rows && found.sum === sumOf(rows);
const times = `${found.kills} kills, ${found.stops} stops, ${found.refusals} refusals, ${found.seconds.toFixed(0)} s`;
console.log(`${isWhole ? "each row once" : "WRONG"}: ${found.rows} of ${rows} rows, sum ${found.sum}; ${times}`);
process.exitCode = isWhole ? 0 : 1;
