/** VARVE_TEST_SHARDS=3: every engine and server of the tests that does not ask for another number has so many shards. */
export const TEST_SHARDS: number = Number(process.env["VARVE_TEST_SHARDS"] ?? process.env["VARVE_REMOTE"] ?? "1");
