/**
 * What may be compressed, and how. Only what repeats nothing that was sent and holds no secret: otherwise the length would
 * tell, guess by guess, what stands beside the guess (BREACH).
 */

import { declareLength } from './headers.ts';

export function acceptsGzip(request: Request): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(
    request.headers.get('accept-encoding') ?? '',
  );
}

/**
 * RFC 1952. libdeflate takes whole texts, which is all there is here, at a fraction of what a zlib stream with its quarter
 * of a megabyte of state costs for each page.
 * @param level 1–12: the higher the smaller and slower
 */
export function gzip(content: string | Uint8Array<ArrayBuffer>, level: 6 | 12): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(content, { library: 'libdeflate', level });
}

/** A content that is the same for everyone, compressed once. */
export class SharedText {
  readonly text: string;
  #gzipped: Uint8Array<ArrayBuffer> | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** The answer with this content in place of its own, compressed where the client takes that; for HEAD with its length. */
  putInto({ status, headers }: Response, request: Request): Response {
    const isPacked = acceptsGzip(request);
    if (isPacked) this.#gzipped ??= gzip(this.text, 12);
    const content = (isPacked ? this.#gzipped : null) ?? this.text;
    const answer = new Response(content, { status, headers });
    answer.headers.append('vary', 'Accept-Encoding');
    if (isPacked) answer.headers.set('content-encoding', 'gzip');
    if (request.method === 'HEAD') declareLength(answer, content);
    return answer;
  }
}
