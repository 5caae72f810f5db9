import { afterAll, describe, expect, test } from "bun:test";
import { DbError } from "../../../../base/error.ts";
import { PROMQL_TOKENS_MAX } from "../../../../base/limits.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { startFixture } from "../../../../../test/support/http-fixture.ts";

const { server, url, db } = await startFixture();
afterAll(() => server.stop(50));

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Sends a request; gives status, type and body. */
async function answerOf(path: string, init: RequestInit = {}): Promise<readonly [number, string | null, string]> {
  const response = await fetch(`${url}/v1/prometheus/api/v1/${path}`, init);
  return [response.status, response.headers.get("content-type"), await response.text()];
}

/** The answer to a query, over GET and POST alike. */
async function check(endpoint: string, query: string, status: number, body: string): Promise<void> {
  const form = new URLSearchParams({ query }).toString();
  const want = [status, "application/json", body] as const;
  expect(await answerOf(`${endpoint}?${form}`)).toEqual(want);
  expect(await answerOf(endpoint, { method: "POST", headers: FORM, body: form })).toEqual(want);
}

const SELECTOR = (name: string): string =>
  `{"anchored":false,"matchers":[{"name":"__name__","type":"=","value":"${name}"}],"name":"${name}","offset":0,"offsetExpr":null,` +
  '"smoothed":false,"startOrEnd":null,"timestamp":null,"type":"vectorSelector"}';

describe("format_query", () => {
  test("prints a query", async () => {
    await check("format_query", "foo/bar", 200, '{"status":"success","data":"foo / bar"}');
    await check("format_query", 'sum(x{a="é"})by(b)', 200, '{"status":"success","data":"sum by (b) (x{a=\\"é\\"})"}');
    await check("format_query", "sum by (b) # of all\n(\r\n\tx\n)", 200, '{"status":"success","data":"sum by (b) (x)"}');
    const long = "a".repeat(60);
    await check("format_query", `${long} + ${long}`, 200, `{"status":"success","data":"  ${long}\\n+\\n  ${long}"}`);
  });

  test("says what is wrong and where", async () => {
    const error = (what: string): string =>
      JSON.stringify({ status: "error", errorType: "bad_data", error: `invalid parameter "query": ${what}` });
    await check("format_query", "foo bar", 400, error('1:5: parse error: unexpected identifier "bar"'));
    await check("format_query", "sum(\n  foo # rows\n  bar\n)", 400, error('3:3: parse error: unexpected identifier "bar" in aggregation'));
    await check("format_query", '"é\n', 400, error("1:1: parse error: unterminated quoted string"));
    await check("format_query", 'x{a="é"} \r\n\t+ é', 400, error("2:4: parse error: unexpected character: 'é'"));
    await check("format_query", "foo\n\n\n(", 400, error("4:2: parse error: unclosed left parenthesis"));
    await check("format_query", " \n", 400, error("1:1: parse error: no expression found in input"));
    await check("format_query", "", 400, error("unknown position: parse error: no expression found in input"));
    const long = `label_join(up, "a", "b"${',"c"'.repeat(PROMQL_TOKENS_MAX)})`;
    const [status, , body] = await answerOf("format_query", { method: "POST", headers: FORM, body: new URLSearchParams({ query: long }) });
    expect([status, body]).toEqual([400, expect.stringContaining(`the query has more than ${PROMQL_TOKENS_MAX} words, names and signs`)]);
  });
});

describe("parse_query", () => {
  test("gives the tree", async () => {
    await check("parse_query", "# a comment\n\n up\n# another", 200, `{"status":"success","data":${SELECTOR("up")}}`);
    await check("parse_query", "up", 200, `{"status":"success","data":${SELECTOR("up")}}`);
    await check(
      "parse_query",
      "-(up)",
      200,
      `{"status":"success","data":{"expr":{"expr":${SELECTOR("up")},"type":"parenExpr"},"op":"-","type":"unaryExpr"}}`,
    );
  });

  test("says what is wrong and where", async () => {
    const error = 'invalid parameter "query": 1:6: parse error: expected type range vector in call to function "rate", got instant vector';
    await check("parse_query", "rate(up)", 400, JSON.stringify({ status: "error", errorType: "bad_data", error }));
  });
});

describe("parameters", () => {
  test("of the URL win over those of the form; without any the query is empty", async () => {
    const body = '{"status":"success","data":"url"}';
    expect(await answerOf("format_query?query=url", { method: "POST", headers: FORM, body: "query=form" })).toEqual([
      200,
      "application/json",
      body,
    ]);
    expect(await answerOf("format_query?other=x")).toMatchObject([400, "application/json", expect.stringContaining("no expression found")]);
  });

  test("that come twice, and forms of another type, are refused", async () => {
    const error = '{"status":"error","errorType":"bad_data","error":"the parameter \\"query\\" is there twice"}';
    expect(await answerOf("format_query?query=a&query=b")).toEqual([400, "application/json", error]);
    const [status] = await answerOf("format_query", { method: "POST", body: "query=a", headers: { "content-type": "text/plain" } });
    expect(status).toBe(415);
  });

  test("are read for who may read", async () => {
    db.authorize = () => {
      throw new DbError(StatusCode.PermissionDenied, "no");
    };
    const answers = [await answerOf("format_query?query=a"), await answerOf("parse_query?query=a")];
    Reflect.deleteProperty(db, "authorize");
    for (const answer of answers)
      expect(answer).toEqual([403, "application/json", '{"status":"error","errorType":"bad_data","error":"no"}']);
  });
});
