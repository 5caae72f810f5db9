/** grpcurl: what the port offers, by reflection; health; the native interface in JSON; who signs in. */
import { check, env, expectIn, programOf } from "./checks.ts";

const program = programOf("grpcurl");
const open = `127.0.0.1:${env("VARVE_GRPC")}`;
const secure = `127.0.0.1:${env("VARVE_GRPC_SECURE")}`;

async function said(args: readonly string[], status = 0): Promise<string> {
  const child = Bun.spawn([program ?? "", "-max-time", "20", ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, ended] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if ((status === 0) !== (ended === 0)) throw new Error(`it ended with ${ended}: ${out}${err}`);
  return out + err;
}

const ROWS = {
  rowInserts: {
    inserts: [
      {
        tableName: "grpcurl_rows",
        rows: {
          schema: [
            { columnName: "host", datatype: "STRING", semanticType: "TAG" },
            { columnName: "ts", datatype: "TIMESTAMP_MILLISECOND", semanticType: "TIMESTAMP" },
            { columnName: "x", datatype: "FLOAT64", semanticType: "FIELD" },
          ],
          rows: [{ values: [{ stringValue: "a" }, { timestampMillisecondValue: "1000" }, { f64Value: 1.5 }] }],
        },
      },
    ],
  },
};

function insert(header: object): string[] {
  return ["-plaintext", "-d", JSON.stringify({ header, ...ROWS }), "greptime.v1.GreptimeDatabase/Handle"];
}

function withAddress(args: readonly string[], address: string): string[] {
  return [...args.slice(0, -1), address, ...args.slice(-1)];
}

if (program === undefined) console.log("skip grpcurl: there is no grpcurl on this machine");
else {
  await check("grpcurl: services by reflection", async () => {
    const list = await said(["-plaintext", open, "list"]);
    for (const name of ["greptime.v1.GreptimeDatabase", "arrow.flight.protocol.FlightService", "grpc.health.v1.Health"])
      expectIn(list, name);
  });
  await check("grpcurl: a service and a message described", async () => {
    expectIn(await said(["-plaintext", open, "describe", "greptime.v1.GreptimeDatabase"]), "rpc Handle");
    expectIn(await said(["-plaintext", open, "describe", "greptime.v1.RowInsertRequest"]), "table_name");
  });
  await check("grpcurl: health", async () => {
    expectIn(await said(["-plaintext", open, "grpc.health.v1.Health/Check"]), "SERVING");
    expectIn(await said(["-plaintext", "-d", '{"service":"nowhere"}', open, "grpc.health.v1.Health/Check"], 1), "NotFound");
    await said(["-plaintext", open, "greptime.v1.HealthCheck/HealthCheck"]);
  });
  await check("grpcurl: rows", async () => expectIn(await said(withAddress(insert({ dbname: "public" }), open)), '"value": 1'));
  await check("grpcurl: an unknown method", async () =>
    expectIn(await said(["-plaintext", "-protoset-out", "/dev/null", open, "greptime.v1.GreptimeDatabase/Nothing"], 1), "not"),
  );
  await check("grpcurl: rows, signed in by the message", async () => {
    const basic = { username: env("VARVE_USER"), password: env("VARVE_PASSWORD") };
    expectIn(await said(withAddress(insert({ authorization: { basic } }), secure)), '"value": 1');
  });
  await check("grpcurl: rows, a wrong password", async () => {
    const basic = { username: env("VARVE_USER"), password: "wrong" };
    expectIn(await said(withAddress(insert({ authorization: { basic } }), secure), 1), "Unauthenticated");
  });
  await check("grpcurl: encrypted", async () =>
    expectIn(await said(["-cacert", env("VARVE_CA"), "-authority", "localhost", secure, "grpc.health.v1.Health/Check"]), "SERVING"),
  );
}
console.log("done");
