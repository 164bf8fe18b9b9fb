import { malformed } from './problem.ts';

/** More parts than any form here has. Parts cost a parser more than bytes do (P21). */
const mostParts = 20;

/**
 * Parses `multipart/form-data` (RFC 7578) with the runtime's parser.
 * @throws RequestProblem `malformed`, with a message that begins with `what`
 */
export async function readMultipart(
  body: string | Buffer<ArrayBuffer>,
  contentType: string,
  what: string,
): Promise<FormData> {
  const refuse = (fault: string) => malformed(`${what} ${fault}`);
  if (hasMoreParts(body, contentType)) throw refuse(`has more than ${mostParts} parts.`);
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw refuse('is not well formed.');
  }
}

/** Counts boundary lines; the last one closes the last part. */
function hasMoreParts(body: string | Buffer, contentType: string): boolean {
  const [, quoted, plain] = /boundary=(?:"([^";]*)"|([^;]*))/.exec(contentType) ?? [];
  const line = `--${quoted ?? plain ?? ''}`;
  let found = 0;
  for (
    let at = body.indexOf(line);
    at !== -1 && found <= mostParts + 1;
    at = body.indexOf(line, at + line.length)
  )
    found += 1;
  return found > mostParts + 1;
}
