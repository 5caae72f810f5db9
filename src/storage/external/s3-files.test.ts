import { afterEach, beforeEach, expect, test } from "bun:test";
import { FakeS3 } from "../../../test/support/fake-s3.ts";
import type { FileAccess, FileConnection } from "../../table/file-access.ts";
import { UPLOAD_PART_BYTES } from "./limits.ts";
import { s3Files } from "./s3-files.ts";
import { signedHeaders } from "../s3/signature.ts";
import { StoreNetwork } from "./store-network.ts";

let store: FakeS3;
let connection: FileConnection;
let files: FileAccess;

beforeEach(() => {
  store = new FakeS3();
  files = s3Files(new StoreNetwork([store.endpoint]));
  connection = { endpoint: store.endpoint, access_key_id: "key", secret_access_key: "hush", region: "r" };
});
afterEach(() => store.close());

async function rejects(promise: Promise<unknown>, why: string | RegExp): Promise<void> {
  let thrown: unknown;
  await promise.catch((error: unknown) => (thrown = error));
  const text = thrown instanceof Error ? thrown.message : "it was taken";
  expect(text).toMatch(why);
  expect(text).not.toContain("hush");
}

test("writes an object and reads it, whole and in part", async () => {
  const file = await files.create("s3://bucket/a/b.csv", connection);
  await file.write(new TextEncoder().encode("hello "));
  await file.write(new TextEncoder().encode("world"));
  expect([...store.objects.keys()]).toEqual([]);
  await file.finish();
  expect([...store.objects.keys()]).toEqual(["bucket/a/b.csv"]);
  const open = await files.open("s3://bucket/a/b.csv", connection);
  expect(open).toMatchObject({ name: "b.csv", byteLength: 11 });
  expect(new TextDecoder().decode(await open.read(6, 5))).toBe("world");
  expect(new TextDecoder().decode(await open.read(0, 11))).toBe("hello world");
  await open.close();
});

test("uploads what is large in parts, in order", async () => {
  const piece = new Uint8Array(1024 * 1024);
  const file = await files.create("s3://bucket/big", connection);
  const pieces = (UPLOAD_PART_BYTES / piece.length) * 2 + 3;
  for (let i = 0; i < pieces; i++) await file.write(piece.fill(i));
  await file.finish();
  const object = store.objects.get("bucket/big");
  expect(object?.length).toBe(pieces * piece.length);
  expect(object?.[piece.length * 20]).toBe(20);
  expect(store.uploads.size).toBe(0);
});

test("lists a folder, over several answers, without what lies deeper or is hidden", async () => {
  for (const key of ["f/c", "f/a", "f/b", "f/.hidden", "f/deep/x", "g"]) store.objects.set(`bucket/${key}`, new Uint8Array(3));
  const found = await files.list("s3://bucket/f/", connection);
  expect(found.map(({ location, name, byteLength }) => [location, name, byteLength])).toEqual([
    ["s3://bucket/f/a", "a", 3],
    ["s3://bucket/f/b", "b", 3],
    ["s3://bucket/f/c", "c", 3],
  ]);
  const rooted = await files.list("s3:///", { ...connection, bucket: "bucket", root: "/f/" });
  expect(rooted.map(({ location }) => location)).toEqual(["s3:///a", "s3:///b", "s3:///c"]);
});

test("leaves no object when it is abandoned", async () => {
  const file = await files.create("s3://bucket/big", connection);
  for (let i = 0; i < 20; i++) await file.write(new Uint8Array(1024 * 1024));
  await file.abort();
  expect([...store.objects.keys()]).toEqual([]);
  expect(store.uploads.size).toBe(0);
  const small = await files.create("s3://bucket/small", connection);
  await small.write(new Uint8Array(10));
  await small.abort();
  expect([...store.objects.keys()]).toEqual([]);
});

