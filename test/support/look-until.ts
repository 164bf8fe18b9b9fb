const pauseMs = 10;
const limitMs = 30_000;

/** What `look` sees, once it is so. Rejects after 30 s: a count of looks alone would end sooner the faster they are. */
export async function lookUntil<Seen>(
  what: string,
  look: () => Promise<Seen>,
  isSo: (seen: Seen) => boolean,
): Promise<Seen> {
  const startMs = performance.now();
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (performance.now() - startMs > limitMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resume) => setTimeout(resume, pauseMs));
  }
}
