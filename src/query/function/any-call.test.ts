/** Every function with arguments of any types: a value, the same by loops and reference, or an error that says what is wrong. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { WINDOW_FUNCTION_NAMES } from "./family/window-functions.ts";
import { aggregateNames } from "./aggregate/registry.ts";
import { functionNames } from "./registry.ts";

const VALUES = String.raw`
  NULL; ''; 'äö😀'; '1.5'; '2024-02-29T12:34:56Z'; '{"a":[1]}'; '[1,2]'; 'POINT(1 2)'; '10.0.0.1'; '%Y'; 0; 1; -1; 64; 9223372036854775807;
  18446744073709551615; 1.5; 'NaN'::DOUBLE; '-inf'::DOUBLE; 7::TINYINT; 12.34::DECIMAL(10, 2); true; DATE '1960-02-29';
  '1969-12-31T23:59:59.999999999'::TIMESTAMP(9); '12:34:56'::TIME; INTERVAL '1 month -2 days'; arrow_cast(-90, 'Duration(Second)'); X'00ff';
  parse_json('{"a":1}'); parse_vec('[1,2]'); [1, NULL]; ['a']; []; {'a': 1}; MAP {'a': 1}; NULL::BIGINT; NULL::STRING`
  .split(";")
  .map((text) => text.trim());
const args = fc.array(fc.constantFrom(...VALUES), { maxLength: 3 });
/** What is another each time. */
const VOLATILE = new Set(["random", "rand", "uuid"]);

/** Rows as text, or the code of the error. @throws what is no error of the client's */
async function outcome(fixture: QueryFixture, text: string, forceInterpreter: boolean): Promise<string> {
  try {
    const { rows, types } = await fixture.sql(text, { forceInterpreter });
    const shown = rows.map((row) => row.map((value) => (value instanceof Uint8Array ? value.toHex() : String(value))).join());
    return `${types.join()} ${shown.join(";")}`;
  } catch (thrown) {
    if (!(thrown instanceof DbError) || thrown.code === StatusCode.Internal)
      throw new Error(`${text}: ${String(thrown)}`, { cause: thrown });
    expect([text, thrown.message]).toEqual([text, expect.not.stringMatching(/undefined|\[object|is not a function|TypeError/)]);
    return `error ${thrown.code}`;
  }
}

async function checkCalls(
  names: readonly string[],
  each: number,
  query: (name: string, given: readonly string[]) => string,
): Promise<void> {
  const fixture = new QueryFixture();
  const samples = fc.sample(args, { seed: 20241201, numRuns: names.length * each });
  let answered = 0;
  for (const [i, given] of samples.entries()) {
    const text = query(names[i % names.length] ?? "", given);
    const got = await outcome(fixture, text, false);
    expect([text, got]).toEqual([text, await outcome(fixture, text, true)]);
    if (!got.startsWith("error")) answered++;
  }
  // Most arguments go with no function; those that do are what is compared.
  expect(answered).toBeGreaterThan(names.length / 4);
}

test("calls of scalar functions", async () => {
  const names = functionNames().filter((name) => !VOLATILE.has(name));
  await checkCalls(names, 3, (name, given) => {
    const columns = given.map((_, i) => `c${i}`).join(", ");
    return given.length === 0 ? `SELECT ${name}()` : `SELECT ${name}(${columns}) FROM (VALUES (${given.join(", ")})) AS t (${columns})`;
  });
});

test("calls of aggregates and window functions", async () => {
  await checkCalls([...aggregateNames(), ...WINDOW_FUNCTION_NAMES], 5, (name, given) => {
    const columns = given.map((_, i) => `c${i}`);
    const over = given.length % 2 === 0 ? " OVER (ORDER BY k)" : "";
    const rows = [1, 2].map((k) => `(${[k, ...given].join(", ")})`).join(", ");
    return `SELECT ${name}(${columns.join(", ")})${over} FROM (VALUES ${rows}) AS t (${["k", ...columns].join(", ")})`;
  });
});
