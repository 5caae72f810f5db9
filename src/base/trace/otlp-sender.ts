/** Sends spans to a collector, or to a server such as this one, by OTLP over HTTP. */
import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";
import type { SendSpans } from "./tracer.ts";

/** Longest that a batch may take, in milliseconds. */
const SEND_MS_MAX = 10_000;
/** Says that the export itself is not recorded: an id that no trace has, and no flags. */
const UNRECORDED = "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-00";

/** @param endpoint an http(s) URL, possibly with a name and a password, which are then sent as credentials */
export function otlpSender(endpoint: string): SendSpans {
  const url = new URL(endpoint);
  const { username, password } = url;
  url.username = "";
  url.password = "";
  const headers: Record<string, string> = { "content-type": "application/x-protobuf", traceparent: UNRECORDED };
  if (username !== "") {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers["authorization"] = `Basic ${Buffer.from(pair, "utf8").toString("base64")}`;
  }
  return async (body) => {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(SEND_MS_MAX) });
    await response.arrayBuffer(); // so that the connection may be used again
    if (!response.ok) throw new DbError(StatusCode.External, `cannot send traces to ${url.host}: it answers ${response.status}`);
  };
}
