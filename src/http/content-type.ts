/** The runtime joins repeated headers with commas. A comma inside quotes, or not followed by a media type, is part of a parameter. */
const eachHeader = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",]|,(?!\s*[\w.+-]+\/))+/g;

/** Returns the last content type that matches `read`, or else the last one, because some libraries add their own to their caller's. */
export function contentTypeOf(headers: Headers, read: RegExp): string {
  const joined = headers.get('content-type') ?? '';
  if (!joined.includes(',')) return joined;
  const given = (joined.match(eachHeader) ?? []).map((each) => each.trim());
  return given.findLast((each) => read.test(each)) ?? given.at(-1) ?? '';
}
