/** Work on a message, whose failure is told to the client and does not end the server. */

/** Runs it and hands what it throws to `failed`. Rejects only where that throws. */
export async function guarded(work: () => Promise<void> | void, failed: (thrown: unknown) => void): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    failed(thrown);
  }
}