test("fails when the store fails half way", async () => {
  store.failPart = 2;
  const file = await files.create("s3://bucket/big", connection);
  const writes = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await file.write(new Uint8Array(1024 * 1024));
    await file.finish();
  };
  await rejects(writes(), /cannot write 's3:\/\/bucket\/big': the store answered 500 InternalError/);
  await file.abort();
  expect([...store.objects.keys()]).toEqual([]);
});

test("says what the store refused", async () => {
  await rejects(files.open("s3://bucket/none", connection), /cannot read 's3:\/\/bucket\/none'/);
  await rejects(files.open("s3://bucket/x", { ...connection, access_key_id: "other" }), /cannot read 's3:\/\/bucket\/x'/);
  await rejects(files.list("s3://bucket/x/", { endpoint: store.endpoint }), /give access_key_id and secret_access_key/);
  await rejects(files.open("s3:///x", connection), /names no bucket/);
  await rejects(files.open("azblob://c/x", connection), /no client for azblob/);
  await rejects(files.open("s3://b/x", { ...connection, colour: "red" }), /Unrecognized connection option key: colour/);
  await rejects(files.open("s3://b/x", { ...connection, enable_virtual_host_style: "perhaps" }), /use 'true' or 'false'/);
  await rejects(files.create("s3://bucket/f/", connection), /it is a folder/);
});

test("keys that paths would resolve, and names that are no bucket, are refused", async () => {
  await rejects(files.open("s3://bucket/a/../b", connection), /may not have '\.' or '\.\.'/);
  await rejects(files.open("s3://bucket/./b", connection), /may not have '\.' or '\.\.'/);
  await rejects(files.open("s3://a@b/x", connection), /no bucket has such a name/);
  await rejects(files.open("s3://b/x", { ...connection, endpoint: "http://u:p@h" }), /it is no origin/);
  await rejects(files.open("s3://b/x", { ...connection, region: "r/../s" }), /it is no name/);
});

test("keys of any characters are sent as they are signed", async () => {
  const key = "bucket/a b/+c&d='é*(1)!?#%2F.csv";
  const file = await files.create(`s3://${key}`, connection);
  await file.write(new Uint8Array(3));
  await file.finish();
  expect([...store.objects.keys()]).toEqual([key]);
  expect((await files.list("s3://bucket/a b/", connection)).map(({ location }) => location)).toEqual([`s3://${key}`]);
});

test("the server's own credentials are never used, nor sent", async () => {
  const own = {
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "server-secret",
    AWS_SESSION_TOKEN: "server-token",
    S3_SESSION_TOKEN: "server-token",
  };
  const before = Object.keys(own).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, own);
  try {
    await rejects(files.list("s3://bucket/x", { endpoint: store.endpoint }), /give access_key_id and secret_access_key/);
    expect(store.requests).toEqual([]);
    await files.list("s3://bucket/x/", connection);
    expect(store.requests.length).toBe(1);
    expect(JSON.stringify(store.requests)).not.toContain("server-token");
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

test("a session token of the statement is sent and signed", async () => {
  await files.list("s3://bucket/x/", { ...connection, session_token: "mine" });
  expect(store.requests[0]?.get("x-amz-security-token")).toBe("mine");
  expect(store.requests[0]?.get("authorization")).toContain("x-amz-security-token");
});

test("signs as the runtime's client does", async () => {
  const client = new Bun.S3Client({
    endpoint: store.endpoint,
    bucket: "b",
    accessKeyId: "key",
    secretAccessKey: "hush",
    sessionToken: "t",
    region: "r",
  });
  store.objects.set("b/a b/c", new Uint8Array(1));
  await client.file("a b/c").stat();
  const theirs = store.requests[0];
  const date = theirs?.get("x-amz-date") ?? "";
  const millis = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));
  const request = { method: "HEAD", host: new URL(store.endpoint).host, path: "/b/a%20b/c", query: {} };
  const ours = signedHeaders(request, { accessKeyId: "key", secretAccessKey: "hush", sessionToken: "t", region: "r" }, millis);
  expect(ours["authorization"]).toBe(theirs?.get("authorization") ?? "");
});
