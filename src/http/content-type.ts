/** The runtime joins headers by commas; one in quotes, or that no media type follows, belongs to a parameter. */
const eachHeader = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",]|,(?!\s*[\w.+-]+\/))+/g;

/** Where a library sets `Content-Type` and its caller sets another: the last one that is `read`, or the last when none is. */
export function contentTypeOf(headers: Headers, read: RegExp): string {
  const joined = headers.get('content-type') ?? '';
  if (!joined.includes(',')) return joined;
  const given = (joined.match(eachHeader) ?? []).map((each) => each.trim());
  return given.findLast((each) => read.test(each)) ?? given.at(-1) ?? '';
}
