/** Certificates of the cluster that are read again: who is told, and what is kept. */
import { beforeAll, expect, test } from "bun:test";
import { type Authority, certificateAuthority, type SignedCertificate } from "../../../test/support/certificate-authority.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type InternalPems, RereadCertificates } from "./reread-certificates.ts";

let authority: Authority;
let first: SignedCertificate;
let second: SignedCertificate;
beforeAll(async () => {
  authority = await certificateAuthority();
  first = await authority.signed("first", 2);
  second = await authority.signed("second", 2);
});

interface Files {
  now: () => InternalPems;
  readonly certificates: RereadCertificates;
  readonly told: (string | undefined)[];
  readonly over: string[];
  readonly lines: () => readonly string[];
}

function filesOf(more: { readonly watch?: boolean } = {}): Files {
  const { logger, entries } = recordingLogger();
  const pems = { ca: authority.ca, ...first };
  const told: (string | undefined)[] = [];
  const over: string[] = [];
  const certificates = new RereadCertificates({
    pems,
    read: () => files.now(),
    watch: more.watch ?? false,
    logger,
    onOver: (why) => void over.push(why),
    pollMillis: 5,
  });
  const lines = (): readonly string[] => entries.map(({ level, message }) => `${level} ${message}`);
  const files: Files = { now: () => pems, certificates, told, over, lines };
  certificates.use(({ cert }) => void told.push(cert));
  return files;
}

test("all who use them are told of new ones once, and the log says whose they are", () => {
  const files = filesOf();
  expect([files.certificates.reload(), files.told]).toEqual([true, []]);
  files.now = () => ({ ca: authority.ca, ...second });
  expect([files.certificates.reload(), files.certificates.reload(), files.told]).toEqual([true, true, [second.cert]]);
  expect(files.lines()).toEqual([
    "info the cluster's certificate is as it was",
    "info new connections within the cluster have the new certificate",
    "info the cluster's certificate is as it was",
  ]);
});

test("what cannot be read, is no certificate or has another key is not taken, and the last ones stay", () => {
  const files = filesOf();
  for (const bad of [
    () => {
      throw new Error("cannot read cert.pem, which `cluster.tls.cert_path` names: it is not there");
    },
    () => ({ ca: authority.ca, cert: "none", key: first.key }),
    () => ({ ca: authority.ca, cert: second.cert, key: first.key }),
    () => ({ ca: "none", ...second }),
  ]) {
    files.now = bad;
    expect(files.certificates.reload()).toBe(false);
  }
  expect(files.told).toEqual([]);
  expect(files.lines()).toEqual(Array.from({ length: 4 }, () => "warn cannot use the cluster's new certificate: the last one stays"));
  files.now = () => ({ ca: authority.ca, ...second });
  expect([files.certificates.reload(), files.told]).toEqual([true, [second.cert]]);
});

test("files that are watched are taken when they change; what is wrong is said once", async () => {
  const files = filesOf({ watch: true });
  files.now = () => ({ ca: authority.ca, cert: "half", key: first.key });
  await Bun.sleep(60);
  files.now = () => ({ ca: authority.ca, ...second });
  while (files.told.length === 0) await Bun.sleep(5);
  files.certificates.close();
  expect(files.lines()).toEqual([
    "warn cannot use the cluster's new certificate: the last one stays",
    "info new connections within the cluster have the new certificate",
  ]);
});

test("a listener that lost its port ends the process", () => {
  const files = filesOf();
  files.certificates.use(() => {
    throw new DbError(StatusCode.StorageUnavailable, "cannot listen to the cluster");
  });
  files.now = () => ({ ca: authority.ca, ...second });
  expect([files.certificates.reload(), files.over]).toEqual([false, ["cannot listen to the cluster"]]);
});
